"""Engines beside the reference while the vocabulary grows: every step brings words that no table has room for yet.

`compare_growing` runs one story: calls of every sort on one engine, or on a whole matcher, each compared with the
reference. `python -m tests.matching.growing STEPS --folder FOLDER` runs stories of all of them in turn, with the
bounds of every array checked that a kernel reads or writes. It writes to the folder how far it has come and what
differed, and resumes there.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Final, Literal, NamedTuple, get_args

import msgspec
import numpy as np

from likewise.matching.alerts.engine import AlertEngine
from likewise.matching.bitmap.engine import BitmapEngine
from likewise.matching.bitmap.layout import BlockShape
from likewise.matching.classical.sgim import SgimEngine
from likewise.matching.engine import Addition, BaseEngine, Engine, EngineBatchResult, EngineResult
from likewise.matching.forest.engine import ForestEngine
from likewise.matching.hybrid.statements import StatementsEngine
from likewise.matching.interests.bitmap import InterestBitmapEngine
from likewise.matching.interests.rapid import RapidEngine
from likewise.matching.interests.rapid_modified import ModifiedRapidEngine
from likewise.matching.interests.tree import TreeEngine
from likewise.matching.matcher import Matcher
from likewise.matching.thematic.engine import ThematicEngine
from likewise.matching.topk.engine import TopKEngine
from likewise.model import Event, Explanation, Kind, Match, Promotion, Subscription
from likewise.testing.contract import EnginePair
from likewise.testing.generators import LONGEST_VECTOR, Choice, GeneratorVocabulary, SeededChoice
from likewise.testing.oracle import OracleSettings
from likewise.units import all_units

STEPS: Final = 250  # of one story
LIVE: Final = (40, 40, 120, 40, 400, 40, 120, 2_000)  # most subscriptions held at once, story by story
MEANING_ROUNDS: Final = 4
CHECKED: Final = "NUMBA_BOUNDSCHECK"
LIFETIME: Final = 3  # steps for which a word of a growing vocabulary is drawn
PHASE: Final = 40  # steps for which the same roles grow


class Contender(NamedTuple):
    """An engine under test: the kinds it is tested with, how it is made, and the most subscriptions worth comparing.

    `most` bounds what the reference needs for one event, not what the engine can hold. One that compares `by_meaning`
    has the measures of the embedded space, and words that the space knows; it takes as long as all others together, so
    it has a story in every `MEANING_ROUNDS`th round alone.
    """

    kinds: tuple[Kind, ...]
    make: Callable[[OracleSettings], Engine]
    most: int = 2_000
    by_meaning: bool = False


def _small_blocks(_: OracleSettings) -> Engine:
    """Return a bitmap engine that makes blocks, merges and clusters from a few subscriptions on."""
    small = BlockShape(
        tail_slots=4,
        tail_rows=24,
        largest_block=64,
        clustered=2,
        finer=2,
        levels=2,
        entered=100,
        matched=100,
        merged=2,
        dense_share=8,
        dense_from=3,
        cells=4,
        smallest_cell=4,
    )
    return BitmapEngine(shape=small)


def _thematic(setting: OracleSettings, cache_bytes: int = 2**24) -> Engine:
    return ThematicEngine(setting.measure, setting.threshold, cache_bytes)


def _topk(setting: OracleSettings) -> Engine:
    return TopKEngine(
        setting.measure,
        setting.threshold,
        lateness=setting.lateness,
        named=setting.named,
        m=setting.m,
        meaning=setting.meaning,
    )


def _alerts(setting: OracleSettings) -> Engine:
    return AlertEngine(setting.measure, setting.threshold, lateness=setting.lateness)


def _statements(setting: OracleSettings) -> Engine:
    return StatementsEngine(setting.named, m=setting.m, threshold=setting.threshold)


def _patterns(index: Literal["automaton", "mvr-tree", "r-tree"], _: OracleSettings) -> Engine:
    from likewise.matching.graphs.engine import GraphPatternEngine
    from likewise.matching.graphs_nearby.exact_patterns import ExactPatterns

    return GraphPatternEngine() if index == "automaton" else GraphPatternEngine(ExactPatterns(index))


def _near(tree: str, setting: OracleSettings) -> Engine:
    from likewise.matching.graphs_nearby.engine import NearEngine
    from likewise.matching.graphs_nearby.mvr_tree import MvrTree
    from likewise.matching.graphs_nearby.rtree_index import RTreeIndex

    return NearEngine(setting.meaning, MvrTree if tree == "mvr-tree" else RTreeIndex)


class MatcherEngine(BaseEngine):
    """A whole `Matcher` seen as one engine that serves every kind, so that it can be compared with the reference."""

    kinds: ClassVar[frozenset[Kind]] = frozenset(get_args(Kind))

    def __init__(self, setting: OracleSettings) -> None:
        super().__init__()
        self._engines: dict[Kind, Callable[[object], Engine]] = {
            "statements": lambda _: _statements(setting),
            "near": lambda _: _near("mvr-tree", setting),
            "top": lambda _: _topk(setting),
        }
        self._setting = setting
        self._matcher = Matcher(
            measure=setting.measure, threshold=setting.threshold, lateness=setting.lateness, engines=self._engines
        )

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription."""
        self.add_many([Addition(ordinal, subscription, at)])

    def add_many(self, additions: Sequence[Addition]) -> None:
        """Hold subscriptions under the ordinals given."""
        for ordinal, subscription, _ in additions:
            self.register(ordinal, subscription)
        subscriptions = [addition.subscription for addition in additions]
        self._matcher.add_many(subscriptions, [a.at for a in additions], numbers=[a.ordinal for a in additions])

    def remove(self, ordinal: int) -> None:
        """Forget a subscription."""
        self._matcher.remove(self.unregister(ordinal).id)

    def find(self, event: Event, at: int) -> EngineResult:
        """Return the subscriptions that the event matches on arrival."""
        _, ordinals, scores, _ = self.match_batch([event], [at])
        return EngineResult(ordinals, scores)

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """Return the matches of an event."""
        return self._numbered(self._matcher.match(event, at))

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """Return the matches of many events."""
        batch = self._matcher.match_batch(events, at)
        numbers = batch.subscription_numbers[batch.subscription_index].astype(np.int64)
        counts = np.bincount(batch.event_index, minlength=len(events)).astype(np.int64)
        promoted = tuple(Promotion(p.event_index, p.match, p.number) for p in batch.promoted)
        return EngineBatchResult(counts, numbers, batch.score, promoted)

    def advance(self, now: int) -> list[tuple[int, Match]]:
        """Let time pass."""
        return self._numbered(self._matcher.advance(now))

    def withdraw(self, event_id: str) -> list[tuple[int, Match]]:
        """Take an event back."""
        return self._numbered(self._matcher.withdraw(event_id))

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Explain why the event does or does not match a subscription."""
        return self._matcher.explain(event, self.subscriptions[ordinal].id, at)

    def save(self, folder: Path) -> None:
        """Save the matcher."""
        self._matcher.save(folder / "matcher")

    def load(self, folder: Path) -> None:
        """Go on with the matcher that was saved."""
        before = self._matcher
        self._matcher = Matcher.load(folder / "matcher", measure=self._setting.measure, engines=self._engines)
        assert {s.id for s in before.subscriptions()} == {s.id for s in self._matcher.subscriptions()}

    def _numbered(self, matches: Sequence[Match]) -> list[tuple[int, Match]]:
        ordinals = {subscription.id: ordinal for ordinal, subscription in self.subscriptions.items()}
        return [(ordinals[match.subscription_id], match) for match in matches]


CONTENDERS: Final[Mapping[str, Contender]] = MappingProxyType(
    {
        "automaton": Contender(("pattern",), partial(_patterns, "automaton")),
        "bitmap": Contender(("exact",), lambda _: BitmapEngine()),
        "thematic": Contender(("approximate",), _thematic),
        "topk": Contender(("top",), _topk),
        "bit-planes": Contender(("interest",), lambda _: InterestBitmapEngine()),
        "hybrid": Contender(("statements",), _statements, 400),
        "near by mvr-tree": Contender(("near",), partial(_near, "mvr-tree"), 400),
        "alerts": Contender(("alert",), _alerts, 120),
        "matcher": Contender(get_args(Kind), MatcherEngine, 400),
        "bitmap of small blocks": Contender(("exact",), _small_blocks),
        "thematic, exact": Contender(("exact", "approximate"), _thematic, 120),
        "thematic that forgets": Contender(("approximate",), partial(_thematic, cache_bytes=2**14), 120),
        "thematic by meaning": Contender(("approximate",), _thematic, 40, by_meaning=True),
        "hybrid by meaning": Contender(("statements",), _statements, 40, by_meaning=True),
        "sgim": Contender(("exact", "interest"), lambda _: SgimEngine()),
        "forest": Contender(("exact",), lambda _: ForestEngine()),
        "tree": Contender(("interest",), lambda _: TreeEngine()),
        "rapid": Contender(("interest",), lambda _: RapidEngine()),
        "rapid-modified": Contender(("interest",), lambda _: ModifiedRapidEngine()),
        "patterns by mvr-tree": Contender(("pattern",), partial(_patterns, "mvr-tree"), 120),
        "patterns by r-tree": Contender(("pattern",), partial(_patterns, "r-tree"), 120),
        "near by r-tree": Contender(("near",), partial(_near, "r-tree"), 120),
    }
)


@lru_cache(maxsize=256)
def growing_vocabulary(step: int) -> GeneratorVocabulary:
    """Return the vocabulary of a step: words that no step before had, and those of the last few steps.

    Names, values and subjects grow in turn, alone and together (`PHASE`), so that a table that is kept by one of them
    is outgrown while the others stand still. A few words stay for good, so that old and new subscriptions meet the same
    events. The words depend on the step alone: a comparison can be resumed, and an event can be drawn for the
    subscriptions of an earlier step.

    >>> new = set(growing_vocabulary(8).predicates) - set(growing_vocabulary(7).predicates)
    >>> new, growing_vocabulary(8).rooms[0]
    ({'<http://e.org/p8>'}, 'room 8')
    """
    phase, begun = step // PHASE % 4, step - step % PHASE
    name = begun if phase == 2 else step
    value = begun if phase == 1 else step
    subject = step if phase == 0 else begun
    names, values, subjects = (tuple(range(n, max(-1, n - LIFETIME), -1)) for n in (name, value, subject))
    symbols = _unit_symbols()
    whole = f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return GeneratorVocabulary(
        attributes=(
            *_each(names, "attr{0}", "Temp {0}", "x{0}[].f{0}", "x{0}.f{0}"),
            f"t{name}_c",
            f"when{name}",
            "a",
            "b",
        ),
        spellings=tuple((f"attr{n}", f" ATTR{n}") for n in names),
        list_attribute=f"x{name}",
        fields=_each(names, "f{0}"),
        ranked=(f"attr{name}", "b", f"attr{max(0, name - 1)}", f"Temp {name}"),
        texts=(
            *_each(values, "text {0}", "a/t{0}", "a/t{0}/b", "{0}"),
            f"{value} °F",
            _day(value),
            f"word{value}s",
            "on",
            "true",
            "",
        ),
        fragments=(*_each(values, "ext {0}", "{0}", "t{0}"), "o", "word"),
        units=(*(symbols[n % len(symbols)] for n in values), "degC", "degF", "s", "ms"),
        unknown_units=_each(values, "unit{0}"),
        moments=(*(_day(n) for n in values), f"{_day(value)}T12:00:00Z"),
        topics=(*_each(values, "a/t{0}"), "a"),
        filters=(*_each(values, "a/t{0}/+", "a/t{0}/#", "+/t{0}"), "#"),
        themes=((), *((f"theme {n}",) for n in names), (f"theme {name}", "energy")),
        properties=(*_each(names, "prop{0}"), "type"),
        resources=(*_each(values, "Resource {0}", "resources {0}"), "Spain"),
        subjects=(*_each(subjects, "<http://e.org/s{0}>"), "_:n"),
        predicates=_each(names, "<http://e.org/p{0}>"),
        near_predicates=_each(names, "<http://e.org/p_{0}>", "<http://e.org/ps{0}>"),
        objects=(*_each(values, "<http://e.org/o{0}>", '"o {0}"@en'), whole),
        vector_lengths=(*(1 + 7 * n % LONGEST_VECTOR for n in subjects), 5, 64, 65),
        rooms=(*_each(values, "room {0}"), f"Room  {value}", "hall"),
        sources=(*_each(subjects, "source {0}"), "s1", None),
        offset=3 * value % 1_000,
        variables=step // (4 * PHASE) % 3,  # where all is constant, what leads on from one constant grows by itself
    )


def _each(steps: Sequence[int], *texts: str) -> tuple[str, ...]:
    return tuple(text.format(step) for step in steps for text in texts)


@cache
def _unit_symbols() -> tuple[str, ...]:
    return tuple(unit.symbol for unit in all_units())


def _day(step: int) -> str:
    return (date(2024, 5, 1) + timedelta(days=step % 10_000)).isoformat()


@lru_cache(maxsize=256)
def semantic_vocabulary(step: int) -> GeneratorVocabulary:
    """Return `growing_vocabulary` with words that the embedded space knows, others at every step.

    >>> len(set(semantic_vocabulary(8).texts) - set(semantic_vocabulary(7).texts)) > 2
    True
    """
    from likewise.semantics.library import load_space

    files = load_space().files

    def word(number: int) -> str:
        return files.term(number * 7_919 % files.manifest.counts.terms)  # a prime: neighbours begin with other letters

    steps = range(step, max(-1, step - LIFETIME), -1)
    return growing_vocabulary(step)._replace(
        attributes=(*(f"{word(n)} {word(n + 1)}" for n in steps), f"{word(step)}_temp_c", f"{word(step)}On", "status"),
        spellings=tuple((f"{word(n)} {word(n + 1)}", f"{word(n)}_{word(n + 1)}") for n in steps),
        texts=(
            *(f"{word(n)} {state}" for n in steps for state in ("", "started", "not open")),
            f"{word(step)} {word(step + 1)} {step}",
            f"T{step}",
            "on",
            "off",
            "true",
        ),
        themes=((), *((word(n),) for n in steps), (word(step), "energy")),
        properties=(*(f"{word(n)} {word(n + 1)}" for n in steps), "type"),
        resources=(*(f"{word(n)} {state}" for n in steps for state in ("started", "stopped")), "on"),
        predicates=tuple(f"<http://e.org/{word(n)}_{word(n + 1)}>" for n in steps),
        objects=tuple(f'"{word(n)} {state}"@en' for n in steps for state in ("started", "stopped")),
    )


def semantic_settings(lateness: int) -> OracleSettings:
    """Return the measures of the embedded space, for engine and reference alike."""
    from likewise.semantics.library import load_space

    space = load_space()
    return OracleSettings(
        measure=space.measure(), jcn=space.measure("jcn"), esa=space.measure("esa"), lateness=lateness
    )


class GrowingEnginePair(EnginePair):
    """An engine and the reference, told words that are new at every step."""

    def __init__(self, contender: Contender, setting: OracleSettings, first_step: int) -> None:
        super().__init__(lambda: contender.make(setting), contender.kinds, setting)
        self._words = semantic_vocabulary if contender.by_meaning else growing_vocabulary
        self.first_step = self.step = first_step
        self.matched = 0

    def vocabulary(self, choice: Choice) -> GeneratorVocabulary:
        """Return the vocabulary of this step, or of an earlier one, so that older subscriptions match, too."""
        back = choice.pick((0, 0, 0, 1, 2, 5, 40))
        return self._words(max(self.first_step, self.step - choice.integer(0, back)))

    def remove_some(self, choice: Choice, share: int) -> None:
        """Remove one in `share` of the subscriptions, or all that are as old as the oldest half."""
        ordinals = list(self.held)
        for ordinal in (
            ordinals[: len(ordinals) // 2] if share == 0 else ordinals[choice.integer(0, share - 1) :: share]
        ):
            self.forget(ordinal)
        self.check_size()

    def compare_batch(self, events: list[Event], at: list[int], *, as_table: bool = False) -> int:
        """Compare a batch; return how many matched on arrival."""
        matches = super().compare_batch(events, at, as_table=as_table)
        self.matched += matches
        return matches

    def _compare(
        self, event: Event | None, expected: list[tuple[int, Match]], actual: list[tuple[int, Match]], call: str
    ) -> None:
        self.matched += len(expected)
        if len(self.kinds) > 1:  # engines of different kinds answer one after the other
            expected, actual = (sorted(hits, key=lambda hit: hit[0]) for hits in (expected, actual))
        super()._compare(event, expected, actual, call)


def compare_growing(
    name: str, seed: int, steps: int = STEPS, live: int = 40, *, setting: OracleSettings | None = None
) -> GrowingEnginePair:
    """Run one story of calls on an engine and the reference, with new words at every step.

    Args:
        name: one of `CONTENDERS`.
        seed: what the calls are drawn from, and where in the growing vocabulary the story begins.
        steps: how many calls.
        live: the most subscriptions held at once.
        setting: measures, threshold and lateness; chosen by the seed if None.

    Returns:
        The pair, with the number of matches that were compared.

    Raises:
        Difference: an answer that differs from the reference's.

    >>> compare_growing("bit-planes", seed=1, steps=40).matched > 0
    True
    """
    contender, choice = CONTENDERS[name], SeededChoice(seed)
    lateness = (0, 0, 3)[seed % 3]
    if setting is None:
        setting = semantic_settings(lateness) if contender.by_meaning else OracleSettings(lateness=lateness)
    pair = GrowingEnginePair(contender, setting, choice.integer(0, 5_000))
    live = min(live, contender.most)
    pair.add_many(choice, live // 2)
    for _ in range(steps):
        pair.step += 1
        _call(pair, choice, live)
    return pair


def _call(pair: GrowingEnginePair, choice: Choice, live: int) -> None:
    what, room = choice.integer(0, 99), live - len(pair.held)
    if not pair.held or (what < 26 and room > 0):
        if what % 3:
            pair.add(choice)
        else:
            pair.add_many(choice, min(room, choice.pick((1, 3, 8, live // 4))))
    elif what < 32:
        pair.remove(choice)
    elif what < 34:
        pair.remove_some(choice, choice.pick((2, 3, 0, 1)))
    elif what < 40:
        pair.find(choice)
    elif what < 62:
        pair.match(choice)
    elif what < 84:
        pair.match_batch(choice)  # of events, or of an Arrow table of them
    elif what < 88:
        pair.advance(choice)
    elif what < 92:
        pair.withdraw(choice)
    elif what < 96:
        pair.explain(choice)
    elif what < 98:
        pair.save_and_load()
    else:
        pair.refuse()


# -- at length --------------------------------------------------------------------------------------------------------


class GrowingProgress(msgspec.Struct):
    """The progress of the runs: the next one, steps and matches compared, and the runs that differed."""

    story: int = 0
    steps: int = 0
    matches: int = 0
    seconds: float = 0.0
    wrong: list[str] = []


def run_stories(steps: int, folder: Path, minutes: float | None = None) -> GrowingProgress:
    """Run stories until so many steps are compared, or the minutes are over; resume where the folder says.

    A story that differs is written to `wrong.txt` with the call that repeats it, and the next one is run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    at = folder / "progress.json"
    progress = msgspec.json.decode(at.read_bytes(), type=GrowingProgress) if at.is_file() else GrowingProgress()
    names = list(CONTENDERS)
    end = None if minutes is None else time.monotonic() + 60 * minutes
    while progress.steps < steps and (end is None or time.monotonic() < end):
        turn, place = divmod(progress.story, len(names))
        name, live = names[place], LIVE[turn % len(LIVE)]
        if CONTENDERS[name].by_meaning and turn % MEANING_ROUNDS:
            progress.story += 1
            continue
        call = f"compare_growing({name!r}, {progress.story}, live={live})"
        begun = time.monotonic()
        try:
            progress.matches += compare_growing(name, progress.story, live=live).matched
        except Exception as error:  # whatever it is, it is a fault of the engine or of the reference
            progress.wrong.append(f"{call}: {type(error).__name__}")
            with (folder / "wrong.txt").open("a") as file:
                file.write(f"{call}\n{traceback.format_exc()}\n")
        progress.story += 1
        progress.steps += STEPS
        progress.seconds += time.monotonic() - begun
        written = at.with_suffix(".new")
        written.write_bytes(msgspec.json.encode(progress))
        written.replace(at)
        print(
            f"{progress.steps:,} of {steps:,} steps, {progress.matches:,} matches, {len(progress.wrong)} wrong; "
            f"{name}, {live} live: {time.monotonic() - begun:.1f} s",
            flush=True,
        )
    return progress


def main() -> None:
    """Run the stories with checked bounds; exit code 1 if anything differed."""
    parser = argparse.ArgumentParser(description="Compare every engine with the reference while the vocabulary grows.")
    parser.add_argument("steps", type=int, nargs="?", default=100_000)
    parser.add_argument("--folder", type=Path, default=Path("build/growing"), help="progress and differences")
    parser.add_argument("--minutes", type=float, help="stop after so long; the next run resumes")
    options = parser.parse_args()
    if os.environ.get(CHECKED) != "1":  # numba reads it when it is imported, which it is by now
        os.execve(sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]], {**os.environ, CHECKED: "1"})
    progress = run_stories(options.steps, options.folder, options.minutes)
    print(f"{progress.steps:,} steps and {progress.matches:,} matches compared, {len(progress.wrong)} stories wrong")
    if progress.wrong:
        sys.exit("\n".join(progress.wrong))


if __name__ == "__main__":
    main()
