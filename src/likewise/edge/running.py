"""A broker at the edge, put together: profile `small`, kinds it does not serve decided above, and its uplink."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from likewise.broker.broker import Broker
from likewise.broker.config import Config
from likewise.broker.reporting.event_trace import EventTrace
from likewise.defaults import TENANT
from likewise.edge.bounds import Bounds
from likewise.edge.uplink import Uplink
from likewise.matching.engines import KINDS, PROFILES
from likewise.matching.matcher import system_clock

ARENAS = -8  # M_ARENA_MAX of mallopt(3)
RECENT_BYTES = 4 * 2**20  # of deliveries kept in memory
ELSEWHERE = frozenset(KINDS) - frozenset(PROFILES["small"])  # kinds of subscriptions that are decided above


def edge_broker(
    data: Path | None,
    config: Config | None = None,
    *,
    clock: Callable[[], int] = system_clock,
    trace: EventTrace | None = None,
) -> Broker:
    """A broker in profile `small` that takes every kind of subscription; those it does not serve are decided above."""
    config = config or Config()
    matching = msgspec.structs.replace(config.matching, profile="small")
    return Broker(
        data, msgspec.structs.replace(config, matching=matching), clock=clock, trace=trace, elsewhere=ELSEWHERE
    )  # fmt: skip


def spare_memory() -> None:
    """Let the C library keep two heaps at most: by itself it keeps one for each thread, and gives little back."""
    with suppress(OSError, AttributeError):  # another C library than GNU's
        ctypes.CDLL(None).mallopt(ARENAS, 2)


def with_uplink(
    broker: Broker, id: str, addresses: Sequence[str], *, token: str | None = None, bounds: Bounds | None = None
) -> Uplink:
    """The uplink of a broker that `edge_broker` made; its `run` stands beside the broker's other connectors."""
    broker.tenant(TENANT).recent_limit = RECENT_BYTES
    return Uplink(broker, id, addresses, token=token, bounds=bounds)
