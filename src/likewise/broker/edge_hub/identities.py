"""Subscriber names of edges, and ids of the subscriptions that edges bring.

`h17@roof` is the subscription that the edge `roof` knows by the number 17, and that is decided above; `e17@roof` one
that it decides itself about its own events. `e17@cellar,roof` came over `roof` from the edge `cellar` below it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from likewise.broker.tenants.queues import EDGE
from likewise.errors import InputError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ID: Final = re.compile(r"([eh])(\d{1,18})@([A-Za-z0-9._,-]{1,1000})")


def checked_edge(id: str) -> str:
    """Check and return the name of an edge.

    >>> checked_edge("roof-3")
    'roof-3'
    >>> checked_edge("a,b")
    Traceback (most recent call last):
    likewise.errors.InputError: an edge has a name of up to 100 letters, digits, '.', '_' and '-', not 'a,b'
    """
    if _NAME.fullmatch(id) is None:
        raise InputError(f"an edge has a name of up to 100 letters, digits, '.', '_' and '-', not {id[:60]!r}")
    return id


def subscriber_of(edge: str) -> str:
    """Return the subscriber that stands for an edge."""
    return EDGE + edge


class EdgeSubscription(NamedTuple):
    """The id of an edge's subscription, parsed."""

    above: bool  # whether it is decided above
    number: int
    path: tuple[str, ...]  # the edges that it came over, the last one first hand

    def __str__(self) -> str:
        return f"{'h' if self.above else 'e'}{self.number}@{','.join(self.path)}"


def read_name(id: str) -> EdgeSubscription | None:
    """Parse the id of an edge's subscription; None if it is another's.

    >>> read_name("h17@cellar,roof")
    EdgeSubscription(above=True, number=17, path=('cellar', 'roof'))
    >>> str(read_name("e2@roof")), read_name("warm")
    ('e2@roof', None)
    """
    match = _ID.fullmatch(id)
    return None if match is None else EdgeSubscription(match[1] == "h", int(match[2]), tuple(match[3].split(",")))
