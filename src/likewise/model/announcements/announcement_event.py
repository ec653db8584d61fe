"""Announcements as events: what became of a source, for whoever subscribes to that by meaning."""

from __future__ import annotations

from typing import Literal

from likewise.model.announcements.announcement import SPEAKER, Announcement
from likewise.model.event import Event
from likewise.model.flatten import event

Said = Literal["announcement", "revocation", "sense on", "sense off"]


def announcement_event(announcement: Announcement, id: str | None = None) -> Event:
    """The event that says what a source can produce.

    >>> from likewise.model.announcements.announcement import AnnouncedAttribute
    >>> said = announcement_event(Announcement("sensor-17", (AnnouncedAttribute("temp", "degC"),), place="room 112"))
    >>> [(t.attribute, t.value) for t in said.tuples][:4]
    [('type', 'announcement'), ('device', 'sensor-17'), ('place', 'room 112'), ('announced[].name', 'temp')]
    """
    payload: dict[str, object] = {"type": "announcement", "device": announcement.source}
    for name in ("model", "place", "battery", "controllable"):
        if value := getattr(announcement, name):
            payload[name] = value
    payload["announced"] = [
        {"name": each.name, **({"unit": each.unit} if each.unit else {})} for each in announcement.attributes
    ]
    return event(payload, id=id, source=SPEAKER, themes=announcement.themes)


def source_event(said: Said, source: str, reason: str = "", interval: float | None = None) -> Event:
    """The event that says what else became of a source: that it is gone, was woken or may rest.

    >>> [(t.attribute, t.value) for t in source_event("sense on", "sensor-17", interval=60).tuples]
    [('type', 'sense on'), ('device', 'sensor-17'), ('interval', 60)]
    """
    payload: dict[str, object] = {"type": said, "device": source}
    if reason:
        payload["reason"] = reason
    if interval is not None:
        payload["interval"] = interval
    return event(payload, source=SPEAKER)
