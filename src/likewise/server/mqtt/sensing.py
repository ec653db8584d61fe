"""What sources are told, passed on to a broker of the user's: they hear it there as if they were connected here.

A bridge that reads `likewise/announcements/` tells, too: every word is published to `likewise/sense/SOURCE` with QoS 1,
retained, and an empty one when a source is told nothing any more. After a lost connection all of it is said again,
since that broker may have forgotten it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import structlog

from likewise.broker.catalogue.sensing_commands import ANNOUNCEMENTS, nothing_told, sense_message
from likewise.broker.log.mqtt.messages import Kept
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import BRIDGE_RETRY_SECONDS
from likewise.errors import Unavailable
from likewise.model.hierarchies.topic_filters import filter_matches
from likewise.server.gateway import Door
from likewise.server.mqtt.client import Address
from likewise.server.mqtt.messages import Message
from likewise.server.mqtt.outgoing import SendingLine
from likewise.server.mqtt.publisher import connected_line, publish_over

_log = structlog.get_logger("likewise.mqtt")


def tells(topics: tuple[str, ...]) -> bool:
    """Whether a bridge with these filters hears announcements, and so tells.

    >>> tells(("#",)), tells(("$share/us/likewise/announcements/+",)), tells(("zigbee2mqtt/#",))
    (True, True, False)
    """
    plain = (each.split("/", 2)[2] if each.startswith("$share/") else each for each in topics)
    return any(filter_matches(each, f"{ANNOUNCEMENTS}x") for each in plain)


class Telling:
    """Passes on what a tenant's sources are told; `run` goes on until it is cancelled."""

    def __init__(self, door: Door, tenant: Tenant, address: Address, client_id: str, shown: str) -> None:
        self._activation = door.broker.activation
        self._tenant = tenant
        self._address, self._client_id, self._shown = address, client_id, shown
        self._said: dict[str, int] = {}  # the version of what each source was told there

    async def run(self) -> None:
        """Tell what is new, whenever there is something; try again while that broker does not answer."""
        loop, something = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody is there to be told
                loop.call_soon_threadsafe(something.set)

        self._activation.listeners.append(wake)
        something.set()
        line: SendingLine | None = None
        troubled = False
        try:
            while True:
                await something.wait()
                something.clear()
                try:
                    told, line = line, await self._tell(line)
                    if line is not None and line is not told:
                        line.lost.add_done_callback(lambda _: something.set())
                    troubled = False
                except Unavailable as error:
                    if not troubled:
                        _log.warning("sources cannot be told over the bridge; trying again", error=str(error))
                    troubled = True
                    if line is not None:
                        await line.close()
                    line = None
                    await asyncio.sleep(BRIDGE_RETRY_SECONDS)
                    something.set()
        finally:
            self._activation.listeners.remove(wake)
            if line is not None:
                await line.close()

    async def _tell(self, line: SendingLine | None) -> SendingLine | None:
        """Publish what is new there; the connection, if one was needed."""
        if line is not None and line.lost.done():
            line = None
        if line is None:
            self._said.clear()
        told = self._activation.told(self._tenant)
        new: list[Kept] = [sense_message(each) for each in told.values() if self._said.get(each.source) != each.version]
        new += [nothing_told(source) for source in self._said.keys() - told.keys()]
        if not new:
            return line
        if line is None:
            line = await connected_line(self._address, self._client_id, self._shown)
        await publish_over(line, [Message(each.topic, each.payload, qos=1, retain=True) for each in new], self._shown)
        self._said = {source: each.version for source, each in told.items()}
        return line
