"""Apply the log's commands in order. The effect of a command depends on the log before it alone.

So a replay after a restart has the same effect as the first time: for subscriptions and feedback, for commands about
sources (announcements, corrections, pins, renames), and for what the log says about silence (outages, suspended
sources, keys that alerts wait for).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import numpy as np
import structlog

from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.dispatch.match_events import FindEntry, send_notifications, send_promotions
from likewise.broker.dispatch.topic_deliveries import end_topics, subscribe_topic, unsubscribe_topic
from likewise.broker.log import dead_letters
from likewise.broker.log.catalogue.records import PinnedSource, SourceRoute, StoredAnnouncement, delete, upsert
from likewise.broker.log.deliveries import ARRIVAL, CAUSES, INITIAL, NOTIFICATION_CAUSES, REPLAYED, Delivery
from likewise.broker.log.entries import (
    AnnounceCommand,
    CorrectCommand,
    Entry,
    ExpectCommand,
    JudgeCommand,
    PinSourceCommand,
    RegisterCommand,
    RemoteDecision,
    RemoveCorrectionCommand,
    RenameSourceCommand,
    ResumeCommand,
    RetryCommand,
    RevokeCommand,
    RouteCommand,
    SubscribeCommand,
    SubscribeTopicCommand,
    SuspendAbsenceCommand,
    TickCommand,
    UnregisterCommand,
    UnsubscribeCommand,
    UnsubscribeTopicCommand,
    WithdrawCommand,
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
from likewise.broker.tenants.match_guarded import effective_time
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.errors import DuplicateId, LikewiseError, StateError, UnknownId
from likewise.matching.explain.feedback_pairs import feedback_pairs
from likewise.model import Event
from likewise.semantics.feedback import judged_by

OfSilence = ResumeCommand | SuspendAbsenceCommand | ExpectCommand | AnnounceCommand | RevokeCommand


def apply_absence_command(tenant: Tenant, command: OfSilence, entry: Entry) -> None:
    """Let alerts know what a command says about silence."""
    alerts = tenant.alerts
    match command:
        case ResumeCommand(after=by):
            alerts.outage(by, tenant.window_time(entry.arrival))
        case SuspendAbsenceCommand(sources=sources, why=why, ends=ends):
            (alerts.resume_absence if ends else alerts.suspend_absence)(sources, why, tenant.window_time(entry.arrival))
        case ExpectCommand(subscription=number, key=key, source=source, event=event, ends=ends):
            if number not in alerts:  # it ended meanwhile
                return
            if ends:
                alerts.unexpect(number, key, event)
            else:
                alerts.expect(number, key, source, event, tenant.window_time(entry.arrival))
        case AnnounceCommand(before=before, said=said):
            if said and before:
                alerts.rename(before, entry.position + 1)
        case RevokeCommand(waited_for=event):
            if event:
                alerts.rename(event, entry.position + 1)


def rename_in_alerts(tenant: Tenant, command: RenameSourceCommand) -> None:
    """Let what alerts know of a name count for the one source that it became; of several, each begins anew."""
    if command.sources != (command.before,):
        tenant.alerts.rename_source(command.before, command.sources[0] if len(command.sources) == 1 else None)


Learnt = (
    AnnounceCommand
    | RevokeCommand
    | RouteCommand
    | CorrectCommand
    | RemoveCorrectionCommand
    | PinSourceCommand
    | RenameSourceCommand
)


def apply_source_command(tenant: Tenant, command: Learnt, entry: Entry, outcome: CommitBatch) -> object:
    """Take in what a command says; what came of it."""
    known, number = tenant.sources, entry.position
    match command:
        case AnnounceCommand(announcement=announcement, ends=ends, said=said):
            before = known.announcements.get(announcement.source)
            if said or before is None:
                stored = StoredAnnouncement(announcement, ends, entry.arrival, number + 1 if said else 0)
            else:  # renewed: the event that says it stays
                stored = StoredAnnouncement(announcement, ends, before.since, before.event)
            known.announce(stored)
            outcome.change(upsert, tenant.number, "announcement", announcement.source, number, stored)
            return stored
        case RevokeCommand(source=source):
            outcome.change(delete, tenant.number, "announcement", source)
            return known.revoke(source)
        case RouteCommand(bringer=bringer, sources=sources):
            known.routes.update(dict.fromkeys(sources, bringer))
            outcome.change(upsert, tenant.number, "brought", str(number), number, SourceRoute(bringer, sources))
            return len(sources)
        case CorrectCommand(correction=correction):
            for earlier in known.correct(number, correction):
                outcome.change(delete, tenant.number, "correction", str(earlier))
            outcome.change(upsert, tenant.number, "correction", str(number), number, correction)
            return number
        case RemoveCorrectionCommand(number=taken):
            back = known.take_back(taken)
            outcome.change(delete, tenant.number, "correction", str(taken))
            return back
        case PinSourceCommand(source=source, kept=kept):
            (known.pinned.add if kept else known.pinned.discard)(source)
            known.version += 1
            if kept:
                outcome.change(upsert, tenant.number, "kept", source, number, PinnedSource(source))
            else:
                outcome.change(delete, tenant.number, "kept", source)
            return kept
        case RenameSourceCommand(before=before):
            alias = known.identities.apply(command, entry.arrival)
            known.version += 1
            outcome.change(upsert, tenant.number, "alias", before, number, alias)
            _transfer_to_renamed(tenant, command, number, outcome)
            return alias


def _transfer_to_renamed(tenant: Tenant, command: RenameSourceCommand, number: int, outcome: CommitBatch) -> None:
    """Let what holds of a name hold of the sources that it became; alerts are told by `rename_in_alerts`.

    Corrections are copied by commands of their own, which follow, since each has a number by which it is undone.
    """
    known, before = tenant.sources, command.before
    others = tuple(source for source in command.sources if source != before)
    if not others:
        return
    if (bringer := known.routes.get(before)) is not None:
        known.routes.update(dict.fromkeys(others, bringer))
        outcome.change(upsert, tenant.number, "brought", str(number), number, SourceRoute(bringer, others))
    if before in known.pinned:
        for source in others:
            known.pinned.add(source)
            outcome.change(upsert, tenant.number, "kept", source, number, PinnedSource(source))
    stored = known.announcements.get(before)
    # Whoever is told listens under the name it announced itself by.
    if stored is None or stored.announcement.controllable:
        return
    known.revoke(before)
    outcome.change(delete, tenant.number, "announcement", before)
    if len(others) == 1 and others[0] not in known.announcements:
        moved = msgspec.structs.replace(stored.announcement, source=others[0])
        known.announce(msgspec.structs.replace(stored, announcement=moved))
        outcome.change(upsert, tenant.number, "announcement", others[0], number, known.announcements[others[0]])


_log = structlog.get_logger("likewise.matching")


class CommandExecutor:
    """Applies commands. What a command makes is numbered by the command's position, which is never reused."""

    def __init__(
        self,
        find: FindEntry,
        had: Callable[[int, int], set[int]],
        judged: Callable[[int, str], dict[int, JudgeCommand]],
        find_matched: Callable[[int, str, str], tuple[Entry, set[int]] | None],
    ) -> None:
        self._find = find
        self._recipients_of = had  # by tenant and event: the subscribers that were given it
        self._feedback_of = judged  # by tenant and subscriber: its feedback, by position
        self._find_matched = (
            find_matched  # by tenant, source and id: an event, and the subscriptions it was delivered for
        )

    def apply(self, tenant: Tenant, entry: Entry, outcome: CommitBatch) -> object:
        """Apply one command; what came of it, which may be an error of the tree."""
        try:
            match entry.value:
                case RegisterCommand() as command:
                    return self._register(tenant, command, entry.position, outcome)
                case UnregisterCommand(subscriber=id):
                    self._unregister(tenant, id, entry.position, outcome)
                case SubscribeCommand() as command:
                    return self._subscribe(tenant, command, entry, outcome)
                case UnsubscribeCommand(subscriber=subscriber, id=id):
                    stored = tenant.subscription(subscriber, id)
                    end_subscription_of(tenant, stored, entry.position, outcome)
                    outcome.release(tenant, stored.subscriber, id)
                case WithdrawCommand(event=position):
                    outcome.change(withdraw, position)
                    outcome.withdrawn.append((tenant, position))
                    send_promotions(tenant, tenant.windows.withdraw(position), outcome, self._find)
                    send_notifications(tenant, tenant.alerts.withdraw(position), outcome, self._find)
                case TickCommand():
                    now = tenant.window_time(entry.arrival)
                    send_promotions(tenant, tenant.windows.advance(now), outcome, self._find)
                    send_notifications(tenant, tenant.alerts.advance(now), outcome, self._find)
                case ResumeCommand() | SuspendAbsenceCommand() | ExpectCommand() as command:
                    apply_absence_command(tenant, command, entry)
                case JudgeCommand() as command:
                    outcome.change(add_judgement, tenant.number, entry.position, entry.body)
                    return apply_feedback_command(tenant, command, tenant.subscription(command.subscriber, command.id))
                case RetryCommand() as command:
                    return self._replay(tenant, command, outcome)
                case SubscribeTopicCommand() as command:
                    return subscribe_topic(tenant, command, entry.position, outcome, self._find)
                case UnsubscribeTopicCommand(subscriber=subscriber, filter=text):
                    unsubscribe_topic(tenant, subscriber, text, outcome)
                case (
                    AnnounceCommand()
                    | RevokeCommand()
                    | RouteCommand()
                    | CorrectCommand()
                    | RemoveCorrectionCommand()
                    | PinSourceCommand()
                    | RenameSourceCommand() as command
                ):
                    if isinstance(command, AnnounceCommand | RevokeCommand):
                        apply_absence_command(tenant, command, entry)
                    elif isinstance(command, RenameSourceCommand):
                        rename_in_alerts(tenant, command)
                    return apply_source_command(tenant, command, entry, outcome)
                case RemoteDecision() as command:
                    return self._deliver_decision(tenant, command, outcome)
                case _:
                    raise AssertionError(entry.value)
        except LikewiseError as error:
            return error
        except Exception as error:  # of an engine: whoever asked is told, and matching goes on for everybody
            _log.error("command_failed", command=type(entry.value).__name__, tenant=tenant.name, exc_info=error)
            return StateError(
                f"this could not be done: {type(error).__name__}: {error}; nothing else is affected, look at the "
                "broker's log"
            )
        return None

    def _register(self, tenant: Tenant, command: RegisterCommand, number: int, outcome: CommitBatch) -> SubscriberQueue:
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

    def _unregister(self, tenant: Tenant, id: str, position: int, outcome: CommitBatch) -> None:
        queue = tenant.subscriber(id)
        for number in list(queue.subscriptions.values()):
            end_subscription_of(tenant, tenant.subscriptions[number], position, outcome)
        end_topics(tenant, queue.number, outcome)
        del tenant.subscribers[id]
        tenant.blocking.discard(queue)
        outcome.unregistered.append((tenant, queue))
        outcome.change(remove_subscriber, queue.number)
        outcome.release(tenant, queue.number)
        outcome.change(dead_letters.remove_of, tenant.number, queue.number)
        feedback = self._feedback_of(tenant.number, id)
        outcome.change(remove_judgements, list(feedback))
        undo_feedback(tenant, feedback.values())

    def _subscribe(
        self, tenant: Tenant, command: SubscribeCommand, entry: Entry, outcome: CommitBatch
    ) -> StoredSubscription:
        if command.part > 1 and entry.position - 1 not in tenant.subscriptions:
            raise StateError("another subscription of the same request was refused, so none of them is held")
        try:
            return self._add_subscription(tenant, command, entry, outcome)
        except LikewiseError:
            for number in range(entry.position - command.part + 1, entry.position):
                if (stored := tenant.subscriptions.get(number)) is not None and stored.ended is None:
                    end_subscription_of(tenant, stored, entry.position, outcome)
            raise

    def _add_subscription(
        self, tenant: Tenant, command: SubscribeCommand, entry: Entry, outcome: CommitBatch
    ) -> StoredSubscription:
        queue = tenant.subscriber(command.subscriber)
        id = command.subscription.id
        earlier = queue.subscriptions.get(id)
        if earlier is not None and not command.replace:
            raise DuplicateId(id)
        stored = StoredSubscription(entry.position, queue.number, id, command.subscription, entry.arrival)
        try:
            tenant.add_subscription(stored)
        except LikewiseError:
            raise
        except Exception as error:  # an engine that cannot be made or cannot take it must not end matching for all
            _log.error("subscription_failed", subscription=id, tenant=tenant.name, exc_info=error)
            raise StateError(
                f"the subscription {id!r} cannot be held: its engine says {type(error).__name__}: {error}; look at the "
                "broker's log"
            ) from error
        if earlier is not None:
            end_subscription_of(tenant, tenant.subscriptions[earlier], entry.position, outcome)
        if command.subscription.remembers and tenant.windows_from is None and tenant.decides(command.subscription):
            tenant.windows_from = entry.position
            outcome.change(replay_windows_from, tenant.number, tenant.name, entry.position)
        row = SubscriptionRow(stored.number, queue.number, id, command.subscription, stored.added)
        outcome.change(add_subscription, tenant.number, row)
        return stored

    def _replay(self, tenant: Tenant, command: RetryCommand, outcome: CommitBatch) -> bool:
        """Deliver what a full queue refused, or what could not be matched; whether anybody gets it."""
        entry = self._find(command.event)
        if entry is None:
            outcome.change(dead_letters.remove, tenant.number, command.letter)
            return False
        if command.subscriber is not None:
            queue = tenant.by_number.get(command.subscriber)
            if queue is None or queue.unregistered:
                raise UnknownId(str(command.subscriber))
            matched, scores = [number for number in command.subscriptions if number in tenant.subscriptions], b""
            owners = [queue.number]
        else:
            assert isinstance(entry.value, Event)
            # The recipients of when it came, and those who subscribed since.
            had = self._recipients_of(tenant.number, entry.position)
            matches = [
                each
                for each in tenant.stateless.match(entry.position, entry.value, effective_time(entry))
                if tenant.subscriptions[each.number].subscriber not in had
            ]
            matched = [each.number for each in matches]
            scores = pack_scores(np.array([each.score for each in matches], np.float32))
            owners = sorted({tenant.subscriptions[number].subscriber for number in matched})
        outcome.change(dead_letters.remove, tenant.number, command.letter)
        if not owners:
            return False
        to, numbers = np.array(owners, np.int64), np.array(matched, np.int64)
        outcome.send(tenant, Delivery(0, entry.position, REPLAYED, to, numbers, scores, entry.body, entry.ends))
        return True

    def _deliver_decision(self, tenant: Tenant, command: RemoteDecision, outcome: CommitBatch) -> bool:
        """Deliver what the broker above or this edge decided, and was not delivered before; whether anybody gets it."""
        event = self._find_matched(tenant.number, command.source, command.id)
        if event is None:
            return False  # it is over here, or was withdrawn
        entry, delivered = event
        pairs = sorted(
            (number, score)
            for number, score in command.subscriptions
            if (stored := tenant.subscriptions.get(number)) is not None and stored.ended is None
        )
        if not isinstance(command.said, msgspec.UnsetType):
            facts = bytes(command.said)
            for number, score in pairs:
                to, matched = (
                    np.array([tenant.subscriptions[number].subscriber], np.int64),
                    np.array([number], np.int64),
                )
                scores = np.array([score], "<f4").tobytes()
                cause = NOTIFICATION_CAUSES[command.cause]
                outcome.send(
                    tenant,
                    Delivery(0, entry.position, cause, to, matched, scores, entry.body, entry.ends, notification=facts),
                )
            return bool(pairs)
        cause = CAUSES.index(command.cause)
        if cause in (ARRIVAL, INITIAL):
            decided = outcome.decided.setdefault((tenant.number, entry.position), set())  # and not stored yet
            delivered |= decided
            pairs = [
                (number, score)
                for number, score in pairs
                if number not in delivered
                and not (
                    number > entry.position and _was_delivered_before(tenant, tenant.subscriptions[number], delivered)
                )
            ]
            decided.update(number for number, _ in pairs)
        if pairs:
            scores = pack_scores(np.array([score for _, score in pairs], np.float32))
            outcome.deliver(
                tenant, entry.position, cause, np.array([number for number, _ in pairs], np.int64), scores, entry
            )
        return bool(pairs)


