"""One near miss, and which reading its explanation should name."""

from __future__ import annotations

from typing import NamedTuple

from likewise.model import Event


class NearMiss(NamedTuple):
    """A subscription's text, an event that does not meet it, and the attributes that say what it asks about."""

    name: str
    text: str
    event: Event
    right: frozenset[str]
