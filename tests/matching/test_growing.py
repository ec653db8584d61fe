"""Every engine answers as the reference does while its vocabulary grows, and no kernel reads behind an array's end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from likewise.kernels.sizes import KernelSizeError
from likewise.matching.graphs.triple_automaton_table import AutomatonTable
from likewise.testing.generators import Choice, GeneratorVocabulary, SeededChoice
from likewise.testing.oracle import Mismatch
from tests.matching import growing
from tests.matching.growing import (
    CONTENDERS,
    PHASE,
    GrowingEnginePair,
    GrowingProgress,
    compare_growing,
    growing_vocabulary,
    run_stories,
)

CHECKED = """
import numpy as np
from likewise.matching.graphs import triple_automaton_table as table
from tests.matching.growing import compare_growing

for name in ("automaton", "bit-planes"):
    assert compare_growing(name, seed=3, steps=100).matched > 0
widen, put_role = table.AutomatonTable._widen, table.AutomatonTable.put_role

def put_role_alone(self, role, label, target):
    widen(self, label)
    put_role(self, role, label, target)

table.AutomatonTable._widen = lambda self, label: None
table.AutomatonTable.put_role = put_role_alone
table.check_ids = lambda *_: None
try:
    compare_growing("automaton", seed=4, steps=160)
except IndexError as error:
    print("checked:", error)
"""


@pytest.mark.parametrize("name", CONTENDERS)
def test_new_words_at_every_step_change_no_answer(name: str) -> None:
    """Over add, add_many, remove, find, match, batches, Arrow tables, advance, withdraw, explain, save and load."""
    by_meaning = CONTENDERS[name].by_meaning
    pair = compare_growing(name, seed=2, steps=40 if by_meaning else 120, live=16 if by_meaning else 40)
    assert pair.matched > 0


@pytest.mark.parametrize("name", ["automaton", "bitmap", "bit-planes"])
def test_many_subscriptions_change_no_answer_either(name: str) -> None:
    """As many as make tables be built anew, blocks be merged and planes be joined."""
    assert compare_growing(name, seed=4, steps=60, live=1_000).matched > 0


def test_every_role_grows_and_some_grow_while_others_stand_still() -> None:
    """A table that is kept by values is outgrown whether or not another, kept by names, is made wider meanwhile."""
    seen: dict[str, set[object]] = {name: set() for name in GeneratorVocabulary._fields}
    grown: dict[str, list[int]] = {name: [] for name in GeneratorVocabulary._fields}
    for step in range(4 * PHASE):
        for name, words in growing_vocabulary(step)._asdict().items():
            now = set(words) if isinstance(words, tuple) else {words}
            if now - seen[name]:
                grown[name].append(step // PHASE)
            seen[name] |= now
    assert {name for name, phases in grown.items() if phases.count(0) < PHASE - 6} == {"variables"}  # no words
    alone = {name: {phase for phase in range(4) if grown[name].count(phase) > 1} for name in ("predicates", "objects")}
    assert alone == {"predicates": {0, 1, 3}, "objects": {0, 2, 3}}


def test_a_checked_kernel_reports_a_table_that_was_not_widened() -> None:
    """In a process of its own: numba is told to check bounds when it is imported. Kept kernels are others, too."""
    told = {**os.environ, "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run([sys.executable, "-c", CHECKED], env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "checked: index is out of bounds" in done.stdout


# -- sizes are checked before a kernel runs ---------------------------------------------------------------------------


def test_a_table_that_was_not_widened_is_an_error_before_a_kernel_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that growing words were made for, made again: subjects alone give their label a column."""
    widen, put_role = AutomatonTable._widen, AutomatonTable.put_role

    def put_role_alone(self: AutomatonTable, role: int, label: int, target: int) -> None:
        widen(self, label)
        put_role(self, role, label, target)

    monkeypatch.setattr(AutomatonTable, "_widen", lambda self, label: None)
    monkeypatch.setattr(AutomatonTable, "put_role", put_role_alone)
    with pytest.raises(KernelSizeError, match=r"labels of triples, columns of roles: ids from 0 to 32, .* 28 places"):
        compare_growing("automaton", seed=4, steps=160)


