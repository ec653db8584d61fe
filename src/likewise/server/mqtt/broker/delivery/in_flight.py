"""Store the in-flight packets of persistent sessions.

With QoS 1 a packet may be sent first: if its row is lost, it is sent again. With QoS 2 the row comes first, or a client
would take a repetition under another packet id for another message. Rows are written together, one commit for many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from likewise.broker.broker import Broker
from likewise.broker.log.mqtt.messages import release
from likewise.broker.log.mqtt.sessions import InFlightRow, change_in_flight
from likewise.broker.log.tables import StoreTables
from likewise.defaults import MQTT_NOTE_SECONDS
from likewise.server.loop_bridge import LoopBridge
from likewise.server.mqtt.broker.delivery.session import SETTLED, InFlight

RETRY_SECONDS: Final = 1.0
_log = structlog.get_logger("likewise.mqtt")
FlightKey = tuple[int, int, int]
Callback = Callable[[], None]


class InFlightRows:
    """Gathers what changes until it is written. For the loop's thread."""

    def __init__(self, broker: Broker, bridge: LoopBridge) -> None:
        self._broker = broker
        self._bridge = bridge
        self._loop = asyncio.get_running_loop()
        self._new_rows: dict[InFlight, None] = {}  # sent, and perhaps acknowledged before they are written
        self._changed: dict[FlightKey, InFlightRow | None] = {}
        self._released: list[tuple[int, int]] = []
        self._then: list[Callback] = []
        self._timer: asyncio.TimerHandle | asyncio.Handle | None = None
        self._urgent = False

    def sent(self, flight: InFlight) -> None:
        """Record that a packet of QoS 1 was sent."""
        self._new_rows[flight] = None
        self._schedule()

    def write_first(self, flight: InFlight, then: Callback) -> None:
        """Write a packet's state down before what follows from it is done."""
        self._changed[flight.key] = flight.row()
        flight.written = True
        self._then.append(then)
        self._flush_soon()

    def settled(self, flight: InFlight, remember: bool) -> None:
        """Record that a packet is complete; with `remember` its row stays, because earlier ones are not."""
        self._new_rows.pop(flight, None)
        if remember:
            self._changed[flight.key] = InFlightRow(*flight.key, flight.outbox.tenant.number, 0, 0, SETTLED)
            flight.written = True
        elif flight.written:
            self._changed[flight.key] = None
        else:
            return
        self._schedule()

    def forget(self, keys: list[FlightKey]) -> None:
        """Rows are needed no longer."""
        self._changed.update(dict.fromkeys(keys))
        self._schedule()

    def released(self, session: int, packet: int, then: Callback) -> None:
        """Record a PUBREL; call `then` when that is on disk."""
        self._released.append((session, packet))
        self._then.append(then)
        self._flush_soon()

    def _schedule(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(MQTT_NOTE_SECONDS, self.flush)

    def _flush_soon(self) -> None:
        if not self._urgent:
            self._urgent = True
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Write what there is."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._urgent = None, False
        for flight in self._new_rows:
            if flight.packet in flight.session.flights:
                self._changed[flight.key] = flight.row()
                flight.written = True
        self._new_rows.clear()
        changed, self._changed = self._changed, {}
        released, self._released = self._released, []
        then, self._then = self._then, []
        if not (changed or released or then):
            return
        put = [row for row in changed.values() if row is not None]
        dropped = [key for key, row in changed.items() if row is None]

        def write(tables: StoreTables) -> None:
            change_in_flight(tables, put, dropped)
            release(tables, released)

        def written(result: object) -> None:
            if isinstance(result, BaseException):
                self._loop.call_later(RETRY_SECONDS, self._retry, changed, released, then, result)
                return
            for each in then:
                each()

        self._broker.store.write(write, lambda result: self._bridge.call(written, result))

    def _retry(
        self,
        changed: dict[FlightKey, InFlightRow | None],
        released: list[tuple[int, int]],
        then: list[Callback],
        error: object,
    ) -> None:
        _log.warning("mqtt_in_flight_write_failed", error=str(error))
        self._changed = changed | self._changed
        self._released = released + self._released
        self._then = then + self._then
        self._flush_soon()
