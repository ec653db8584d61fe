"""Workers in a tree (CUPUS, sections 4.1.2 and 4.2): a root matcher, children behind proxies, children of children.

A worker that splits gives the heaviest part of what it holds to a new child, and keeps a proxy: the roots that cover
all of it. An event that meets none of them is never sent there. Every message goes through the coordinator, as in the
source; what they are called there is what `said` names. Only a leaf merges, into its parent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Literal, NamedTuple

import structlog

from likewise.broker.pool.autoscaler import FlatStaff
from likewise.broker.pool.co_location import upper_half
from likewise.broker.pool.messages import EventSent, LetGo, Plan, Planned
from likewise.broker.pool.migration import Halve, Move
from likewise.broker.pool.pool import Crew
from likewise.broker.pool.processes.process import Ticket, WorkerProcess
from likewise.broker.pool.scaling_policy import Measured
from likewise.broker.pool.shard import Share
from likewise.broker.pool.sharded_matcher import SpreadMatcher
from likewise.broker.tenants.tenant import Tenant

_log = structlog.get_logger("likewise.workers")


class Said(NamedTuple):
    """A message of the source, from one worker to another (0 is the coordinator)."""

    message: Literal["LeafMatcher", "MatcherMerging", "MatcherRemoved"]
    by: int
    to: int
    leaf: bool | None = None


class Graft:
    """The heaviest part of a share goes behind a proxy, to a child.

    The child is told everything and finds the part itself, while its parent serves; then it lets go of the rest.
    """

    def __init__(
        self, crew: Crew, spread: SpreadMatcher, share: Share, child: WorkerProcess, sample: list[EventSent]
    ) -> None:
        self._crew = crew
        self._spread = spread
        self._share = share
        self._part = part = Share(share.tenant)
        part.held = {number: each for number, each in share.held.items() if each.subscription.kind == "exact"}
        part.known = share.known
        share.mirrors.append(part)
        crew.place(part, [child])
        self._plan = crew.ask(part, Plan(sample))
        self._last: list[Ticket] | None = None

    def ready(self) -> bool:
        """Whether the child holds its part, and that alone."""
        if self._last is None:
            if not self._plan.answered:
                return False
            said, part = self._plan.said, self._part
            moving = set(said.numbers) if isinstance(said, Planned) else set()
            others = [number for number in part.held if number not in moving]
            for number in others:
                del part.held[number]
            self._last = self._crew.change(part, LetGo(others))
        return all(ticket.answered for ticket in self._last)

    def cut_over(self) -> None:
        """Let the child serve its part from here on, behind the parent's proxy."""
        share, part, said = self._share, self._part, self._plan.said
        share.mirrors.remove(part)
        if not part.held or not isinstance(said, Planned):
            self._crew.forget(part)
            return
        part.parent = share
        numbers = list(part.held)
        self._spread.takes_over(part)
        share.roots[part.number] = list(said.roots)
        self._crew.change(share, share.proxies())
        self._crew.let_go(share, numbers, slowly=True)


class TreeStaff(FlatStaff):
    """Workers in a tree, by their numbers; the first one is the root and stays."""

    def __init__(self, crew: Crew, tenants: Mapping[int, Tenant]) -> None:
        super().__init__(crew, tenants, "hierarchical")
        self.parents: dict[int, int] = {}  # of every worker but the root
        self.said: deque[Said] = deque(maxlen=1_000)
        self._after: list[Said] = []

    @property
    def root(self) -> int:
        """The number of the root matcher."""
        return next(number for number in self.crew.workers if number not in self.parents)

    def is_leaf(self, number: int) -> bool:
        """Whether a worker has no children."""
        return number not in self.parents.values()

    def measured(self, since: float) -> list[Measured]:
        """What is known of each worker; only leaves below the root may go."""
        return [
            Measured(each.number, each.times, each.busy, each.number in self.parents and self.is_leaf(each.number))
            for each in super().measured(since)
        ]

    def split(self, number: int) -> bool:
        """Let a worker give the heaviest part of what it holds to a new child."""
        old, new = self.crew.workers[number], self.crew.start()
        self.splits += 1
        _log.info("a worker splits", worker=number, child=new.number)
        if self.is_leaf(number):  # it stops being one, and its parent is told once it has
            self._after.append(Said("LeafMatcher", number, self.parents.get(number, 0), leaf=False))
        self.parents[new.number] = number
        for spread in self._spreads():
            own = [share for share in spread.shares if old in share.hosts]
            if spread.remembers:
                self._share_states(spread, own, new)
                continue
            merged = [share for share in own if share.parent is not None and old in share.parent.hosts]
            if merged:  # what merged into it before goes out again, behind the same proxy
                self._steps.append(Move(self.crew, max(merged, key=lambda share: len(share.held)), new))
            elif own:
                heaviest = max(own, key=lambda share: len(share.held))
                if sum(each.subscription.kind == "exact" for each in heaviest.held.values()) > 1:
                    sample = list(self.crew.samples.get(heaviest.tenant, ()))
                    self._steps.append(Graft(self.crew, spread, heaviest, new, sample))
        return True

    def _share_states(self, spread: SpreadMatcher, own: list[Share], new: WorkerProcess) -> None:
        """Kinds with state stand beside each other, whatever the tree."""
        if len(own) > 1:
            self._steps += [Move(self.crew, share, new) for share in own[len(own) // 2 :]]
        elif own and (half := upper_half(list(own[0].held.values()))):
            self._steps.append(Halve(self.crew, spread, own[0], new, half))

    def merge(self, number: int) -> bool:
        """Let a leaf merge into its parent, which answers for it from then on."""
        if number not in self.parents or not self.is_leaf(number):
            return False
        old, parent = self.crew.workers[number], self.parents[number]
        self.merges += 1
        self._leaving = old
        _log.info("a worker merges", worker=number, parent=parent)
        self.said.append(Said("MatcherMerging", number, parent))
        self._move_away(old)
        return True

    def _move_away(self, old: WorkerProcess) -> bool:
        """Begin to move what a leaf holds to its parent; whether it holds anything."""
        parent = self.crew.workers[self.parents[old.number]]
        self._steps += [Move(self.crew, share, parent) for share in self._standing(old)]
        return bool(self._steps)

    def _done(self) -> None:
        """A split or merge is over: say so upwards."""
        self.said.extend(self._after)
        self._after = []

    def _left(self, number: int) -> None:
        """A worker is gone: its parent says so upwards, and whether it is a leaf again."""
        parent = self.parents.pop(number)
        above = self.parents.get(parent, 0)
        self.said.append(Said("MatcherRemoved", parent, above))
        if self.is_leaf(parent):
            self.said.append(Said("LeafMatcher", parent, above, leaf=True))
