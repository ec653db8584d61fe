"""Write announcements with their leases, corrections and pinned sources into the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import cast

import structlog
from msgspec.structs import replace

from likewise.broker.catalogue.sensing_commands import clear_sense_message
from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import (
    AnnounceCommand,
    Command,
    CorrectCommand,
    Entry,
    PinSourceCommand,
    RemoveCorrectionCommand,
    RenameSourceCommand,
    RevokeCommand,
    WithdrawCommand,
    command_entry,
    event_entries,
)
from likewise.broker.log.event_log import Done, EventLog
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.tenants.identities import IdentityAnnouncement
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_ANNOUNCEMENTS, MAX_CORRECTIONS
from likewise.errors import LikewiseError, LimitExceeded, UnknownId
from likewise.model import Event
from likewise.model.announcements.announcement import Announcement, announcement_event, source_event
from likewise.semantics.enrichment.corrections import Correction

_log = structlog.get_logger("likewise.catalogue")
LEASE_OVER = "its lease is over"


class SourceCommands:
    """Appends commands about sources to the log; `done` is called once a command is on disk and applied."""

    def __init__(
        self, log: EventLog, clock: Callable[[], int], expiry: Callable[[], int], expires_at: Callable[[], int | None]
    ) -> None:
        self._log = log
        self._clock = clock
        self._expiry = expiry  # the time by which leases are over
        self._expires_at = expires_at
        self._ending: set[tuple[int, str]] = set()  # whose lease is over and is being revoked

    def announce(self, tenant: Tenant, announcement: Announcement) -> bool:
        """Hold an announcement until its lease is over; whether it only was renewed."""
        return cast("bool", wait_for(lambda done: self.start_announce(tenant, announcement, done)))

    def start_announce(self, tenant: Tenant, announcement: Announcement, done: Done) -> None:
        """Do `announce`, and call `done` when it is on disk.

        What it says anew is an event, too; what is said again only renews the lease.
        """
        known = tenant.sources.announcements
        before = known.get(announcement.source)
        if before is None and len(known) >= MAX_ANNOUNCEMENTS:
            raise LimitExceeded("announcements of a tenant", allowed=MAX_ANNOUNCEMENTS, found=len(known) + 1)
        renewed = before is not None and before.announcement.same_as(announcement)
        ends = self._clock() + int(announcement.lease * 1_000_000)
        command = AnnounceCommand(announcement, ends, not renewed, 0 if renewed or before is None else before.event)
        if renewed or before is None:
            withdrawn: list[Command] = []
        else:
            withdrawn = [WithdrawCommand(before.event)] if before.event else []
        events = [] if renewed else [announcement_event(announcement)]
        was_controlled = before is not None and before.announcement.controllable and not announcement.controllable
        message = clear_sense_message(announcement.source) if was_controlled else None
        self._append(tenant, command, events, withdrawn, lambda result: done(_either(result, renewed)), message)

    def announce_all(self, tenant: Tenant, announced: Iterable[Announcement]) -> None:
        """Hold announcements that others made, and that nobody waits for; what is refused is said."""
        for announcement in announced:
            try:
                self.start_announce(tenant, announcement, lambda result: None)
            except LikewiseError as refused:
                _log.warning("announcement_refused", source=announcement.source[:60], reason=str(refused))

    def revoke(self, tenant: Tenant, source: str, reason: str = "") -> None:
        """Let an announcement hold no longer."""
        wait_for(lambda done: self.start_revoke(tenant, source, reason, done))

    def start_revoke(self, tenant: Tenant, source: str, reason: str, done: Done) -> None:
        """Do `announce`, and call `done` when it is on disk."""
        stored = tenant.sources.announcement(source)
        withdrawn: list[Command] = [WithdrawCommand(stored.event)] if stored.event else []
        event, message = source_event("revocation", source, reason), None
        if stored.announcement.controllable:
            message = clear_sense_message(source)
        waited_for = stored.event if reason == LEASE_OVER else 0  # that it says no more is what alerts may wait for
        self._append(tenant, RevokeCommand(source, reason, waited_for), [event], withdrawn, done, message)

    def end_leases(self, tenant: Tenant) -> list[str]:
        """Revoke what is over by now; whose it was."""
        over = [source for source in tenant.sources.over(self._expiry()) if (tenant.number, source) not in self._ending]
        for source in over:
            self._ending.add((tenant.number, source))
            self.start_revoke(tenant, source, LEASE_OVER, partial(self._ended, (tenant.number, source)))
        return over

    def _ended(self, whose: tuple[int, str], result: object) -> None:
        self._ending.discard(whose)

    def correct(self, tenant: Tenant, corrections: Sequence[Correction]) -> list[int]:
        """Hold corrections; their numbers."""
        return cast("list[int]", wait_for(lambda done: self.start_correct(tenant, corrections, done)))

    def start_correct(self, tenant: Tenant, corrections: Sequence[Correction], done: Done) -> None:
        """Do `correct`, and call `done` with the numbers, or the first error."""
        total = len(tenant.sources.corrections) + len(corrections)
        if total > MAX_CORRECTIONS:
            raise LimitExceeded("corrections of a tenant", allowed=MAX_CORRECTIONS, found=total)
        known = {each.about: each for each in list(tenant.sources.corrections.values())}
        whole = [each.after(known[each.about]) if each.about in known else each for each in corrections]
        self._commands(tenant, [CorrectCommand(each) for each in whole], done)

    def take_back(self, tenant: Tenant, number: int) -> None:
        """Let a correction hold no longer."""
        wait_for(lambda done: self.start_take_back(tenant, number, done))

    def start_take_back(self, tenant: Tenant, number: int, done: Done) -> None:
        """Do `announce`, and call `done` when it is on disk."""
        if number not in tenant.sources.corrections:
            raise UnknownId(f"correction {number}")
        self._commands(tenant, [RemoveCorrectionCommand(number)], lambda found: done(_first(found)))

    def start_keep(self, tenant: Tenant, source: str, pinned: bool, done: Done) -> None:
        """Pin a source, so that it stays on without demand, or unpin it; call `done` when it is on disk."""
        self._commands(tenant, [PinSourceCommand(source, pinned)], lambda found: done(_first(found)))

    def identify(self, tenant: Tenant, namings: Iterable[IdentityAnnouncement]) -> None:
        """Write which stable ids were announced, if that is new; what is read from then on has them."""
        for command in tenant.sources.identities.learn(namings):
            self.start_rename(tenant, command, partial(_forget_naming, tenant, command))

    def start_rename(self, tenant: Tenant, command: RenameSourceCommand, done: Done) -> None:
        """Let a name stand for other sources from here on, with copies of what was corrected of it.

        `done` is told when it is on disk, or why it could not be.
        """
        known = tenant.sources
        others = [source for source in command.sources if source != command.before]
        copies = [
            CorrectCommand(replace(each, name=source))
            for each in known.corrections_of(command.before)
            for source in others
            if each.attribute not in {existing.attribute for existing in known.corrections_of(source)}
        ]
        room = max(0, MAX_CORRECTIONS - len(known.corrections))
        if len(copies) > room:
            _log.warning("corrections_not_copied", source=command.before[:60], left_out=len(copies) - room)
        commands: list[Command] = [command, *copies[:room]]
        self._commands(tenant, commands, done)

    def publish(self, tenant: Tenant, event: Event, message: StoredMessage | None = None) -> None:
        """Publish something that the catalogue says by itself, with its message of MQTT; nobody waits for it."""
        entries = event_entries(tenant.number, [event], self._expires_at())
        entries[0].message = message
        self._log.append(entries, lambda result: None)

    def _append(
        self,
        tenant: Tenant,
        command: Command,
        catalogue_events: list[Event],
        withdrawn: list[Command],
        done: Done,
        message: StoredMessage | None = None,
    ) -> None:
        """Append a command, its event with the MQTT message, and what it withdraws, in this order."""
        entries: list[Entry] = [command_entry(tenant.number, command, done)]
        events = event_entries(tenant.number, catalogue_events, self._expires_at())
        for entry in events:
            entry.message = message
        entries += events
        entries += [command_entry(tenant.number, each) for each in withdrawn]
        self._log.append(entries, _if_refused(done))

    def _commands(self, tenant: Tenant, commands: Sequence[Command], done: Done) -> None:
        results: list[object] = []

        def applied(result: object) -> None:
            results.append(result)
            if len(results) == len(commands):
                wrong = (each for each in results if isinstance(each, BaseException))
                done(next(wrong, results))

        if not commands:
            done([])
            return
        self._log.append([command_entry(tenant.number, each, applied) for each in commands], _if_refused(done))


def _forget_naming(tenant: Tenant, command: RenameSourceCommand, result: object) -> None:
    if isinstance(result, BaseException):
        tenant.sources.identities.forget(command)
        _log.warning("source_identity_not_stored", source=command.before[:60], error=str(result))


def _if_refused(done: Done) -> Done:
    """Tell an error of the writer; what was appended is told of when it is applied."""
    return lambda result: done(result) if isinstance(result, BaseException) else None


def _either(result: object, value: object) -> object:
    return result if isinstance(result, BaseException) else value


def _first(results: object) -> object:
    return results[0] if isinstance(results, list) else results
