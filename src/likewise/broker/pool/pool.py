"""The worker pool: which shard of a tenant's subscriptions is on which workers.

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

from likewise.broker.pool.failover import Failover
from likewise.broker.pool.listener import NoWorkerConnected, RemoteWorker, WorkerListener
from likewise.broker.pool.process import (
    REPLY_TIMEOUT_S,
    PendingRequest,
    ShardHost,
    Worker,
    WorkerFolders,
    WorkerProcess,
    remove_folder,
)
from likewise.broker.pool.protocol import (
    AddSubscriptions,
    DropShard,
    EventSent,
    InterpretationSettings,
    LoadShard,
    MatchStateful,
    NewSubscription,
    Operation,
    OperationFailed,
    RemoveSubscriptions,
    Reply,
    SaveShard,
    UpdateKnowledge,
    Usage,
)
from likewise.broker.pool.shard import Shard, ShardSnapshot, must_co_locate
from likewise.broker.pool.standby import ShardWarmUp, StandbyWorker
from likewise.errors import StateError, Unavailable

_log = structlog.get_logger("likewise.workers")
JOURNAL_EVENTS: Final = 20_000  # that moved a share with state since it was saved; then it is saved again


class WorkerPool:
    """The workers of a broker; `data` is its folder, if it has one, `listener` where workers of other machines connect.

    With a listener all workers are such; without one they are processes on this machine.
    """

    def __init__(
        self, settings: InterpretationSettings, data: Path | None = None, listener: WorkerListener | None = None
    ) -> None:
        self.settings = settings
        self.folders = WorkerFolders(data)
        self.workers: dict[int, Worker] = {}
        self._listener = listener
        self.shares: dict[int, Shard] = {}
        self.samples: dict[int, deque[EventSent]] = {}  # the newest events of each tenant
        self.standby = StandbyWorker(lambda: self._make(0), settings)
        self._warm_ups: list[ShardWarmUp] = []
        self.owner_thread = threading.get_ident()  # the thread that may look after them
        self._numbers = itertools.count(1)
        self.failover = Failover(self)
        self._closed = False

    # -- workers --------------------------------------------------------------------------------

    def start(self) -> Worker:
        """Start a further worker without any shard."""
        return self.employ(next(self._numbers))

    def reserve(self) -> Worker:
        """Return a further worker, which is yet to connect where there is a listener; requests wait for it."""
        number = next(self._numbers)
        try:
            return self.employ(number)
        except NoWorkerConnected:
            self.workers[number] = worker = RemoteWorker(number, None)
            return worker

    def employ(self, number: int) -> Worker:
        """Return a worker with a number, in place of the one that had it."""
        worker = self.standby.acquire(number)
        if worker is None:
            worker = self._make(number)
            worker.submit(PendingRequest(0, 0, self.settings))
        self.workers[number] = worker
        return worker

    def _make(self, number: int) -> Worker:
        if self._listener is not None:
            return RemoteWorker(number, self._listener.take())
        return WorkerProcess(number, self.folders.for_socket())

    def has_idle(self) -> bool:
        """Return whether a worker of another machine has nothing to do."""
        return self._listener is not None and (self._listener.idle > 0 or self.standby.is_ready())

    def current(self, host: ShardHost) -> ShardHost | None:
        """Return a host, or the worker that replaced it; None if there is none."""
        return self.workers.get(host.number) if isinstance(host, Worker) else host

    def end(self, worker: Worker) -> None:
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
        if self._listener is not None:
            self._listener.close()
        self.folders.remove()

    def supervise(self) -> None:
        """Start dead workers again, and save what has a long journal. On the matching thread."""
        for worker in list(self.workers.values()):
            if not self._closed:
                self.failover.check(worker)
        self._warm_ups = [each for each in self._warm_ups if not each.done()]
        if self.workers and not self._closed:
            if self.standby.is_due() and self._is_loading():
                self.standby.postpone()  # whoever is being told needs the processor more
            self.standby.maintain(self.shares.values(), self.samples)
        for share in list(self.shares.values()):
            if share.saving is not None:
                self._finish_saving(share)
            elif share.journal_events > JOURNAL_EVENTS:
                self.checkpoint(share)

    def _is_loading(self) -> bool:
        """Return whether a worker is still loading subscriptions."""
        return any(
            isinstance(each.operation, AddSubscriptions | LoadShard)
            for w in self.workers.values()
            for each in w.pending()
        )

    def transfer(self, share: Shard, host: ShardHost, unanswered: Iterable[int] | None = None) -> PendingRequest:
        """Tell a host everything about a share; the last thing it is told.

        Requests of the journal that are `asked` still wait for an answer; the others are repeated for what they do.
        """
        pending = set(unanswered or ())
        if share.saving is not None and host in share.hosts:
            share.saving = None  # it is begun again when it is due
        last = PendingRequest(share.tenant, share.number, DropShard())
        host.submit(last)
        for operation in share.replay_operations():
            last = PendingRequest(share.tenant, share.number, operation)
            host.submit(last)
        if share.roots:
            last = PendingRequest(share.tenant, share.number, share.proxies())
            host.submit(last)
        for ticket in list(share.journal):
            if ticket.id in pending and not ticket.answered:
                host.submit(ticket)
            else:
                last = PendingRequest(share.tenant, share.number, ticket.operation)
                host.submit(last)
        return last

    def warm_up(self, share: Shard, host: ShardHost) -> ShardWarmUp:
        """Let a host come to know a share that it is to serve, while everything goes on."""
        made = ShardWarmUp(self, share, host)
        self._warm_ups.append(made)
        return made

    # -- shares ---------------------------------------------------------------------------------

    def place(self, share: Shard, hosts: Iterable[ShardHost]) -> list[PendingRequest]:
        """Let a share stand at some hosts, which are told all about it."""
        self.assign(share, hosts)
        return [self.transfer(share, host) for host in share.hosts]

    def assign(self, share: Shard, hosts: Iterable[ShardHost]) -> None:
        """Let a share stand at some hosts, which are yet to be told of it."""
        self.shares[share.number] = share
        share.hosts = list(hosts)
        share.ever_used = share.ever_used or bool(share.subscriptions)

    def forget(self, share: Shard) -> None:
        """Let a share stand nowhere any more."""
        self.shares.pop(share.number, None)
        for host in share.hosts:
            host.submit(PendingRequest(share.tenant, share.number, DropShard()))
        share.hosts = []

    def add_subscriptions(self, share: Shard, new: list[NewSubscription]) -> list[PendingRequest]:
        """Let a share hold further subscriptions."""
        share.subscriptions.update({each.number: each for each in new})
        share.ever_used = True
        made = self.change(share, AddSubscriptions(new))
        for mirror in share.mirrors:  # which takes its kin over
            if co_located := [each for each in new if must_co_locate(mirror.subscriptions.values(), each)]:
                made += self.add_subscriptions(mirror, co_located)
        return made

    def remove_subscriptions(self, share: Shard, numbers: list[int], *, slowly: bool = False) -> None:
        """Let a share hold subscriptions no longer; `slowly`, so that it goes on answering."""
        for each in (share, *share.mirrors):
            for number in numbers:
                each.subscriptions.pop(number, None)
        self.change(share, RemoveSubscriptions(numbers, slowly))

    def update_knowledge(self, share: Shard, known: UpdateKnowledge) -> None:
        """Replace the annotations and feedback of a shard."""
        for each in (share, *share.mirrors):
            each.known = known
        self.change(share, known)

    def change(self, share: Shard, operation: Operation) -> list[PendingRequest]:
        """Ask every host of a share to change it; with state, that is in its journal."""
        made = []
        for host in share.hosts:
            ticket = PendingRequest(share.tenant, share.number, operation)
            if share.stateful:
                self._journal(share, ticket)
            host.submit(ticket)
            made.append(ticket)
        self._mirror(share, operation)
        return made

    def _mirror(self, share: Shard, operation: Operation) -> None:
        """Let whoever is about to take a share over do the same; what it says is nobody's."""
        for host in share.joining:
            if not (isinstance(operation, AddSubscriptions) and host in share.learning):
                host.submit(PendingRequest(share.tenant, share.number, operation))
        for mirror in share.mirrors if not isinstance(operation, AddSubscriptions) else ():
            self.change(mirror, operation)

    def ask(self, share: Shard, operation: Operation) -> PendingRequest:
        """Ask a share something: the host with the least to do, where there are several."""
        ticket = PendingRequest(share.tenant, share.number, operation)
        if share.stateful and isinstance(operation, MatchStateful):
            self._journal(share, ticket)
            self._mirror(share, operation)
        self.least_busy(share).submit(ticket)
        return ticket

    @staticmethod
    def least_busy(share: Shard) -> ShardHost:
        """Return the host of a shard with the fewest waiting requests."""
        return min(share.hosts, key=lambda host: (not host.alive, host.waiting))

    @staticmethod
    def _journal(share: Shard, ticket: PendingRequest) -> None:
        share.journal.append(ticket)
        share.journal_events += len(ticket.operation.events) if isinstance(ticket.operation, MatchStateful) else 1

    # -- states ---------------------------------------------------------------------------------

    def checkpoint(self, share: Shard) -> None:
        """Begin to save a share with state; `look_after` sees to the rest."""
        folder = self.folders.new(f"share-{share.number}")
        ticket = PendingRequest(share.tenant, share.number, SaveShard(str(folder)))
        share.saving = (ticket, len(share.journal), folder)
        share.hosts[0].submit(ticket)

    def _finish_saving(self, share: Shard) -> None:
        assert share.saving is not None
        ticket, upto, folder = share.saving
        if not ticket.answered:
            return
        share.saving = None
        if isinstance(ticket.reply, OperationFailed):
            _log.error("shard_save_failed", error=ticket.reply.error)
            share.journal_events = 0  # not before as much has come again
            return
        before, share.saved = share.saved, ShardSnapshot(folder, frozenset(share.subscriptions))
        del share.journal[:upto]
        share.journal_events = sum(
            len(t.operation.events) for t in share.journal if isinstance(t.operation, MatchStateful)
        )
        if before is not None and not before.others:
            remove_folder(before.folder)

    # -- answers --------------------------------------------------------------------------------

    def wait(self, ticket: PendingRequest, seconds: float = REPLY_TIMEOUT_S) -> Reply:
        """Wait for a request's reply; the owner thread supervises the workers meanwhile."""
        end = time.monotonic() + seconds
        while not ticket.wait(0.05):
            if self._closed:
                raise Unavailable("the broker is stopping; try again when it runs")
            if threading.get_ident() == self.owner_thread:
                self.supervise()
            elif time.monotonic() > end:
                raise Unavailable(f"a worker did not answer within {seconds:.0f} s; try again")
        assert ticket.reply is not None
        return ticket.reply

    def wait_all(self, tickets: Iterable[PendingRequest]) -> list[Reply]:
        """Wait for the replies of several requests; raise the error of a failed one."""
        replies: list[Reply] = []
        for ticket in tickets:
            reply = self.wait(ticket)
            if isinstance(reply, OperationFailed):
                raise worker_error(reply)
            replies.append(reply)
        return replies

    def processes(self) -> list[Worker]:
        """Return the workers, and the standby worker."""
        return [*self.workers.values(), *([] if self.standby.process is None else [self.standby.process])]

    def usage(self) -> None:
        """Ask each process what it has used; `Worker.used` says it some time later."""
        for worker in self.processes():
            if worker.alive and worker.waiting < 2:
                worker.submit(PendingRequest(0, 0, Usage()))


def worker_error(reply: OperationFailed) -> Exception:
    """Return the error of a failed request."""
    return StateError(f"a worker could not do this: {reply.kind}: {reply.error}; look at the broker's log")