def _was_delivered_before(tenant: Tenant, stored: StoredSubscription, delivered: set[int]) -> bool:
    """Return whether a new subscription's subscriber had an event before, by an older subscription."""
    first = stored.number
    while (before := tenant.subscriptions.get(first - 1)) is not None and before.subscriber == stored.subscriber:
        first -= 1
    others = (tenant.subscriptions.get(number) for number in delivered if number < first)
    return any(each is not None and each.subscriber == stored.subscriber for each in others)


def end_subscription_of(tenant: Tenant, stored: StoredSubscription, position: int, outcome: CommitBatch) -> None:
    """End a subscription."""
    tenant.remove_subscription(stored, position)
    outcome.change(end_subscription, stored.number, position)


def undo_feedback(tenant: Tenant, judgements: Iterable[JudgeCommand]) -> None:
    """Take feedback back, as if it had not been given."""
    feedback = tenant.stateless.interpretation.feedback
    for command in judgements:
        identity = (command.id, command.event.id or "", command.relevant)
        for judgement in feedback:
            if (judgement.subscription_id, judgement.event_id, judgement.relevant) == identity:
                concerned = judged_by(feedback.undo(judgement.number).pairs)
                for matcher in (tenant.stateless, tenant.windows, tenant.alerts):
                    matcher.forget_relatedness(concerned)
                break


def apply_feedback_command(tenant: Tenant, command: JudgeCommand, stored: StoredSubscription) -> object:
    """Take feedback in, and let both matchers look at the terms concerned anew."""
    event = tenant.stateless.matcher.annotated(command.event)
    pairs = feedback_pairs(event, stored.subscription, tenant.stateless.interpretation.measure)
    judgement = tenant.stateless.interpretation.feedback.judge(
        stored.id, command.event.id or "", command.relevant, pairs
    )
    concerned: Callable[[str], bool] = judged_by(pairs)
    for matcher in (tenant.stateless, tenant.windows, tenant.alerts):
        matcher.forget_relatedness(concerned)
    return judgement
