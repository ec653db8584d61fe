"""Matchers for workers: saved once for what a batch sees, memory-mapped by whoever runs a part of it.

Nothing ends while a batch runs: what is over at the batch's moment is left out before, so that every part of a batch,
and the same batch again, sees the same subscriptions.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import NotServed
from likewise.lake.held_set import HeldSet, LoggedSubscription
from likewise.matching.matcher import Matcher
from likewise.matching.saved.index import product
from likewise.model import Subscription

STATEFUL: Final = ("top", "alert")  # kinds whose matches depend on what came before, wherever it was read
_OPEN: Final = 2  # matchers a worker keeps: that of a batch, and the one before
_opened: OrderedDict[str, Matcher] = OrderedDict()


class MeaningChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """By what words are compared: names, so that a worker can open the same; `annotations` is the text of a CSV."""

    space: str | None = None
    measure: str | None = None
    threshold: float | None = None
    annotations: str = ""

    def matcher(self) -> Matcher:
        """An empty matcher that compares so."""
        from likewise.semantics.annotations.rows import read_annotations

        rows = read_annotations(self.annotations, "annotations.csv") if self.annotations else None
        return Matcher(space=self.space, measure=self.measure, threshold=self.threshold, annotations=rows)


def seen_at(held: HeldSet, at: int) -> list[LoggedSubscription]:
    """What a batch at this moment sees: all whose validity is not over; a kind that needs a state is refused."""
    seen = [each for each in held.subscriptions.values() if each.end is None or each.end > at]
    for each in seen:
        refuse_stateful(each.subscription)
    return seen


def refuse_stateful(subscription: Subscription) -> None:
    """Raise `NotServed` for a ranking or an alert."""
    if subscription.kind in STATEFUL:
        raise NotServed(
            f"{subscription.id!r} is a {'ranking' if subscription.kind == 'top' else 'subscription with a state'}: "
            "what it delivers depends on the order of all events, which streams on Spark do not keep; a broker "
            "serves it. Remove it from the change log, or write it without"
        )


def hold(matcher: Matcher, seen: Sequence[LoggedSubscription]) -> Matcher:
    """The matcher, holding exactly these from now on, by their numbers; it held earlier ones of the same log before."""
    wanted = {each.number: each for each in seen}
    here = matcher.numbers()
    for number, id in here.items():
        if number not in wanted:
            matcher.remove(id)
    new = [each for each in seen if each.number not in here]
    lasting = [msgspec.structs.replace(each.subscription, valid_for=None) for each in new]
    matcher.add_many(lasting, [each.at for each in new], numbers=[each.number for each in new])
    return matcher


def save_matcher(held: HeldSet, at: int, choice: MeaningChoice, folder: Path) -> Path:
    """The folder of a saved matcher for what is held, made unless it is there; `folder` is where such lie.

    It goes on from the newest one of the same choice, if there is one.
    """
    seen = seen_at(held, at)
    chosen = hashlib.sha256(msgspec.json.encode(choice)).hexdigest()[:12]
    over = len(held.subscriptions) - len(seen)
    ending = f"-{over}-{chosen}-{product()}"
    place = folder / f"{held.version:020d}{ending}"
    if (place / "manifest.json").is_file():
        return place
    former = [
        path for path in sorted(folder.glob(f"*-{chosen}-{product()}")) if int(path.name[:20]) < held.version
    ]  # fmt: skip
    matcher = Matcher.load(former[-1]) if former else choice.matcher()
    hold(matcher, seen)
    folder.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making.", dir=folder))
    try:
        matcher.save(making / "new")
        if not place.exists():
            (making / "new").rename(place)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return place


def opened(folder: str) -> Matcher:
    """A saved matcher, opened once by a worker that uses it again and again."""
    found = _opened.get(folder)
    if found is None:
        found = _opened[folder] = Matcher.load(folder)
        while len(_opened) > _OPEN:
            _opened.popitem(last=False)
    _opened.move_to_end(folder)
    return found


def made(subscriptions: bytes, choice: MeaningChoice) -> Matcher:
    """A matcher of subscriptions that travel as JSON (a list of `LoggedSubscription`), made once by a worker."""
    key = hashlib.sha256(subscriptions + msgspec.json.encode(choice)).hexdigest()
    found = _opened.get(key)
    if found is None:
        found = _opened[key] = hold(choice.matcher(), msgspec.json.decode(subscriptions, type=list[LoggedSubscription]))
        while len(_opened) > _OPEN:
            _opened.popitem(last=False)
    _opened.move_to_end(key)
    return found
