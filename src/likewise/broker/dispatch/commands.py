"""Commands of the log, applied in their order. What a command does depends on the log before it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import numpy as np
import structlog

from likewise.broker.dispatch.commit_batch import Outcome
from likewise.broker.dispatch.match_events import FindEntry, promote, speak
from likewise.broker.dispatch.silence_ticks import rename_in_alerts, take_silence
from likewise.broker.dispatch.source_updates import learn
from likewise.broker.dispatch.topics import end_topics, subscribe_topic, unsubscribe_topic
from likewise.broker.log import dead_letters
from likewise.broker.log.deliveries import ARRIVAL, CAUSES, INITIAL, REPLAYED, SAYINGS, Delivery
from likewise.broker.log.entries import (
    Announce,
    Bring,
    Correct,
    Decided,
    Entry,
    Excuse,
    Expect,
    Judge,
    KeepAwake,
    Register,
    RenameSource,
    Resume,
    Retry,
    Revoke,
    Subscribe,
    SubscribeTopic,
    TakeBack,
    Tick,
    Unregister,
    Unsubscribe,
    UnsubscribeTopic,
    Withdraw,
)
from likewise.broker.log.log_entries import withdraw
from likewise.broker.log.packed_sets import pack_scores
from likewise.broker.log.registry_tables import (
    add_judgement,
    add_subscriber,
    add_subscription,
    change_queue,
    end_subscription,
    remove_judgements,
    remove_subscriber,
    replay_windows_from,
)
from likewise.broker.log.rows import SubscriptionRow
from likewise.broker.tenants.match_guarded import moment
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.errors import DuplicateId, LikewiseError, StateError, UnknownId
from likewise.matching.explain.judged_pairs import judged_pairs
from likewise.model import Event
from likewise.semantics.feedback import concerns

_log = structlog.get_logger("likewise.matching")


class Commands:
    """Applies commands. What a command makes is numbered by the command's position, which is never dealt again."""

    def __init__(
        self,
        find: FindEntry,
        had: Callable[[int, int], set[int]],
        judged: Callable[[int, str], dict[int, Judge]],
        met: Callable[[int, str, str], tuple[Entry, set[int]] | None],
    ) -> None:
        self._find = find
        self._had = had  # by tenant and event: the subscribers that were given it
        self._judged = judged  # by tenant and subscriber: its feedback, by position
        self._met = met  # by tenant, source and id: an event, and the subscriptions it was delivered for

    def apply(self, tenant: Tenant, entry: Entry, outcome: Outcome) -> object:
        """Apply one command; what came of it, which may be an error of the tree."""
        try:
            match entry.value:
                case Register() as command:
                    return self._register(tenant, command, entry.position, outcome)
                case Unregister(subscriber=id):
                    self._unregister(tenant, id, entry.position, outcome)
                case Subscribe() as command:
                    return self._subscribe(tenant, command, entry, outcome)
                case Unsubscribe(subscriber=subscriber, id=id):
                    held = tenant.subscription(subscriber, id)
                    end(tenant, held, entry.position, outcome)
                    outcome.release(tenant, held.subscriber, id)
                case Withdraw(event=position):
                    outcome.change(withdraw, position)
                    outcome.withdrawn.append((tenant, position))
                    promote(tenant, tenant.windows.withdraw(position), outcome, self._find)
                    speak(tenant, tenant.alerts.withdraw(position), outcome, self._find)
                case Tick():
                    now = tenant.window_time(entry.arrival)
                    promote(tenant, tenant.windows.advance(now), outcome, self._find)
                    speak(tenant, tenant.alerts.advance(now), outcome, self._find)
                case Resume() | Excuse() | Expect() as command:
                    take_silence(tenant, command, entry)
                case Judge() as command:
                    outcome.change(add_judgement, tenant.number, entry.position, entry.body)
                    return judge(tenant, command, tenant.subscription(command.subscriber, command.id))
                case Retry() as command:
                    return self._replay(tenant, command, outcome)
                case SubscribeTopic() as command:
                    return subscribe_topic(tenant, command, entry.position, outcome, self._find)
                case UnsubscribeTopic(subscriber=subscriber, filter=text):
                    unsubscribe_topic(tenant, subscriber, text, outcome)
                case Announce() | Revoke() | Bring() | Correct() | TakeBack() | KeepAwake() | RenameSource() as command:
                    if isinstance(command, Announce | Revoke):
                        take_silence(tenant, command, entry)
                    elif isinstance(command, RenameSource):
                        rename_in_alerts(tenant, command)
                    return learn(tenant, command, entry, outcome)
                case Decided() as command:
                    return self._decided(tenant, command, outcome)
                case _:
                    raise AssertionError(entry.value)
        except LikewiseError as error:
            return error
        except Exception as error:  # of an engine: whoever asked is told, and matching goes on for everybody
            _log.error("a command failed", command=type(entry.value).__name__, tenant=tenant.name, exc_info=error)
            return StateError(
                f"this could not be done: {type(error).__name__}: {error}; nothing else is affected, look at the "
                "broker's log"
            )
        return None

    def _register(self, tenant: Tenant, command: Register, number: int, outcome: Outcome) -> SubscriberQueue:
        queue = tenant.subscribers.get(command.subscriber)
        if queue is None:
            queue = SubscriberQueue(number, command.subscriber, command.policy, command.limit)
            queue.acknowledged = tenant.next_number - 1
            tenant.subscribers[queue.id] = tenant.by_number[queue.number] = queue
            outcome.change(add_subscriber, tenant.number, queue.row())
        else:  # what is pending stays
            queue.policy, queue.limit = command.policy, command.limit
            outcome.change(change_queue, tenant.number, queue.row())
        (tenant.blocking.add if queue.policy == "block" else tenant.blocking.discard)(queue)
        return queue

    def _unregister(self, tenant: Tenant, id: str, position: int, outcome: Outcome) -> None:
        queue = tenant.subscriber(id)
        for number in list(queue.subscriptions.values()):
            end(tenant, tenant.held[number], position, outcome)
        end_topics(tenant, queue.number, outcome)
        del tenant.subscribers[id]
        tenant.blocking.discard(queue)
        outcome.unregistered.append((tenant, queue))
        outcome.change(remove_subscriber, queue.number)
        outcome.release(tenant, queue.number)
        outcome.change(dead_letters.remove_of, tenant.number, queue.number)
        given = self._judged(tenant.number, id)
        outcome.change(remove_judgements, list(given))
        take_back(tenant, given.values())

    def _subscribe(self, tenant: Tenant, command: Subscribe, entry: Entry, outcome: Outcome) -> Held:
        if command.part > 1 and entry.position - 1 not in tenant.held:
            raise StateError("another subscription of the same request was refused, so none of them is held")
        try:
            return self._hold(tenant, command, entry, outcome)
        except LikewiseError:
            for number in range(entry.position - command.part + 1, entry.position):
                if (held := tenant.held.get(number)) is not None and held.ended is None:
                    end(tenant, held, entry.position, outcome)
            raise

    def _hold(self, tenant: Tenant, command: Subscribe, entry: Entry, outcome: Outcome) -> Held:
        queue = tenant.subscriber(command.subscriber)
        id = command.subscription.id
        earlier = queue.subscriptions.get(id)
        if earlier is not None and not command.replace:
            raise DuplicateId(id)
        held = Held(entry.position, queue.number, id, command.subscription, entry.arrival)
        try:
            tenant.hold(held)
        except LikewiseError:
            raise
        except Exception as error:  # an engine that cannot be made or cannot take it must not end matching for all
            _log.error("a subscription cannot be held", subscription=id, tenant=tenant.name, exc_info=error)
            raise StateError(
                f"the subscription {id!r} cannot be held: its engine says {type(error).__name__}: {error}; look at the "
                "broker's log"
            ) from error
        if earlier is not None:
            end(tenant, tenant.held[earlier], entry.position, outcome)
        if command.subscription.remembers and tenant.windows_from is None and tenant.decides(command.subscription):
            tenant.windows_from = entry.position
            outcome.change(replay_windows_from, tenant.number, tenant.name, entry.position)
        row = SubscriptionRow(held.number, queue.number, id, command.subscription, held.added)
        outcome.change(add_subscription, tenant.number, row)
        return held

    def _replay(self, tenant: Tenant, command: Retry, outcome: Outcome) -> bool:
        """Deliver what a full queue refused, or what could not be matched; whether anybody gets it."""
        entry = self._find(command.event)
        if entry is None:
            outcome.change(dead_letters.remove, tenant.number, command.letter)
            return False
        if command.subscriber is not None:
            queue = tenant.by_number.get(command.subscriber)
            if queue is None or queue.gone:
                raise UnknownId(str(command.subscriber))
            matched, scores = [number for number in command.subscriptions if number in tenant.held], b""
            owners = [queue.number]
        else:
            assert isinstance(entry.value, Event)
            had = self._had(tenant.number, entry.position)  # of those it met when it came, or who subscribed since
            found = [
                each
                for each in tenant.stateless.match(entry.position, entry.value, moment(entry))
                if tenant.held[each.number].subscriber not in had
            ]
            matched = [each.number for each in found]
            scores = pack_scores(np.array([each.score for each in found], np.float32))
            owners = sorted({tenant.held[number].subscriber for number in matched})
        outcome.change(dead_letters.remove, tenant.number, command.letter)
        if not owners:
            return False
        to, met = np.array(owners, np.int64), np.array(matched, np.int64)
        outcome.send(tenant, Delivery(0, entry.position, REPLAYED, to, met, scores, entry.body, entry.ends))
        return True

    def _decided(self, tenant: Tenant, command: Decided, outcome: Outcome) -> bool:
        """Deliver what the broker above or this edge decided, and was not delivered before; whether anybody gets it."""
        found = self._met(tenant.number, command.source, command.id)
        if found is None:
            return False  # it is over here, or was withdrawn
        entry, met = found
        wanted = sorted(
            (number, score)
            for number, score in command.subscriptions
            if (held := tenant.held.get(number)) is not None and held.ended is None
        )
        if not isinstance(command.said, msgspec.UnsetType):
            facts = bytes(command.said)
            for number, score in wanted:
                to, matched = np.array([tenant.held[number].subscriber], np.int64), np.array([number], np.int64)
                scores = np.array([score], "<f4").tobytes()
                cause = SAYINGS[command.cause]
                outcome.send(
                    tenant, Delivery(0, entry.position, cause, to, matched, scores, entry.body, entry.ends, said=facts)
                )
            return bool(wanted)
        cause = CAUSES.index(command.cause)
        if cause in (ARRIVAL, INITIAL):
            decided = outcome.decided.setdefault((tenant.number, entry.position), set())  # and not stored yet
            met |= decided
            wanted = [
                (number, score)
                for number, score in wanted
                if number not in met and not (number > entry.position and _had_before(tenant, tenant.held[number], met))
            ]
            decided.update(number for number, _ in wanted)
        if wanted:
            scores = pack_scores(np.array([score for _, score in wanted], np.float32))
            outcome.deliver(
                tenant, entry.position, cause, np.array([number for number, _ in wanted], np.int64), scores, entry
            )
        return bool(wanted)


