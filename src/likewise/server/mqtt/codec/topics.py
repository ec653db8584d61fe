"""Check topic names and topic filters (MQTT 5.0, sections 4.7 and 4.8)."""

from __future__ import annotations

from typing import Final

from likewise.errors import InvalidSubscription, PacketError
from likewise.model.hierarchies.topic_filters import check_filter
from likewise.server.mqtt.codec.reasons import Reason

SHARED: Final = "$share/"


def check_topic(topic: str) -> None:
    """Refuse an invalid topic name; its encoding was checked when it was read.

    >>> check_topic("home/+/temperature")
    Traceback (most recent call last):
    likewise.errors.PacketError: the topic 'home/+/temperature' is empty or has a wildcard (reason code 0x90); ...
    """
    if not topic or "+" in topic or "#" in topic:
        raise PacketError(f"the topic {topic[:60]!r} is empty or has a wildcard", reason=Reason.TOPIC_NAME_INVALID)


def check_topic_filter(topic_filter: str) -> None:
    """Refuse an invalid topic filter, shared ones included: `$share/GROUP/FILTER`.

    >>> check_topic_filter("$share/readers/home/+/#")
    >>> check_topic_filter("$share/readers")
    Traceback (most recent call last):
    likewise.errors.PacketError: the filter '$share/readers' names no group or nothing that it shares (reason ...
    """
    if topic_filter.startswith(SHARED):
        group, _, shared = topic_filter[len(SHARED) :].partition("/")
        if not group or not shared or "+" in group or "#" in group:
            _refuse(f"the filter {topic_filter[:60]!r} names no group or nothing that it shares")
        topic_filter = shared
    if not topic_filter:
        _refuse("a filter of topics is empty")
    if "#" in topic_filter or "+" in topic_filter:
        try:
            check_filter(topic_filter)
        except InvalidSubscription as error:
            _refuse(str(error))


def _refuse(problem: str) -> None:
    raise PacketError(problem, reason=Reason.TOPIC_FILTER_INVALID)
