"""The SQL schema of the store, `schema.sql`, and its version.

| table | what a row is |
|---|---|
| state | one number the broker goes on from: the last commit, position and arrival; how MQTT sources are named |
| tenants | who shares this broker; `windows_from` is where replaying the log into windows starts |
| log | an event or a command, in the order of arrival |
| followers | up to which position a follower of the log has dealt with a tenant's entries |
| subscribers | a registered subscriber, its queue's policy, and up to where it acknowledged |
| subscriptions | a subscription; its number is the position of the entry that made it |
| deliveries | one event for a set of recipients; its number is the sequence number they see |
| judgements | feedback, in order |
| targets | where matches of a subscription go out by themselves, and up to where they were accepted |
| catalogue | what a source announced, what a person corrected, a source kept awake, or a source's name of before |
| dead_letters | what could not be read or delivered; `media_type` is what its sender called bytes |
| tokens | who may do what until when, by the token's hash |
| messages | what a device published over MQTT, beside the event at its position |
| retained | the position of a topic's newest retained message |
| topics | a subscription to topics that is acknowledged; its number is the position of the entry that made it |
| sessions | a session of MQTT that outlives its connection, and what it asked for |
| in_flight | a packet of a session that awaits an acknowledgement, or was settled before those in front of it |
| received | a packet id of QoS 2 that a session's client has not released |
| hops | over which brokers an event came here |
| edges | a broker at the edge, and up to where its events are stored here |
| outbox | an entry that goes to the broker above |
| uplink | what is remembered of the broker above, by name |

SQLite keeps no checksums of its pages, so every row carries its own, over every column
(`likewise.broker.log.checksums`); what a body says too (an event's id and source, a subscription's id) is compared
with it. What often changes has its own `guard`: its bits turned over. So a withdrawn entry's checksum is one higher,
that of an ended subscription higher by its end and one, that of a dead letter by its number.
A change of the tables takes a new version, a step in `likewise.broker.log.migrations`, and a folder of the version
before among the tests' fixtures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

VERSION: Final = 9
OLDEST: Final = 2  # the version that migrations start from
APPLICATION: Final = 0x4C696B65  # "Like": says whose file this is

SCHEMA: Final = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
