"""Matchers for workers: saved once for what a batch sees, memory-mapped by whoever runs a part of it.

Nothing ends while a batch runs: what is over at the batch's moment is left out before, so that every part of a batch,
and the same batch again, sees the same subscriptions.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import InputError, UnsupportedSubscription
from likewise.lake.storage import ObjectStorePath, StoragePath
from likewise.lake.subscription_snapshot import LoggedSubscription, SnapshotKnowledge, SubscriptionSnapshot, TermMeaning
from likewise.matching.coercion import as_annotations
from likewise.matching.matcher import Matcher
from likewise.matching.storage.index_file import product
from likewise.model import Kind
from likewise.semantics.concepts.library import inventory_checksum
from likewise.semantics.feedback import Feedback, Judgement
from likewise.semantics.interpretation import Interpretation
from likewise.semantics.library import load_space
from likewise.spark.streaming.matcher_copies import copy_folder, download_matcher, upload_matcher

STATEFUL: Final[tuple[Kind, ...]] = ("top", "alert")  # kinds whose answers depend on what came before
_OPEN: Final = 4  # matchers a worker keeps: those of a batch, and the ones before
_opened: OrderedDict[str, Matcher] = OrderedDict()
_given: OrderedDict[str, list[LoggedSubscription]] = OrderedDict()  # subscriptions that a worker decoded


class MeaningChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """By what words are compared: names, so that a worker can open the same; `annotations` is the text of a CSV."""

    space: str | None = None
    measure: str | None = None
    threshold: float | None = None
    annotations: str = ""
    feedback: tuple[Judgement, ...] = ()
    lateness: int = 0  # µs an event may be behind the newest and still move rankings and alerts

    def as_logged(self, known: SnapshotKnowledge) -> MeaningChoice:
        """The same, where nothing is said as the change log has it; another space than its own is refused."""
        meant = known.meaning or TermMeaning()
        choice = msgspec.structs.replace(
            self,
            space=self.space or meant.space,
            measure=self.measure or meant.measure,
            threshold=meant.threshold if self.threshold is None else self.threshold,
            annotations=self.annotations or known.annotations or "",
            feedback=self.feedback or known.feedback or (),
        )
        if meant.space_checksum and self.space is None and self.measure is None:
            check_meaning(meant)
        return choice

    def digest(self) -> str:
        """Return a name of the choice, for folders."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:12]

    def matcher(self) -> Matcher:
        """An empty matcher that compares so."""
        from likewise.semantics.enrichment.rows import read_annotations

        rows = read_annotations(self.annotations, "annotations.csv") if self.annotations else None
        by = Interpretation(
            space=self.space,
            measure=self.measure,
            threshold=self.threshold,
            annotations=as_annotations(rows),
            feedback=Feedback(self.feedback),
            lateness=self.lateness,
        )
        return Matcher(interpretation=by)


def check_meaning(meant: TermMeaning) -> None:
    """Refuse a space or an inventory that is other than where the change log is written: matches would be others."""
    found = load_space(meant.space).checksum
    if found != meant.space_checksum:
        raise InputError(
            f"the change log was written with the space {meant.space_checksum[:12]}, and {found[:12]} is here; bring "
            "the same here, or name one on purpose with --space"
        )
    if meant.inventory_checksum and inventory_checksum() != meant.inventory_checksum:
        raise InputError(
            "the change log was written with other concepts than are here; bring those added by `likewise concepts "
            "add`, or name a measure on purpose with --measure"
        )


def active_at(held: SubscriptionSnapshot, at: int) -> list[LoggedSubscription]:
    """What a batch at this moment sees: all whose validity is not over."""
    return [each for each in held.subscriptions.values() if each.end is None or each.end > at]


def numbers_with_select(seen: Iterable[LoggedSubscription]) -> frozenset[int]:
    """The numbers of those that name what their matches carry."""
    return frozenset(each.number for each in seen if each.subscription.select)


