"""Upgrade of a store whose MQTT sources were named by the topic's last level: entries of the log rename them, once.

Which source a name of before became follows from the events of the log: each says its source and its topic. What came
over an edge is left to that edge, which knows its own topic maps, and goes on sending names of before until it is
upgraded, too.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

import structlog

from likewise.broker.broker import Broker
from likewise.broker.log.catalogue.naming import BY_PREFIX, name_by, naming, sources_and_topics
from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import RenameSourceCommand
from likewise.broker.tenants.tenant import Tenant
from likewise.server.mqtt.source_aliases import former_names
from likewise.server.mqtt.topic_maps import TopicMap, load_maps

_log = structlog.get_logger("likewise.mqtt")
_once = threading.Lock()


def rename_former_sources(broker: Broker) -> int:
    """Rename the sources of a store from before sources were named by prefix; how many names were given up.

    A store of a new release, and one that was upgraded, is left as it is. One that is stopped in the middle is done
    again: what was renamed before is not renamed twice.
    """
    with _once:
        with broker.store.reading() as tables:
            if naming(tables) >= BY_PREFIX:
                return 0
        config = broker.config.mqtt
        maps = [load_maps(names) for names in dict.fromkeys((config.maps, *(each.maps for each in config.bridge)))]
        count = sum(_rename(broker, tenant, maps) for tenant in list(broker.tenants.values()))
        broker.store.commit(lambda tables: name_by(tables, BY_PREFIX))
        if count:
            _log.info("mqtt_sources_renamed", names=count)
        return count


async def rename_former_sources_in_background(broker: Broker) -> None:
    """Do `rename_former_sources` without holding up the loop."""
    await asyncio.to_thread(rename_former_sources, broker)


def _rename(broker: Broker, tenant: Tenant, maps: list[TopicMap]) -> int:
    with broker.store.reading() as tables:
        became = _successors(sources_and_topics(tables, tenant.number), maps)
    for before, sources in became.items():
        command = RenameSourceCommand(before, tuple(sorted(sources)))
        wait_for(lambda done, command=command: broker.announcements.start_rename(tenant, command, done))  # type: ignore[misc]
    return len(became)


def _successors(known: Iterable[tuple[str, str]], maps: list[TopicMap]) -> dict[str, set[str]]:
    """Return the sources that names of before became, for those that are another now."""
    became: dict[str, set[str]] = {}
    for before, topic in set(known):
        became.setdefault(before, set()).add(_successor(before, topic, maps))
    return {before: sources for before, sources in became.items() if sources != {before}}


def _successor(before: str, topic: str, maps: list[TopicMap]) -> str:
    """Return the source of a topic now, if its name of before came from the topic; else the event said it itself."""
    if not topic:
        return before
    named = [each.find(topic) for each in maps]
    named = [each for each in named if before in former_names(topic, each)]
    return next((each.source for each in named if not each.generic), named[0].source if named else before)
