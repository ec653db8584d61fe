"""Splitting and merging: how a share, or a half of one, comes to stand elsewhere while it goes on being used.

Each step begins while the old place serves everything: the new one is told what it is to hold, with the saved state and
what moved it since. Whatever happens meanwhile is said to both. When the new place has caught up, it takes over between
two stretches: everything before was answered by the old one, everything after is by the new one.
"""

from __future__ import annotations

from typing import Protocol

from likewise.broker.pool.messages import Drop, Hold, Operation
from likewise.broker.pool.pool import Crew
from likewise.broker.pool.processes.process import Host, Ticket
from likewise.broker.pool.shard import Saved, Share
from likewise.broker.pool.sharded_matcher import SpreadMatcher
from likewise.broker.pool.warm_up import Furnishing


class Step(Protocol):
    """A part of a split or a merge."""

    def ready(self) -> bool:
        """Go on; whether the new place has caught up."""
        ...

    def cut_over(self) -> None:
        """Let the new place serve from here on. Nothing is under way then."""
        ...


class _Saving:
    """Sees to it that a share with state is saved, newly, before it moves."""

    def __init__(self, crew: Crew, share: Share) -> None:
        self._crew = crew
        self._share = share
        self._before = share.saved

    def done(self) -> bool:
        """Whether there is a saved state from which, and from its journal, the share can be made."""
        share = self._share
        if not share.remembers or not (share.held or share.journal):
            return True
        if share.saving is not None:
            return False
        if share.saved is not self._before:
            return True
        self._crew.checkpoint(share)  # again, if the worker died over it
        return False


class Join:
    """A further host of a share without state: it is told everything, then asked, too."""

    def __init__(self, crew: Crew, share: Share, host: Host) -> None:
        self._share = share
        share.joining.append(host)
        self._told = crew.introduce(share, host)
        self._number = host.number

    def ready(self) -> bool:
        """Whether it knows everything."""
        return self._told.done()

    def cut_over(self) -> None:
        """Let it be asked."""
        host = next(each for each in self._share.joining if each.number == self._number)
        self._share.joining.remove(host)
        self._share.hosts.append(host)


class Move:
    """A share goes from the host it stands at to another."""

    def __init__(self, crew: Crew, share: Share, host: Host) -> None:
        self._crew = crew
        self._share = share
        self._number = host.number
        self._saving = _Saving(crew, share)
        self._told: Furnishing | None = None

    def ready(self) -> bool:
        """Whether the other host has caught up."""
        if self._told is None:
            if not self._saving.done():
                return False
            host = self._crew.workers[self._number]
            self._share.joining.append(host)
            self._told = self._crew.introduce(self._share, host)
        return self._told.done()

    def cut_over(self) -> None:
        """Let the other host serve it, and the old one forget it."""
        share = self._share
        new = next(each for each in share.joining if each.number == self._number)
        share.joining.remove(new)
        for host in share.hosts:
            if host is not new:
                host.submit(Ticket(share.tenant, share.number, Drop()))
        share.hosts = [new]


class Halve:
    """The upper half of a share becomes a share of its own at another host."""

    def __init__(self, crew: Crew, spread: SpreadMatcher, share: Share, host: Host, numbers: list[int]) -> None:
        self._crew = crew
        self._spread = spread
        self._share = share
        self._number = host.number
        self._numbers = numbers
        self._saving = _Saving(crew, share)
        self._half: Share | None = None
        self._told: Furnishing | None = None

    def ready(self) -> bool:
        """Whether the new share has caught up."""
        if self._half is None:
            if not self._saving.done():
                return False
            self._begin()
        assert self._told is not None
        return self._told.done()

    def _begin(self) -> None:
        share, half = self._share, Share(self._share.tenant, remembers=self._share.remembers)
        half.held = {number: share.held[number] for number in self._numbers if number in share.held}
        half.known = share.known
        if share.remembers and share.saved is not None:
            share.saved = share.saved._replace(others=True)
            half.saved = Saved(share.saved.folder, frozenset(half.held) & share.saved.numbers, others=True)
        if share.remembers:
            half.journal = [Ticket(half.tenant, half.number, _own(ticket.wanted, half)) for ticket in share.journal]
            half.moved = share.moved
        share.mirrors.append(half)
        host = self._crew.workers[self._number]
        self._crew.enter(half, [host])
        self._told = self._crew.introduce(half, host)
        self._half = half

    def cut_over(self) -> None:
        """Let the new share serve its half, and the old one let go of it."""
        assert self._half is not None
        share, half = self._share, self._half
        share.mirrors.remove(half)
        numbers = list(half.held)
        self._spread.takes_over(half)
        self._crew.let_go(share, numbers, slowly=True)


def _own(wanted: Operation, half: Share) -> Operation:
    """What a share did, as far as it concerns a half of it."""
    return Hold([each for each in wanted.held if each.number in half.held]) if isinstance(wanted, Hold) else wanted
