"""Group commit: the interface of everything that the writer brings to disk.

A `Commit` writes in the writer's transaction, shows what it wrote once that is on disk, and then tells whoever waits.
If the transaction fails, it undoes what it did in memory. There are three kinds: `Append` (entries of the log, with
what they led to where that was known before the commit), `Work` (any other change) and `BatchCommit` (what matching
led to, and how far it has come; `likewise.broker.dispatch.commit_writer`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Protocol

from likewise.api.events import Receipt
from likewise.broker.locks import may_wait
from likewise.broker.log.checksums import refuse
from likewise.broker.log.edges.connections import EdgePosition, advance_edge
from likewise.broker.log.edges.uplink import advance_uplink
from likewise.broker.log.entries import EVENT, Entry, same_content, set_source, without_source
from likewise.broker.log.log_entries import add_entries, find_identity
from likewise.broker.log.tables import StoreTables
from likewise.errors import Conflict, LikewiseError
from likewise.model import Event

Done = Callable[[object], None]  # told a result, or an error


Receipts = list[Receipt]
Request = tuple[list[Entry], Done]  # entries of which all or none are appended, and who is told


class Commit(Protocol):
    """A participant in the writer's transaction. All four methods are called on the writer's thread."""

    def write(self, tables: StoreTables) -> None:
        """Write it, in the writer's transaction."""
        ...

    def show(self) -> None:
        """Make the committed changes visible."""
        ...

    def notify(self) -> None:
        """Notify who waits, after everything of the transaction is visible."""
        ...

    def undo(self, error: BaseException | None) -> None:
        """Roll back what `write` did in memory, and notify who waits; without an error it is retried."""
        ...


class TableChange:
    """Any change of the tables; `done` gets its result, or the `LikewiseError` it raised."""

    def __init__(self, work: Callable[[StoreTables], object], done: Done) -> None:
        self._work = work
        self._done = done
        self._result: object = None

    def write(self, tables: StoreTables) -> None:
        """Do it, apart from what shares the transaction."""
        try:
            with tables.savepoint():
                self._result = self._work(tables)
        except LikewiseError as error:
            self._result = error

    def show(self) -> None:
        """Do nothing: this change has no state in memory."""

    def notify(self) -> None:
        """Tell the result."""
        self._done(self._result)

    def undo(self, error: BaseException | None) -> None:
        """Tell the error."""
        if error is not None:
            self._done(error)


class SourceNames(Protocol):
    """The names of a tenant's sources (`likewise.broker.tenants.identities`)."""

    def resolve(self, name: str) -> str:
        """Return the source that a name stands for."""
        ...

    def former(self, source: str) -> Mapping[str, bool]:
        """Return the names that a source had before; False for one that other sources had, too."""
        ...

    def __bool__(self) -> bool:
        """Return whether any source has, or had, another name."""
        ...


class LogHead:
    """The end of the log: position and arrival of its last entry, on disk or in the open transaction.

    `names` are the names of sources, by tenant.
    """

    def __init__(self, position: int, arrival: int) -> None:
        self.position = position
        self.arrival = arrival
        self.names: dict[int, SourceNames] = {}


class Follower(Protocol):
    """A consumer of the log's entries in order, each tenant's by itself.

    It is told of new entries on the writer's thread and does its work on its own; `store.positions` keeps how far it
    has come.
    """

    def take(self, entries: list[Entry]) -> None:
        """Take in new entries that are on disk."""
        ...


class PreCommitMatcher(Protocol):
    """Matches entries while their own transaction is open (`likewise.broker.dispatch.match_before_commit`)."""

    def match(self, entries: list[Entry]) -> Commit | None:
        """Return the commit of what some entries match, to be written with them; None to match them later."""
        ...

    def gains_from(self, entries: Iterable[Entry], other: Commit) -> bool:
        """Return whether committing `other` first would let more entries be matched before their commit."""
        ...


