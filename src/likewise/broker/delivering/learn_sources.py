"""Commands that say something about sources: announcements, corrections, and a person's word."""

from __future__ import annotations

from likewise.broker.delivering.outcome import Outcome
from likewise.broker.store.catalogue.rows import Brought, HeldAnnouncement, Kept, forget, keep
from likewise.broker.store.entries import Announce, Bring, Correct, Entry, KeepAwake, Revoke, TakeBack
from likewise.broker.tenants.tenant import Tenant

Learnt = Announce | Revoke | Bring | Correct | TakeBack | KeepAwake


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