def narrow_automaton(engine: Any) -> None:
    engine._index._table._roles = engine._index._table._roles[:, :1]


def narrow_bitmap(engine: Any) -> None:
    engine._where = engine._book.where = np.full(1, -1, np.int32)


def narrow_thematic(engine: Any) -> None:
    engine.lists.covered.view()[:] = len(engine.asked) + 1


def narrow_planes(engine: Any) -> None:
    for _, planes in engine._lengths.values():
        planes._live = planes._live[:0]


def narrow_window(engine: Any) -> None:
    for family in engine._families.values():
        family._start.view()[:] = len(family._entries[0])
        family._matrix = family._matrix[:0]


@pytest.mark.parametrize(
    ("name", "narrow"),
    [
        ("automaton", narrow_automaton),
        ("bitmap", narrow_bitmap),
        ("thematic", narrow_thematic),
        ("bit-planes", narrow_planes),
        ("topk", narrow_window),
    ],
)
def test_an_array_that_is_too_small_ends_no_process(name: str, narrow: Any) -> None:
    """Whatever table it is, the batch fails with an error that names it, and the process lives."""
    pair = compare_growing(name, seed=1, steps=30)
    choice = SeededChoice(9)
    drawn = [pair.draw_event(choice) for _ in range(40)]
    batch = [event for event, _ in drawn], [at for _, at in drawn]
    pair.engine.match_batch(*batch)
    narrow(pair.engine)
    with pytest.raises(KernelSizeError, match="please report this"):
        pair.engine.match_batch(*batch)


# -- the long form ----------------------------------------------------------------------------------------------------


def test_the_long_form_resumes_where_it_stopped_and_keeps_what_differed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A story that differs is counted and written down with the call that repeats it; the others go on."""

    class Forgetful(GrowingEnginePair):
        def find(self, choice: Choice) -> None:
            raise Mismatch("forgotten")

    small = {name: CONTENDERS[name] for name in ("bit-planes", "tree")}
    monkeypatch.setattr(growing, "CONTENDERS", small)
    first = run_stories(2 * growing.STEPS, tmp_path)
    assert (first.story, first.steps, first.wrong) == (2, 2 * growing.STEPS, [])
    assert msgspec.json.decode((tmp_path / "progress.json").read_bytes(), type=GrowingProgress) == first
    monkeypatch.setattr(growing, "GrowingEnginePair", Forgetful)
    second = run_stories(3 * growing.STEPS, tmp_path)
    assert (second.story, second.steps) == (3, 3 * growing.STEPS)
    assert second.wrong == ["compare_growing('bit-planes', 2, live=40): Mismatch"]
    assert "forgotten" in (tmp_path / "wrong.txt").read_text()
    assert run_stories(3 * growing.STEPS, tmp_path) == second


def test_what_takes_long_has_a_story_in_every_fourth_round(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The others have one in each, and stories keep their numbers."""
    run: list[tuple[str, int]] = []

    def compare(name: str, seed: int, live: int) -> GrowingEnginePair:
        run.append((name, seed))
        return compare_growing("bit-planes", seed, steps=1, live=live)

    monkeypatch.setattr(growing, "CONTENDERS", {name: CONTENDERS[name] for name in ("tree", "hybrid by meaning")})
    monkeypatch.setattr(growing, "compare_growing", compare)
    done = run_stories(7 * growing.STEPS, tmp_path)
    between = [("tree", number) for number in (2, 4, 6, 8)]
    assert run == [("tree", 0), ("hybrid by meaning", 1), *between, ("hybrid by meaning", 9)]
    assert (done.story, done.steps) == (10, 7 * growing.STEPS)


def test_a_matcher_is_compared_with_all_kinds_at_once() -> None:
    """Kinds share events, ordinals and windows of time, as in a broker."""
    pair = compare_growing("matcher", seed=5, steps=80)
    assert len({subscription.kind for subscription, _ in pair.held.values()}) > 3
