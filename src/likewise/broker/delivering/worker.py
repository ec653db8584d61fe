"""The thread that owns the matchers: it follows the log, stores what matching leads to, and wakes the streams.

It takes what the log holds, in order, and stores the deliveries of a stretch together with the position it
has come to, in one commit. A crash before that commit repeats the stretch; after it, nothing. Where it has
nothing to do, the writer matches simple events itself (`likewise.broker.delivering.match_before_commit`);
`owning` says who may.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from typing import TypeVar

import structlog

from likewise.broker.delivering.apply_commands import Commands
from likewise.broker.delivering.earlier_events import deliver_earlier
from likewise.broker.delivering.match_events import match_events
from likewise.broker.delivering.outcome import Outcome
from likewise.broker.store.entries import EVENT, Entry, Subscribe
from likewise.broker.store.event_log import EventLog
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.defaults import FINISHING_SECONDS, MATCH_ENTRIES, STRETCH_SECONDS
from likewise.errors import Unavailable

T = TypeVar("T")
_log = structlog.get_logger("likewise.matching")


class MatchingWorker:
    """Follows the log from `matched` on.

    `on_stored` is told which queues have something new; `on_quiet` is called between stretches, `on_end` after the
    last one, both on the worker's thread.
    """

    def __init__(
        self,
        log: EventLog,
        tenants: dict[int, Tenant],
        *,
        matched: int,
        clock: Callable[[], int],
        lock: threading.RLock,
        on_stored: Callable[[Iterable[SubscriberQueue], Outcome], None],
        on_quiet: Callable[[], None] = lambda: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.position = matched
        self.failure: BaseException | None = None
        self.owning = threading.Lock()  # held by the thread that uses the matchers and deals out numbers
        self._store = log
        self._tenants = tenants
        self._clock = clock
        self._lock = lock  # of the queues, which streams and acknowledgements use too
        self._on_stored = on_stored
        self._on_quiet = on_quiet
        self._on_end = on_end
        self._commands = Commands(self._find)
        self._at_hand: dict[int, Entry] = {}
        self._under_way: list[Entry] = []
        self._inbox: queue.SimpleQueue[list[Entry] | Callable[[], None] | None] = queue.SimpleQueue()
        self.hurried = threading.Event()  # set: the stretch under way is the last one
        self._given_up = False  # nobody waits for the thread any more
        self._thread = threading.Thread(target=self._run, name="likewise-matching", daemon=True)

    def start(self, until: int) -> None:
        """Begin, first with what the log holds up to a position."""
        self._until = until
        self._thread.start()

    def follow(self, entries: list[Entry]) -> None:
        """Take new entries of the log; called in their order."""
        self._inbox.put(entries)

    def ask(self, question: Callable[[], T]) -> Future[T]:
        """Do something between two stretches, on the thread that owns the matchers."""
        answer: Future[T] = Future()

        def run() -> None:
            if answer.set_running_or_notify_cancel():
                try:
                    with self.owning:
                        found = question()
                except BaseException as error:
                    answer.set_exception(error)
                else:
                    answer.set_result(found)

        self._inbox.put(run)
        return answer

    def stop(self) -> bool:
        """Finish what was handed in for a while, else the stretch under way; whether the thread has ended."""
        self._inbox.put(None)
        self._thread.join(FINISHING_SECONDS)
        if self._thread.is_alive():
            self.hurried.set()
            self._thread.join(STRETCH_SECONDS)
        self._given_up = self._thread.is_alive()
        return not self._given_up

    # -- following ------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            backlog = self._store.entries(self.position, self._until)
            while not self.hurried.is_set() and (stretch := list(islice(backlog, MATCH_ENTRIES))):
                self._follow(stretch)
            while self._turn():
                pass
        except BaseException as error:  # said by readiness, and to everyone who waits
            if self._given_up:
                return  # the store is closed, and nobody waits
            self.fail(error)
            self._refuse_the_rest(error)
            return
        self._leave_the_rest()
        try:
            if not self._given_up:
                self._on_end()
        except Exception:
            _log.exception("windows could not be saved; the next start replays the log instead")

    def fail(self, error: BaseException) -> None:
        """Stop matching for good: readiness says so, and whatever comes is refused."""
        self.failure = error
        _log.error("matching has stopped", exc_info=error)

    def _turn(self) -> bool:
        try:
            item = self._inbox.get(timeout=0.25)
        except queue.Empty:
            self._on_quiet()
            return True
        entries: list[Entry] = []
        while True:
            if isinstance(item, list):
                entries += item
            else:
                self._stretches(entries)
                entries = []
                if item is None:
                    return False
                item()
            if self.hurried.is_set():
                break
            if len(entries) >= MATCH_ENTRIES:
                break
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                break
        self._stretches(entries)
        if self.hurried.is_set():
            return False
        self._on_quiet()
        return True

    def _stretches(self, entries: list[Entry]) -> None:
        self._under_way = entries
        for start in range(0, len(entries), MATCH_ENTRIES):
            if self.hurried.is_set():
                return
            self._follow(entries[start : start + MATCH_ENTRIES])
        self._under_way = []

    def _follow(self, entries: list[Entry]) -> None:
        """Match a stretch and store what it led to.

        New subscriptions are a stretch of their own: what came before must be stored, so that they are not
        given what their subscriber has had.
        """
        self._at_hand = {entry.position: entry for entry in entries if entry.kind == EVENT}
        outcome = Outcome()
        for tenant, run in _runs(entries, self._tenants):
            if isinstance(run[0].value, Subscribe) and outcome.deliveries:
                self._store_outcome(outcome)
                outcome = Outcome()
            with self.owning:
                if run[0].kind == EVENT:
                    outcome.arrival = outcome.arrival or run[0].arrival
                    match_events(tenant, run, outcome, self._find)
                else:
                    self._apply(tenant, run, outcome)
            outcome.position = run[-1].position
        self._store_outcome(outcome)

    def _apply(self, tenant: Tenant, run: list[Entry], outcome: Outcome) -> None:
        new: list[Held] = []
        for entry in run:
            result = self._commands.apply(tenant, entry, outcome)
            outcome.results.append((entry, result))
            if isinstance(result, Held):
                new.append(result)
        if new:
            deliver_earlier(self._store, tenant, new, run[0].position, run[-1].arrival, outcome)

    def _find(self, position: int) -> Entry | None:
        found = self._at_hand.get(position)
        return found if found is not None else next(self._store.entries(position - 1, position), None)

    # -- storing --------------------------------------------------------------------------------

    def _store_outcome(self, outcome: Outcome) -> None:
        if not outcome:
            return
        outcome.apply_policies(self._clock())
        pause = 0.05
        while True:
            try:
                self._store.catch_up(outcome.position, outcome.store, lambda: self.take_effect(outcome))
                break
            except Unavailable:
                if self._given_up or self.hurried.is_set():
                    raise
                _log.warning("deliveries cannot be stored; trying again", position=outcome.position)
                time.sleep(pause)
                pause = min(2.0, 2 * pause)
        for entry, result in outcome.results:
            _tell(entry, result)

    def take_effect(self, outcome: Outcome) -> None:
        """Let what is on disk show. On the writer's thread."""
        self.wake(self.fill(outcome), outcome)

    def fill(self, outcome: Outcome) -> list[SubscriberQueue]:
        """Fill the queues; which ones have something new."""
        with self._lock:
            filled = list(outcome.take_effect())
        self.position = outcome.position  # after the queues: whoever waits for it may look at them
        return filled

    def wake(self, filled: Iterable[SubscriberQueue], outcome: Outcome) -> None:
        """Wake the streams of queues that have something new."""
        self._on_stored(filled, outcome)

    def _refuse_the_rest(self, error: BaseException) -> None:
        """Tell everyone who waits, and everyone who comes, until the broker is closed."""
        refused = Unavailable(f"matching has stopped: {error}; look at the broker's log and restart it")
        self._refuse(self._under_way, refused)
        while (item := self._inbox.get()) is not None:
            self._refuse(item, refused)

    def _leave_the_rest(self) -> None:
        """Tell whoever waits for something that the next start does."""
        left = Unavailable("the broker is stopping; this is in the log, and the next start does it")
        self._refuse(self._under_way, left)
        with suppress(queue.Empty):
            while True:
                self._refuse(self._inbox.get_nowait(), left)

    def _refuse(self, item: list[Entry] | Callable[[], None] | None, refused: Unavailable) -> None:
        if isinstance(item, list):
            for entry in item:
                _tell(entry, refused)
        elif item is not None:
            item()


def _tell(entry: Entry, result: object) -> None:
    """Tell who waits for a command what came of it, once."""
    applied, entry.applied = entry.applied, None
    if applied is not None:
        applied(result)


def _runs(entries: list[Entry], tenants: dict[int, Tenant]) -> Iterator[tuple[Tenant, list[Entry]]]:
    """Neighbours of one tenant that can be handled together: events, new subscriptions, or one other command."""
    run: list[Entry] = []
    for entry in entries:
        if run and not _together(run[-1], entry):
            yield tenants[run[0].tenant], run
            run = []
        run.append(entry)
    if run:
        yield tenants[run[0].tenant], run


def _together(a: Entry, b: Entry) -> bool:
    if a.tenant != b.tenant or a.kind != b.kind:
        return False
    return a.kind == EVENT or (isinstance(a.value, Subscribe) and isinstance(b.value, Subscribe))
