"""A host comes to know a share while it, or another, goes on answering.

One that answers for nothing yet is told everything at once. One that does is told a few subscriptions at a time, each
time it has answered, so that events do not wait behind thousands of them. In the end it matches a few events that were
matched before, for nobody: so it has loaded what it needs by the time it is asked in earnest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from likewise.broker.pool.messages import Drop, EventSent, Hold, Operation, Rehearse
from likewise.broker.pool.processes.process import Host, Ticket
from likewise.broker.pool.shard import CHUNK, Share

FEW: Final = 100  # subscriptions that a host which has else to do is told at once
SAMPLE: Final = 64  # of the newest events of a tenant that are kept, to measure and to rehearse by


class Furnisher(Protocol):
    """Who knows hosts and shares, and which events came last."""

    shares: dict[int, Share]
    samples: dict[int, deque[EventSent]]

    def furnish(self, share: Share, host: Host, asked: Iterable[int] | None = None) -> Ticket:
        """Tell a host everything about a share at once."""
        ...

    def current(self, host: Host) -> Host | None:
        """A host, or whoever came in its place when it died; None if nobody did."""
        ...


class Furnishing:
    """Tells a host about a share, which it does not serve yet; `done` once it could."""

    def __init__(self, crew: Furnisher, share: Share, host: Host) -> None:
        self._crew = crew
        self._share = share
        self._host = host
        self._matched = host.matched
        serves = any(host in other.hosts for other in crew.shares.values() if other is not share)
        self._rest: Iterator[Operation] = iter(())
        if serves and not share.remembers and share.saved is None:  # with a state, order would be lost
            share.learning.append(host)  # so what comes meanwhile is said in its order, among the others
            self._rest = self._little_by_little()
            self._last = self._say(Drop())
        else:
            crew.furnish(share, host)
            self._last = self._say(self._rehearsal())

    def done(self) -> bool:
        """Go on; whether the host knows everything. To be called often."""
        while self._last.answered:
            if self._crew.current(self._host) is not self._host:
                if self._host in self._share.learning:
                    self._share.learning.remove(self._host)
                return True  # it died, and who came in its place was told at once
            wanted = next(self._rest, None)
            if wanted is None:
                return True
            self._last = self._say(wanted)
        return False

    def _say(self, wanted: Operation) -> Ticket:
        ticket = Ticket(self._share.tenant, self._share.number, wanted)
        self._host.submit(ticket)
        return ticket

    def _little_by_little(self) -> Iterator[Operation]:
        share = self._share
        yield share.known
        last = 0
        while left := sorted(number for number in share.held if number > last):
            while left:
                idle, self._matched = self._host.matched == self._matched, self._host.matched
                few = CHUNK if idle else FEW
                part, left = left[:few], left[few:]
                yield Hold([share.held[number] for number in part if number in share.held])  # unless it went
                last = part[-1]
        share.learning.remove(self._host)
        if share.roots:
            yield share.proxies()
        yield self._rehearsal()

    def _rehearsal(self) -> Rehearse:
        """Of what remembers there is none: it lives through what happens meanwhile."""
        return Rehearse([] if self._share.remembers else list(self._crew.samples.get(self._share.tenant, ())))
