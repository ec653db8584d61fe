"""All bridges of a broker: checked before it starts, run beside its server, counted in its metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.broker.config import Bridge as BridgeConfig
from likewise.errors import InputError
from likewise.server.gateway import Door
from likewise.server.mqtt.addresses import parted, session_of, shown
from likewise.server.mqtt.bridge import Bridge, BridgeState, check
from likewise.server.mqtt.source_upgrade import rename_former_sources_aside

_COUNTED: Final = {
    "received": "Messages received over a bridge",
    "stored": "Events of a bridge on disk",
    "passed_over": "Messages of a bridge that are no readings",
    "refused": "Messages of a bridge that became dead letters",
    "lost": "Messages of QoS 0 for which a bridge had no room",
    "connections": "Connections of a bridge",
    "gaps": "Times a bridge's session was forgotten",
    "unannounced": "Metrics of Sparkplug B whose alias no BIRTH had announced",
}


class _Counters(Collector):
    """What the bridges count, read when the page is."""

    def __init__(self, states: Sequence[BridgeState]) -> None:
        self._states = states

    def collect(self) -> Iterator[Metric]:
        """The counters, by the bridge's address."""
        up = GaugeMetricFamily("likewise_mqtt_bridge_connected", "Whether a bridge is connected", labels=["url"])
        for state in self._states:
            up.add_metric([state.url], float(state.connected))
        yield up
        for name, words in _COUNTED.items():
            family = CounterMetricFamily(f"likewise_mqtt_bridge_{name}", words, labels=["url"])
            for state in self._states:
                family.add_metric([state.url], float(getattr(state, name)))
            yield family


def bridges(configs: Sequence[BridgeConfig], data: Path | None) -> list[partial[Coroutine[object, object, None]]]:
    """What runs the bridges beside a server, if there are any; bad ones are refused at once."""
    for config in configs:
        check(config, data)
    sessions = [(parted(config.url)[1:3], session_of(config, data).client_id) for config in configs]
    for config, session in zip(configs, sessions, strict=True):
        if sessions.count(session) > 1:
            raise InputError(f"the bridge {shown(config.url)} stands twice; each would end the other's connection")
    return [partial(_run, configs=configs, data=data)] if configs else []


async def _run(door: Door, *, configs: Sequence[BridgeConfig], data: Path | None) -> None:
    await rename_former_sources_aside(door.broker)
    every = [Bridge(door, config, data) for config in configs]
    for each, config in zip(every, configs, strict=True):
        door.connections.append((config.tenant, each.state.shown))
    door.broker.metrics.registry.register(_Counters([each.state for each in every]))
    await asyncio.gather(*(each.run() for each in every))
