"""Commands that say something about sources: announcements, corrections, a person's word, and another name."""

from __future__ import annotations

import msgspec

from likewise.broker.dispatch.commit_batch import Outcome
from likewise.broker.log.catalogue.rows import Brought, HeldAnnouncement, Kept, forget, keep
from likewise.broker.log.entries import Announce, Bring, Correct, Entry, KeepAwake, RenameSource, Revoke, TakeBack
from likewise.broker.tenants.tenant import Tenant

Learnt = Announce | Revoke | Bring | Correct | TakeBack | KeepAwake | RenameSource


def learn(tenant: Tenant, command: Learnt, entry: Entry, outcome: Outcome) -> object:
    """Take in what a command says; what came of it."""
    known, number = tenant.known, entry.position
    match command:
        case Announce(announcement=announcement, ends=ends, said=said):
            before = known.announcements.get(announcement.source)
            if said or before is None:
                held = HeldAnnouncement(announcement, ends, entry.arrival, number + 1 if said else 0)
            else:  # renewed: the event that says it stays
                held = HeldAnnouncement(announcement, ends, before.since, before.event)
            known.announce(held)
            outcome.change(keep, tenant.number, "announcement", announcement.source, number, held)
            return held
        case Revoke(source=source):
            outcome.change(forget, tenant.number, "announcement", source)
            return known.revoke(source)
        case Bring(bringer=bringer, sources=sources):
            known.brought.update(dict.fromkeys(sources, bringer))
            outcome.change(keep, tenant.number, "brought", str(number), number, Brought(bringer, sources))
            return len(sources)
        case Correct(correction=correction):
            for earlier in known.correct(number, correction):
                outcome.change(forget, tenant.number, "correction", str(earlier))
            outcome.change(keep, tenant.number, "correction", str(number), number, correction)
            return number
        case TakeBack(number=taken):
            back = known.take_back(taken)
            outcome.change(forget, tenant.number, "correction", str(taken))
            return back
        case KeepAwake(source=source, kept=kept):
            (known.kept.add if kept else known.kept.discard)(source)
            known.version += 1
            if kept:
                outcome.change(keep, tenant.number, "kept", source, number, Kept(source))
            else:
                outcome.change(forget, tenant.number, "kept", source)
            return kept
        case RenameSource(before=before):
            alias = known.identities.apply(command, entry.arrival)
            known.version += 1
            outcome.change(keep, tenant.number, "alias", before, number, alias)
            _carry(tenant, command, number, outcome)
            return alias


def _carry(tenant: Tenant, command: RenameSource, number: int, outcome: Outcome) -> None:
    """Let what holds of a name hold of the sources that it became; alerts are told by `rename_in_alerts`.

    Corrections are copied by commands of their own, which follow, since each has a number by which it is undone.
    """
    known, before = tenant.known, command.before
    others = tuple(source for source in command.sources if source != before)
    if not others:
        return
    if (bringer := known.brought.get(before)) is not None:
        known.brought.update(dict.fromkeys(others, bringer))
        outcome.change(keep, tenant.number, "brought", str(number), number, Brought(bringer, others))
    if before in known.kept:
        for source in others:
            known.kept.add(source)
            outcome.change(keep, tenant.number, "kept", source, number, Kept(source))
    held = known.announcements.get(before)
    if held is None or held.announcement.controllable:  # whoever is told listens under the name it announced itself by
        return
    known.revoke(before)
    outcome.change(forget, tenant.number, "announcement", before)
    if len(others) == 1 and others[0] not in known.announcements:
        moved = msgspec.structs.replace(held.announcement, source=others[0])
        known.announce(msgspec.structs.replace(held, announcement=moved))
        outcome.change(keep, tenant.number, "announcement", others[0], number, known.announcements[others[0]])
