"""What runs the normaliser beside a server, with what it publishes: common names, and Home Assistant's discovery."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial

from likewise.broker.config import Config
from likewise.errors import InputError
from likewise.matching.common_names.table import CommonNames, read_names
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker_urls import bridge_address
from likewise.server.mqtt.home_assistant import HomeAssistantOutput
from likewise.server.mqtt.normalizer import CommonNameOutput, Normalizer, Output, as_bridge, check_topic


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
    gateway.connections.append((config.normalize.tenant, normalizer.state.shown))
    await normalizer.run()
