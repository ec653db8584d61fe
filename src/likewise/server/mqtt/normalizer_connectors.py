"""What runs the normaliser beside a server, with what it publishes: common names, and Home Assistant's discovery."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.broker.config import Config
from likewise.errors import InputError
from likewise.matching.common_names.table import CommonNames, read_names
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker_urls import bridge_address
from likewise.server.mqtt.home_assistant import HomeAssistantOutput
from likewise.server.mqtt.normalizer import (
    CommonNameOutput,
    Normalizer,
    NormalizerState,
    Output,
    as_bridge,
    check_topic,
)


def normalizer_connectors(config: Config) -> list[partial[Coroutine[object, object, None]]]:
    """Return what runs the normaliser beside a server, if there is one; refuse invalid settings at once."""
    settings = config.normalize
    if settings.to is None:
        return []
    if config.matching.profile == "small":
        raise InputError("the profile `small` reads no names; a normaliser needs `full`")
    check_topic(settings.to)
    bridge_address(as_bridge(settings))
    return [partial(_run_normalizer, config=config, names=read_names(settings.names))]


_COUNTED: Final = {
    "received": "Events that a normaliser looked at",
    "stored": "Messages of readings that a normaliser published",
    "passed_over": "Readings that a normaliser was not certain of",
    "refused": "Messages of a normaliser that the other broker does not take",
}


class NormalizerCounters(Collector):
    """The counters of a normaliser, read at each scrape."""

    def __init__(self, state: NormalizerState) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        """Yield the counters, and whether it is connected."""
        state, labels = self._state, ["url"]
        up = GaugeMetricFamily("likewise_mqtt_normalizer_connected", "Whether a normaliser is connected", labels=labels)
        up.add_metric([state.url], float(state.connected))
        yield up
        for name, words in _COUNTED.items():
            family = CounterMetricFamily(f"likewise_mqtt_normalizer_{name}", words, labels=labels)
            family.add_metric([state.url], float(getattr(state, name)))
            yield family


async def _run_normalizer(gateway: Gateway, *, config: Config, names: CommonNames) -> None:
    tenant = gateway.broker.tenant(config.normalize.tenant)
    common = CommonNameOutput(config.normalize, lambda source: tenant.sources.identities.labels.get(source, ""))

    def outputs(normalizer: Normalizer) -> list[Output]:
        if not config.home_assistant.publish:
            return [common]
        normalizer.known.remember_payloads()
        topic_of = common.topic_of if config.normalize.format == "json" else lambda each: ""
        made = HomeAssistantOutput(config.home_assistant, tenant, normalizer.known, normalizer.normaliser, topic_of)
        return [common, made]

    normalizer = Normalizer(gateway, config, names, outputs)
    gateway.broker.metrics.registry.register(NormalizerCounters(normalizer.state))
    gateway.connections.append((config.normalize.tenant, normalizer.state.shown))
    await normalizer.run()
