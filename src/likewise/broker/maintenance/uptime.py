"""Record the uptime, so that an outage of the broker does not count as silence of sources.

`absent for` counts time in which something could have been heard. The moment is written down every second while there
are alerts; after a crash, or when the machine slept, what lies between it and now is told to every tenant's alerts
through the log, so that a replay does the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from likewise.broker.log.entries import Command, ResumeCommand
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import TICK_SECONDS

FILE: Final = "up"
TICK: Final = round(TICK_SECONDS * 1_000_000)
PAUSE: Final = 10 * TICK  # µs without a turn that are an outage; less is a busy machine


class UptimeRecorder:
    """Persists the last time the broker was up, and reports gaps to alerts as outages."""

    def __init__(self, data: Path | None, append: Callable[[Tenant, Command], None]) -> None:
        self._path = None if data is None else data / FILE
        self._append = append
        self._last = self._read()
        self._started: int | None = None

    def tick(self, tenants: Iterable[Tenant], now: int) -> None:
        """Persist the time; report a gap since the last call as an outage."""
        watching = [tenant for tenant in tenants if len(tenant.alerts)]
        first, self._started = self._started is None, now if self._started is None else self._started
        if not watching:
            self._last = now
            return
        if self._last is not None and now - self._last > (TICK if first else PAUSE):  # a start is no busy machine
            self._append_outage(watching, now - self._last)
        self._last = now
        if self._path is not None and self._path.parent.is_dir():
            building = self._path.with_suffix(".new")
            building.write_text(str(now), encoding="ascii")
            os.replace(building, self._path)

    def mark_listening(self, tenants: Iterable[Tenant], now: int) -> None:
        """Report the time from the start until now as an outage: events can arrive only from now on."""
        if self._started is not None and now - self._started > TICK:
            self._append_outage([tenant for tenant in tenants if len(tenant.alerts)], now - self._started)

    def _append_outage(self, watching: Iterable[Tenant], outage: int) -> None:
        for tenant in watching:
            self._append(tenant, ResumeCommand(outage))

    def _read(self) -> int | None:
        if self._path is None or not self._path.is_file():
            return None
        text = self._path.read_text(encoding="ascii", errors="replace")
        return int(text) if text.isdecimal() else None
