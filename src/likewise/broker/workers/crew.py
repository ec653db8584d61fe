"""The workers of a broker, and which share of a tenant's subscriptions stands at which of them.

A share without state may stand at several workers (replicated): each can answer for it. A share with state stands at
one. What a worker is told, another can be told again: subscriptions are known here, and of a share with state the last
saved state and everything that moved it since (`journal`). So a worker that dies is started again, told what it held,
and asked again what it had not answered; what it had answered is not taken twice.

All of it belongs to the matching thread, except `submit`, which any thread may use to ask.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from likewise.broker.workers.messages import (
    Ask,
    Board,
    Done,
    Drop,
    Expects,
    Explain,
    Failed,
    Hold,
    Know,
    LetGo,
    Load,
    Match,
    MatchEach,
    NewSubscription,
    Operation,
    Plan,
    Proxies,
    Said,
    Save,
    Standings,
    Told,
    Usage,
    WouldMatch,
)  # fmt: skip
from likewise.broker.workers.process import Host, Ticket, WorkerProcess, died
from likewise.errors import StateError, Unavailable
from likewise.model import Subscription

_log = structlog.get_logger("likewise.workers")
CHUNK: Final = 2_000  # subscriptions said at once
JOURNAL_EVENTS: Final = 20_000  # that moved a share with state since it was saved; then it is saved again
PATIENCE: Final = 300.0  # seconds without any answer after which a worker that should give one is taken for dead
ASKED: Final = (Ask, Board, Expects, Explain, Match, Plan, Save, Standings, WouldMatch)  # what changes nothing
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


class Crew:
    """The workers; `told` says how they take words and time."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.workers: dict[int, WorkerProcess] = {}
        self.shares: dict[int, Share] = {}
        self.deaths = 0
        self.owner = threading.get_ident()  # the thread that may look after them
        self._numbers = itertools.count(1)
        self._folders = itertools.count(1)
        self._closed = False

    @cached_property
    def folder(self) -> Path:
        """Where sockets and saved shares are, for nobody else to see; it goes with the crew."""
        return Path(tempfile.mkdtemp(prefix="likewise-workers-"))

    # -- workers --------------------------------------------------------------------------------

    def start(self) -> WorkerProcess:
        """A further worker, which holds nothing yet."""
        worker = WorkerProcess(next(self._numbers), self.folder)
        self.workers[worker.number] = worker
        worker.submit(Ticket(0, 0, self.told))
        return worker

    def end(self, worker: WorkerProcess) -> None:
        """Let a worker end, which holds nothing any more."""
        self.workers.pop(worker.number, None)
        threading.Thread(target=worker.end, name="likewise-worker-end", daemon=True).start()

    def close(self) -> None:
        """End all workers, and forget what was saved for them."""
        self._closed = True
        for worker in self.workers.values():
            worker.end()
        if "folder" in self.__dict__:
            shutil.rmtree(self.folder, ignore_errors=True)

    def look_after(self) -> None:
        """Start dead workers again, and save what has a long journal. On the matching thread."""
        now = time.monotonic()
        for worker in list(self.workers.values()):
            if worker.alive and worker.waiting and now - max(worker.heard, worker.started) > PATIENCE:
                _log.error("a worker does not answer, and is killed", worker=worker.number)
                worker.kill()
            if not worker.alive and not self._closed:
                self._revive(worker)
        for share in list(self.shares.values()):
            if share.saving is not None:
                self._finish_saving(share)
            elif share.moved > JOURNAL_EVENTS:
                self.checkpoint(share)

    def _revive(self, dead: WorkerProcess) -> None:
        """Start a worker in place of a dead one, tell it what it held, and ask it what was not answered."""
        self.deaths += 1
        dead.kill()
        _log.warning("a worker died and is started again", worker=dead.number, code=dead.process.returncode,
                     unanswered=dead.waiting)  # fmt: skip
        dead.end()
        pending = dead.pending()
        new = WorkerProcess(dead.number, self.folder)
        new.busy, new.matched = dead.busy, dead.matched
        self.workers[dead.number] = new
        new.submit(Ticket(0, 0, self.told))
        asked = {ticket.id for ticket in pending}
        if pending and dead.connected and died(pending[0]):  # the one it had at hand
            asked = (asked | self._without(pending[0])) - {pending[0].id}
        journaled: set[int] = set()
        for share in list(self.shares.values()):
            if dead in share.joining:
                share.joining[share.joining.index(dead)] = new
                self.furnish(share, new)
            if dead in share.hosts:
                share.hosts[share.hosts.index(dead)] = new
                self.furnish(share, new, asked)
                journaled |= {ticket.id for ticket in share.journal}
        for ticket in pending:
            if ticket.id not in asked or ticket.id in journaled:
                continue
            of = self.shares.get(ticket.share)
            if of is None or not isinstance(ticket.wanted, ASKED):
                ticket.answer(Done())  # whoever comes in its place was told what came of it
                continue
            others = [] if of.remembers else [each for each in of.hosts if each is not new and each.alive]
            (others[0] if others else new).submit(ticket)

    def _without(self, killing: Ticket) -> set[int]:
        """Take a request out of its share's journal, and put in its place what it consists of; the ids of that."""
        share = self.shares.get(killing.share)
        if share is None or killing not in share.journal:
            return set()
        place = share.journal.index(killing)
        parts = [] if killing.answered else killing.split()
        share.journal[place : place + 1] = parts
        return {part.id for part in parts}

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

    # -- shares ---------------------------------------------------------------------------------

    def place(self, share: Share, hosts: Iterable[Host]) -> list[Ticket]:
        """Let a share stand at some hosts, which are told all about it."""
        self.shares[share.number] = share
        share.hosts = list(hosts)
        share.begun = share.begun or bool(share.held)
        return [self.furnish(share, host) for host in share.hosts]

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
        return self.change(share, Hold(new))

    def let_go(self, share: Share, numbers: list[int]) -> None:
        """Let a share hold subscriptions no longer."""
        for each in (share, *share.mirrors):
            for number in numbers:
                each.held.pop(number, None)
        self.change(share, LetGo(numbers))

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
        folder = self.folder / f"share-{share.number}-{next(self._folders)}"
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
            shutil.rmtree(before.folder, ignore_errors=True)

    def new_folder(self, name: str) -> Path:
        """A folder of its own that is not there yet."""
        return self.folder / f"{name}-{next(self._folders)}"

    # -- answers --------------------------------------------------------------------------------

    def wait(self, ticket: Ticket, seconds: float = PATIENCE) -> Said:
        """What a request led to; who looks after the workers does so meanwhile."""
        end = time.monotonic() + seconds
        while not ticket.wait(0.05):
            if self._closed:
                raise Unavailable("the broker is stopping; try again when it runs")
            if threading.get_ident() == self.owner:
                self.look_after()
            if time.monotonic() > end:
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

    def usage(self) -> None:
        """Ask each worker what it has used; `WorkerProcess.used` says it some time later."""
        for worker in self.workers.values():
            if worker.alive and worker.waiting < 2:
                worker.submit(Ticket(0, 0, Usage()))


def failure(said: Failed) -> Exception:
    """The error a share answered with."""
    return StateError(f"a worker could not do this: {said.kind}: {said.error}; look at the broker's log")


def remove_folder(folder: Path) -> None:
    """Remove a folder, if it is there."""
    with suppress(OSError):
        shutil.rmtree(folder)
