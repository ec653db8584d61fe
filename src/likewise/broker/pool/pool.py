"""The workers of a broker, and which share of a tenant's subscriptions stands at which of them.

A share without state may stand at several workers (replicated): each can answer for it. A share with state stands at
one. What a worker is told, another can be told again: subscriptions are known here, and of a share with state the last
saved state and everything that moved it since (`journal`). So a worker that dies is started again, told what it held,
and asked again what it had not answered (`failover`); what it had answered is not taken twice.

All of it belongs to the matching thread, except `submit`, which any thread may use to ask.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import structlog

from likewise.broker.pool.co_location import has_kin
from likewise.broker.pool.failover import Reviving
from likewise.broker.pool.messages import (
    Drop,
    EventSent,
    Failed,
    Hold,
    Know,
    LetGo,
    Load,
    MatchEach,
    NewSubscription,
    Operation,
    Said,
    Save,
    Told,
    Usage,
)
from likewise.broker.pool.processes.folders import Folders, remove_folder
from likewise.broker.pool.processes.process import Host, Ticket, WorkerProcess
from likewise.broker.pool.processes.watchdog import PATIENCE
from likewise.broker.pool.shard import Saved, Share
from likewise.broker.pool.standby import Spare
from likewise.broker.pool.warm_up import Furnishing
from likewise.errors import StateError, Unavailable

_log = structlog.get_logger("likewise.workers")
JOURNAL_EVENTS: Final = 20_000  # that moved a share with state since it was saved; then it is saved again


class Crew:
    """The workers; `told` says how they take words and time, `data` is the broker's folder, if it has one."""

    def __init__(self, told: Told, data: Path | None = None) -> None:
        self.told = told
        self.folders = Folders(data)
        self.workers: dict[int, WorkerProcess] = {}
        self.shares: dict[int, Share] = {}
        self.samples: dict[int, deque[EventSent]] = {}  # the newest events of each tenant
        self.spare = Spare(self.folders, told)
        self._furnishings: list[Furnishing] = []
        self.owner = threading.get_ident()  # the thread that may look after them
        self._numbers = itertools.count(1)
        self.reviving = Reviving(self)
        self._closed = False

    # -- workers --------------------------------------------------------------------------------

    def start(self) -> WorkerProcess:
        """A further worker, which holds nothing yet."""
        return self.employ(next(self._numbers))

    def employ(self, number: int) -> WorkerProcess:
        """A worker with a number, in place of one that had it, if one had."""
        worker = self.spare.take(number)
        if worker is None:
            worker = WorkerProcess(number, self.folders.for_socket())
            worker.submit(Ticket(0, 0, self.told))
        self.workers[number] = worker
        return worker

    def current(self, host: Host) -> Host | None:
        """A host, or whoever came in its place when it died; None if nobody did."""
        return self.workers.get(host.number) if isinstance(host, WorkerProcess) else host

    def end(self, worker: WorkerProcess) -> None:
        """Let a worker end, which holds nothing any more."""
        self.workers.pop(worker.number, None)
        threading.Thread(target=worker.end, name="likewise-worker-end", daemon=True).start()

    def close(self) -> None:
        """End all workers, and forget what was saved for them."""
        self._closed = True
        processes = self.processes()
        for process in processes:
            process.hang_up()
        for process in processes:
            process.end()
        self.folders.remove()

    def look_after(self) -> None:
        """Start dead workers again, and save what has a long journal. On the matching thread."""
        for worker in list(self.workers.values()):
            if not self._closed:
                self.reviving.look_at(worker)
        self._furnishings = [each for each in self._furnishings if not each.done()]
        if self.workers and not self._closed:
            if self.spare.due() and self._telling():
                self.spare.put_off()  # whoever is being told needs the processor more
            self.spare.look_after(self.shares.values(), self.samples)
        for share in list(self.shares.values()):
            if share.saving is not None:
                self._finish_saving(share)
            elif share.moved > JOURNAL_EVENTS:
                self.checkpoint(share)

    def _telling(self) -> bool:
        """Whether a worker is yet to take in what it is to hold."""
        return any(isinstance(each.wanted, Hold | Load) for w in self.workers.values() for each in w.pending())

    def furnish(self, share: Share, host: Host, asked: Iterable[int] | None = None) -> Ticket:
        """Tell a host everything about a share; the last thing it is told.

        Requests of the journal that are `asked` still wait for an answer; the others are repeated for what they do.
        """
        wanted = set(asked or ())
        if share.saving is not None and host in share.hosts:
            share.saving = None  # it is begun again when it is due
        last = Ticket(share.tenant, share.number, Drop())
        host.submit(last)
        for operation in share.told():
            last = Ticket(share.tenant, share.number, operation)
            host.submit(last)
        if share.roots:
            last = Ticket(share.tenant, share.number, share.proxies())
            host.submit(last)
        for ticket in list(share.journal):
            if ticket.id in wanted and not ticket.answered:
                host.submit(ticket)
            else:
                last = Ticket(share.tenant, share.number, ticket.wanted)
                host.submit(last)
        return last

    def introduce(self, share: Share, host: Host) -> Furnishing:
        """Let a host come to know a share that it is to serve, while everything goes on."""
        made = Furnishing(self, share, host)
        self._furnishings.append(made)
        return made

    # -- shares ---------------------------------------------------------------------------------

    def place(self, share: Share, hosts: Iterable[Host]) -> list[Ticket]:
        """Let a share stand at some hosts, which are told all about it."""
        self.enter(share, hosts)
        return [self.furnish(share, host) for host in share.hosts]

    def enter(self, share: Share, hosts: Iterable[Host]) -> None:
        """Let a share stand at some hosts, which are yet to be told of it."""
        self.shares[share.number] = share
        share.hosts = list(hosts)
        share.begun = share.begun or bool(share.held)

    def forget(self, share: Share) -> None:
        """Let a share stand nowhere any more."""
        self.shares.pop(share.number, None)
        for host in share.hosts:
            host.submit(Ticket(share.tenant, share.number, Drop()))
        share.hosts = []

    def hold(self, share: Share, new: list[NewSubscription]) -> list[Ticket]:
        """Let a share hold further subscriptions."""
        share.held.update({each.number: each for each in new})
        share.begun = True
        made = self.change(share, Hold(new))
        for mirror in share.mirrors:  # which takes its kin over
            if own := [each for each in new if has_kin(mirror.held.values(), each)]:
                made += self.hold(mirror, own)
        return made

    def let_go(self, share: Share, numbers: list[int], *, slowly: bool = False) -> None:
        """Let a share hold subscriptions no longer; `slowly`, so that it goes on answering."""
        for each in (share, *share.mirrors):
            for number in numbers:
                each.held.pop(number, None)
        self.change(share, LetGo(numbers, slowly))

    def know(self, share: Share, known: Know) -> None:
        """Other annotations or judgements hold for a share from here on."""
        for each in (share, *share.mirrors):
            each.known = known
        self.change(share, known)

    def change(self, share: Share, wanted: Operation) -> list[Ticket]:
        """Ask every host of a share to change it; with state, that is in its journal."""
        made = []
        for host in share.hosts:
            ticket = Ticket(share.tenant, share.number, wanted)
            if share.remembers:
                self._note(share, ticket)
            host.submit(ticket)
            made.append(ticket)
        self._repeat(share, wanted)
        return made

    def _repeat(self, share: Share, wanted: Operation) -> None:
        """Let whoever is about to take a share over do the same; what it says is nobody's."""
        for host in share.joining:
            if not (isinstance(wanted, Hold) and host in share.learning):
                host.submit(Ticket(share.tenant, share.number, wanted))
        for mirror in share.mirrors if not isinstance(wanted, Hold) else ():
            self.change(mirror, wanted)

    def ask(self, share: Share, wanted: Operation) -> Ticket:
        """Ask a share something: the host with the least to do, where there are several."""
        ticket = Ticket(share.tenant, share.number, wanted)
        if share.remembers and isinstance(wanted, MatchEach):
            self._note(share, ticket)
            self._repeat(share, wanted)
        self.least_busy(share).submit(ticket)
        return ticket

    @staticmethod
    def least_busy(share: Share) -> Host:
        """The host of a share with the least to do."""
        return min(share.hosts, key=lambda host: (not host.alive, host.waiting))

    @staticmethod
    def _note(share: Share, ticket: Ticket) -> None:
        share.journal.append(ticket)
        share.moved += len(ticket.wanted.events) if isinstance(ticket.wanted, MatchEach) else 1

    # -- states ---------------------------------------------------------------------------------

    def checkpoint(self, share: Share) -> None:
        """Begin to save a share with state; `look_after` sees to the rest."""
        folder = self.folders.new(f"share-{share.number}")
        ticket = Ticket(share.tenant, share.number, Save(str(folder)))
        share.saving = (ticket, len(share.journal), folder)
        share.hosts[0].submit(ticket)

    def _finish_saving(self, share: Share) -> None:
        assert share.saving is not None
        ticket, upto, folder = share.saving
        if not ticket.answered:
            return
        share.saving = None
        if isinstance(ticket.said, Failed):
            _log.error("a share of windows cannot be saved; its journal goes on", error=ticket.said.error)
            share.moved = 0  # not before as much has come again
            return
        before, share.saved = share.saved, Saved(folder, frozenset(share.held))
        del share.journal[:upto]
        share.moved = sum(len(t.wanted.events) for t in share.journal if isinstance(t.wanted, MatchEach))
        if before is not None and not before.others:
            remove_folder(before.folder)

    # -- answers --------------------------------------------------------------------------------

    def wait(self, ticket: Ticket, seconds: float = PATIENCE) -> Said:
        """What a request led to; who looks after the workers does so meanwhile, for as long as it takes."""
        end = time.monotonic() + seconds
        while not ticket.wait(0.05):
            if self._closed:
                raise Unavailable("the broker is stopping; try again when it runs")
            if threading.get_ident() == self.owner:
                self.look_after()
            elif time.monotonic() > end:
                raise Unavailable(f"a worker did not answer within {seconds:.0f} s; try again")
        assert ticket.said is not None
        return ticket.said

    def wait_all(self, tickets: Iterable[Ticket]) -> list[Said]:
        """What requests led to; one that failed is an error."""
        found: list[Said] = []
        for ticket in tickets:
            said = self.wait(ticket)
            if isinstance(said, Failed):
                raise failure(said)
            found.append(said)
        return found

    def processes(self) -> list[WorkerProcess]:
        """The workers, and the one that is kept ready."""
        return [*self.workers.values(), *([] if self.spare.process is None else [self.spare.process])]

    def usage(self) -> None:
        """Ask each process what it has used; `WorkerProcess.used` says it some time later."""
        for worker in self.processes():
            if worker.alive and worker.waiting < 2:
                worker.submit(Ticket(0, 0, Usage()))


def failure(said: Failed) -> Exception:
    """The error a share answered with."""
    return StateError(f"a worker could not do this: {said.kind}: {said.error}; look at the broker's log")