def refuse_stateful(seen: Iterable[LoggedSubscription]) -> None:
    """Raise `UnsupportedSubscription` for a ranking or an alert, where events are not looked at in their order."""
    for each in seen:
        if each.subscription.kind in STATEFUL:
            what = "ranking" if each.subscription.kind == "top" else "subscription with a state"
            raise UnsupportedSubscription(
                f"{each.subscription.id!r} is a {what}: what it delivers depends on the order of all events; "
                "`likewise.spark.alerts`, `likewise stream run` and a broker serve it. Remove it, or pass "
                "stateful='skip' where they do"
            )


def set_subscriptions(matcher: Matcher, seen: Sequence[LoggedSubscription]) -> Matcher:
    """The matcher, holding exactly these from now on, by their numbers; it held earlier ones of the same log before."""
    wanted = {each.number: each for each in seen}
    here = matcher.state.numbers()
    for number, id in here.items():
        if number not in wanted:
            matcher.remove(id)
    new = [each for each in seen if each.number not in here]
    lasting = [msgspec.structs.replace(each.subscription, valid_for=None) for each in new]
    matcher.add_many(lasting, [each.at for each in new], numbers=[each.number for each in new])
    return matcher


def save_matcher(held: SubscriptionSnapshot, at: int, choice: MeaningChoice, folder: StoragePath) -> str:
    """Where a saved matcher for what is held lies, made unless it is there; `folder` is where such lie.

    It has no rankings and alerts (`state` serves them), and goes on from the newest one of the same log and choice. Its
    name has the digest of what is held: another log at the same address, with the same versions, never meets it.
    """
    if isinstance(folder, ObjectStorePath):
        local = _save(held, at, choice, copy_folder(folder))
        upload_matcher(local, folder / local.name)
        return str(folder / local.name)
    return str(_save(held, at, choice, folder))


def _save(held: SubscriptionSnapshot, at: int, choice: MeaningChoice, folder: Path) -> Path:
    seen = active_at(held, at)
    chosen = choice.digest()
    over = len(held.subscriptions) - len(seen)
    place = folder / f"{held.version:020d}-{held.digest}-{over}-{chosen}-{product()}"
    if (place / "manifest.json").is_file():
        return place
    former = [
        path
        for path in sorted(folder.glob(f"*-{chosen}-{product()}"))
        if held.digests.get(int(path.name[:20])) == path.name[21:37]
    ]
    matcher = Matcher.load(former[-1]) if former else choice.matcher()
    set_subscriptions(matcher, [each for each in seen if each.subscription.kind not in STATEFUL])
    folder.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making.", dir=folder))
    try:
        matcher.save(making / "new")
        move_into_place(making / "new", place)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return place


def move_into_place(made: Path, place: Path) -> None:
    """Let a folder that was made appear whole, unless another process was first with the same."""
    try:
        made.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def matcher_folder(address: str) -> Path:
    """The folder of a saved matcher on this machine."""
    return download_matcher(address) if "://" in address else Path(address)


def open_matcher(folder: str) -> Matcher:
    """A saved matcher, opened once by a worker that uses it again and again; another in its place is opened anew."""
    place = matcher_folder(folder)
    manifest = place / "manifest.json"
    key = f"{folder}@{manifest.stat().st_mtime_ns}" if manifest.is_file() else folder
    found = _opened.get(key)
    if found is None:
        found = _opened[key] = Matcher.load(place)
        while len(_opened) > _OPEN:
            _opened.popitem(last=False)
    _opened.move_to_end(key)
    return found


def make_matcher(subscriptions: bytes, choice: MeaningChoice, at: int) -> Matcher:
    """Return a matcher of subscriptions in JSON (a list of `LoggedSubscription`), created once by a worker.

    Those whose validity is over at the moment `at` are left out.
    """
    key = hashlib.sha256(subscriptions + msgspec.json.encode(choice)).hexdigest()
    given = _given.get(key)
    if given is None:
        given = _given[key] = msgspec.json.decode(subscriptions, type=list[LoggedSubscription])
    active = [each for each in given if each.end is None or each.end > at]
    key = f"{key}@{','.join(str(each.number) for each in active if each.end is not None)}"
    found = _opened.get(key)
    if found is None:
        found = _opened[key] = set_subscriptions(choice.matcher(), active)
    for known in (_opened, _given):
        while len(known) > _OPEN:
            known.popitem(last=False)
    _opened.move_to_end(key)
    return found