class AppendEntries:
    """Entries for the log, of one or several requests that share a transaction; each request is atomic."""

    def __init__(
        self, requests: list[Request], head: LogHead, followers: list[Follower], foresight: PreCommitMatcher | None
    ) -> None:
        self._requests = requests
        self._head = head
        self._followers = followers
        self._foresight = foresight
        self._results: list[Receipts | Conflict] = []
        self._new: list[Entry] = []
        self._outcome: Commit | None = None

    def __len__(self) -> int:
        return sum(len(entries) for entries, _ in self._requests)

    def join(self, other: AppendEntries) -> None:
        """Take another one's requests over, to be done after its own."""
        self._requests += other._requests

    def parts(self) -> list[AppendEntries]:
        """Return each request as an append of its own."""
        return [AppendEntries([request], self._head, self._followers, self._foresight) for request in self._requests]

    def by_tenant(self) -> list[AppendEntries]:
        """Return the requests of each tenant as an append of their own, the smallest first."""
        requests_by_tenant: dict[int, list[Request]] = {}
        for request in self._requests:
            requests_by_tenant.setdefault(request[0][0].tenant if request[0] else 0, []).append(request)
        parts = [
            AppendEntries(requests, self._head, self._followers, self._foresight)
            for requests in requests_by_tenant.values()
        ]
        return sorted(parts, key=len)

    def gains_from(self, other: Commit) -> bool:
        """Return whether committing `other` first would let more of it be matched before its commit."""
        entries = (entry for entries, _ in self._requests for entry in entries)
        return self._foresight is not None and self._foresight.gains_from(entries, other)

    def write(self, tables: StoreTables) -> None:
        """Write rows for entries whose identity is new, and what they lead to where that is foreseen."""
        self._results, self._new, self._outcome = [], [], None
        if not (not self._resolve_names() and self._add_all(tables)):
            for entries, _ in self._requests:
                self._results.append(self._add(tables, entries))
        if self._new and self._foresight is not None:
            self._outcome = self._foresight.match(self._new)
            if self._outcome is not None:
                self._outcome.write(tables)

    def _resolve_names(self) -> bool:
        """Put events under the source that their name stands for; whether one may be known under an earlier name.

        The reader of a message knows an id as soon as it is announced. This is for what was read before that, and for
        what others call by the name.
        """
        renamed = False
        for entries, _ in self._requests if any(self._head.names.values()) else ():
            for entry in entries:
                names = self._head.names.get(entry.tenant)
                if entry.kind == EVENT and entry.source and names:
                    source = names.resolve(entry.source)
                    if source != entry.source:
                        set_source(entry, source)
                    renamed = renamed or (entry.has_own_id and bool(names.former(source)))
        return renamed

    def _known_before(self, tables: StoreTables, entry: Entry) -> Entry | None:
        """Return the same event under an earlier name of its source; it conflicts if that was its source's alone."""
        names = self._head.names.get(entry.tenant)
        for name, alone in () if not names else names.former(entry.source).items():
            earlier = find_identity(tables, entry.tenant, entry.id, name)
            if earlier is None or not isinstance(earlier.value, Event) or not isinstance(entry.value, Event):
                continue
            if without_source(earlier.value) == without_source(entry.value):
                return earlier
            if alone:
                raise Conflict(entry.id, source=entry.source)
        return None

    def _add_all(self, tables: StoreTables) -> bool:
        """Write the entries of every request at once; whether that could be: nearly always no identity is known."""
        every = [entry for entries, _ in self._requests for entry in entries]
        for position, entry in enumerate(every, self._head.position + 1):
            entry.position, entry.arrival = position, self._head.arrival
        if not add_entries(tables, every):
            return False
        self._note(tables, every)
        self._head.position += len(every)
        self._new = every
        self._results = [[Receipt(e.id, e.position) for e in entries] for entries, _ in self._requests]
        return True

    def _note(self, tables: StoreTables, entries: list[Entry]) -> None:
        for noted in [entry.progress for entry in entries if entry.progress is not None]:
            advance_edge(tables, noted) if isinstance(noted, EdgePosition) else advance_uplink(tables, noted)

    def _add(self, tables: StoreTables, entries: list[Entry]) -> Receipts | Conflict:
        """Write the new entries of one request; the same content again is found where it was."""
        receipts: Receipts = []
        fresh: list[Entry] = []
        known: dict[tuple[int, str, str], Entry] = {}
        position, arrival = self._head.position, self._head.arrival
        for entry in entries:
            if entry.has_own_id:
                identity = (entry.tenant, entry.id, entry.source)
                try:
                    before = self._known_before(tables, entry)
                except Conflict as conflict:
                    return conflict
                existing = before or known.get(identity) or find_identity(tables, *identity)
                if existing is not None:
                    if existing is not before and not same_content(existing, entry):
                        return Conflict(entry.id, source=entry.source)
                    receipts.append(Receipt(entry.id, existing.position, True))
                    continue
                known[identity] = entry
            position += 1
            entry.position, entry.arrival = position, arrival
            fresh.append(entry)
            receipts.append(Receipt(entry.id, position))
        if not add_entries(tables, fresh):
            raise refuse("an index over the log")  # it knows what the log does not hold
        self._note(tables, entries)
        self._head.position = position
        self._new += fresh
        return receipts

    def show(self) -> None:
        """Let what was foreseen show, and hand the entries to whoever follows the log."""
        if self._outcome is not None:
            self._outcome.show()
        if self._new:
            for follower in tuple(self._followers):  # a connector may join meanwhile
                follower.take(self._new)

    def notify(self) -> None:
        """Tell the publishers, then whoever gets something."""
        try:
            for (_, done), result in zip(self._requests, self._results, strict=True):
                done(result)
        finally:
            if self._outcome is not None:
                self._outcome.notify()

    def undo(self, error: BaseException | None) -> None:
        """Take back what was foreseen."""
        if self._outcome is not None:
            self._outcome.undo(None)
            self._outcome = None
        if error is not None:
            for _, done in self._requests:
                done(error)


def wait_for(start: Callable[[Done], None]) -> object:
    """Return the value that `start` passes to its callback; raise it if it is an error.

    >>> wait_for(lambda done: done(7))
    7
    """
    may_wait()
    answer: Future[object] = Future()
    start(answer.set_result)
    result = answer.result()
    if isinstance(result, BaseException):
        raise result
    return result