def _had_before(tenant: Tenant, held: Held, met: set[int]) -> bool:
    """Whether the subscriber of a new subscription had an event before, by others than those it came together with."""
    first = held.number
    while (before := tenant.held.get(first - 1)) is not None and before.subscriber == held.subscriber:
        first -= 1
    own = (tenant.held.get(number) for number in met if number < first)
    return any(each is not None and each.subscriber == held.subscriber for each in own)


def end(tenant: Tenant, held: Held, position: int, outcome: Outcome) -> None:
    """End a subscription."""
    tenant.let_go(held, position)
    outcome.change(end_subscription, held.number, position)


def take_back(tenant: Tenant, judgements: Iterable[Judge]) -> None:
    """Take feedback back, as if it had not been given."""
    feedback = tenant.stateless.interpretation.feedback
    for said in judgements:
        wanted = (said.id, said.event.id or "", said.relevant)
        for given in feedback:
            if (given.subscription_id, given.event_id, given.relevant) == wanted:
                concerned = concerns(feedback.undo(given.number).pairs)
                for matcher in (tenant.stateless, tenant.windows, tenant.alerts):
                    matcher.forget_relatedness(concerned)
                break


def judge(tenant: Tenant, command: Judge, held: Held) -> object:
    """Take feedback in, and let both matchers look at the terms concerned anew."""
    event = tenant.stateless.matcher.annotated(command.event)
    pairs = judged_pairs(event, held.subscription, tenant.stateless.interpretation.measure)
    judgement = tenant.stateless.interpretation.feedback.judge(held.id, command.event.id or "", command.relevant, pairs)
    concerned: Callable[[str], bool] = concerns(pairs)
    for matcher in (tenant.stateless, tenant.windows, tenant.alerts):
        matcher.forget_relatedness(concerned)
    return judgement
