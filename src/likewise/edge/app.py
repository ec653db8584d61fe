"""A broker at the edge, put together: profile `small`, kinds it does not serve decided above, and its uplink."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from likewise.broker.broker import Broker
from likewise.broker.config import Config
from likewise.broker.log.positions import read_positions
from likewise.broker.log.tables import StoreTables
from likewise.broker.telemetry.event_trace import EventTrace
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import TENANT
from likewise.edge.bounds import Bounds
from likewise.edge.mqtt_uplink import MqttUplink
from likewise.edge.outbox import FOLLOWER
from likewise.edge.uplink import Uplink
from likewise.matching.matcher import system_clock
from likewise.matching.registry import KINDS, PROFILES
from likewise.model import Kind

RECENT_BYTES = 2 * 2**20  # of deliveries kept in memory
CACHE_BYTES = 2**20  # of pages that each connection to the store may keep
ELSEWHERE = frozenset(KINDS) - frozenset(PROFILES["small"])  # kinds of subscriptions that are decided above


def make_edge_broker(
    data: Path | None,
    config: Config | None = None,
    *,
    clock: Callable[[], int] = system_clock,
    trace: EventTrace | None = None,
    elsewhere: frozenset[Kind] = ELSEWHERE,
) -> Broker:
    """Return a broker in profile `small`; its hub evaluates the kinds of subscriptions of `elsewhere`."""
    config = config or Config()
    matching = msgspec.structs.replace(config.matching, profile="small")
    config = msgspec.structs.replace(config, matching=matching)
    return Broker(
        data,
        config,
        clock=clock,
        trace=trace,
        elsewhere=elsewhere,
        store_cache=CACHE_BYTES,
        needed_from=_first_unprocessed,
    )


def _first_unprocessed(tables: StoreTables, tenant: Tenant) -> int | None:
    """Return the first entry that the outbox has not processed; retention must keep it until then."""
    return read_positions(tables, FOLLOWER).get(tenant.number, 0) + 1 if tenant.name == TENANT else None


def attach_mqtt_uplink(
    broker: Broker, id: str, url: str, *, password: str | None = None, bounds: Bounds | None = None
) -> MqttUplink:
    """Return the uplink of an edge's broker to a broker of MQTT."""
    broker.tenant(TENANT).recent_limit = RECENT_BYTES
    return MqttUplink(broker, id, url, password=password, bounds=bounds)


def attach_uplink(
    broker: Broker, id: str, addresses: Sequence[str], *, token: str | None = None, bounds: Bounds | None = None
) -> Uplink:
    """Return the uplink of a broker that `make_edge_broker` made; its `run` stands beside the broker's other server."""
    broker.tenant(TENANT).recent_limit = RECENT_BYTES
    return Uplink(broker, id, addresses, token=token, bounds=bounds)
