"""A share: a part of a tenant's subscriptions that stands in one place, or in several alike, and what makes it anew."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from likewise.broker.pool.messages import Hold, Know, Load, NewSubscription, Operation, Proxies
from likewise.broker.pool.processes.process import Host, Ticket
from likewise.model import Subscription

CHUNK: Final = 2_000  # subscriptions said at once
_SHARES: Final = itertools.count(1)


class Saved(NamedTuple):
    """Where a share was saved, and the subscriptions it had then; the folder may hold those of `others`, too."""

    folder: Path
    numbers: frozenset[int]
    others: bool = False


class Share:
    """A part of a tenant's subscriptions that is held in one place, or in several alike."""

    def __init__(self, tenant: int, *, remembers: bool = False) -> None:
        self.number = next(_SHARES)
        self.tenant = tenant
        self.remembers = remembers
        self.hosts: list[Host] = []
        self.joining: list[Host] = []  # are told of every change, and asked nothing yet
        self.learning: list[Host] = []  # ... of which these come to new subscriptions by themselves
        self.mirrors: list[Share] = []  # shares that take a part of it over, and live through what it does
        self.held: dict[int, NewSubscription] = {}
        self.begun = False  # whether it ever held anything: from then on it has to see every event
        self.known = Know("", [])
        self.saved: Saved | None = None  # with an index to be mapped, or a state
        self.journal: list[Ticket] = []
        self.moved = 0  # events in the journal
        self.saving: tuple[Ticket, int, Path] | None = None
        self.parent: Share | None = None  # in front of whose proxy it stands behind
        self.roots: dict[int, list[Subscription]] = {}  # in front of each share behind a proxy, by its number

    @property
    def owners(self) -> dict[int, int]:
        """The owners of what it holds, by number."""
        return {number: each.owner for number, each in self.held.items()}

    def proxies(self) -> Proxies:
        """What stands in it for shares elsewhere."""
        return Proxies([(number, root) for number, roots in self.roots.items() for root in roots])

    def told(self) -> Iterator[Operation]:
        """What makes an empty share this one, but for its journal."""
        there: frozenset[int] = frozenset()
        if self.saved is not None and not (self.remembers or self.saved.folder.exists()):
            self.saved = None  # somebody removed it; subscriptions are known here, too
        if self.saved is not None:
            there, kept = self.saved.numbers, None
            if self.saved.others or not (self.remembers or there <= self.held.keys()):
                kept = sorted(there if self.remembers else there & self.held.keys())
            yield Load(str(self.saved.folder), self.owners, kept)
        yield self.known
        if self.remembers:
            return
        new = [each for number, each in self.held.items() if number not in there]
        for first in range(0, len(new), CHUNK):
            yield Hold(new[first : first + CHUNK])
