"""The vendor benchmark: reading, ranking, decisions, the feedback curve."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from likewise.errors import ArtefactMissing, FormatError
from likewise.testing import TableMeasure
from likewise_experiments.vendor.benchmark import (
    attributes,
    decide,
    is_held_out,
    rank,
    read_benchmark,
)
from likewise_experiments.vendor.feedback_curve import feedback_curve
from likewise_experiments.vendor.yardsticks import CharacterGrams, WordOverlap

EVENTS = [
    {"id": "1", "vendor": "a", "data": {"tmp": 21.0, "bat": 3.1}},
    {"id": "2", "vendor": "b", "data": {"air_temp_f": 90.0, "volts": 2.9}},
    {"id": "3", "vendor": "b", "data": {"nothing": None}},
]
GOLD = (
    "vendor\tpath\tlabel\tunit\n"
    "a\ttmp\tair temperature\tdegC\na\tbat\tbattery voltage\tV\n"
    "b\tair_temp_f\tair temperature\tdegF\nb\tvolts\tbattery voltage\tV\n"
)
PHRASES = "phenomenon\tsubscription\nair temperature\twarmth\nbattery voltage\tcell\nnoise\tloudness\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The three files of a tiny benchmark."""
    events, gold, phrases = tmp_path / "events.jsonl.gz", tmp_path / "gold.tsv", tmp_path / "phrases.tsv"
    with gzip.open(events, "wt") as out:
        out.writelines(json.dumps(line) + "\n" for line in EVENTS)
    gold.write_text(GOLD)
    phrases.write_text(PHRASES)
    return events, gold, phrases


PERFECT = TableMeasure(
    {("warmth", "tmp"): 0.9, ("warmth", "air_temp_f"): 0.8, ("cell", "bat"): 0.9, ("cell", "volts"): 0.3}
)


def test_a_perfect_order_scores_one_and_phrases_without_an_answer_are_left_out(files: tuple[Path, Path, Path]) -> None:
    """Maximal F1 looks at the order alone; nobody measures noise here."""
    found = rank(read_benchmark(*files), PERFECT)
    assert found.maximal_f1 == 1.0
    assert found.average_precision == 1.0
    assert found.phrases == 2
    assert found.by_vendor == {"a": 1.0, "b": 1.0}


def test_decisions_count_what_the_threshold_misses(files: tuple[Path, Path, Path]) -> None:
    """`volts` stays below the threshold: three of four pairs are found, none wrongly."""
    found = decide(read_benchmark(*files), PERFECT, 0.5, numeric=False)
    assert (found.right, found.wrong, found.missed) == (3, 0, 1)


def test_numeric_decisions_compare_readings_in_their_labelled_units(files: tuple[Path, Path, Path]) -> None:
    """90 degF is above the median of 21 degC and 90 degF; 21 degC is not."""
    found = decide(read_benchmark(*files), PERFECT, 0.5, numeric=True)
    assert (found.right, found.wrong, found.missed) == (2, 0, 0)


def test_events_without_a_reading_are_passed_over(files: tuple[Path, Path, Path]) -> None:
    """An empty example is no event; a labelled attribute counts once for each vendor."""
    benchmark = read_benchmark(*files)
    assert len(benchmark.events) == 2
    assert [(a.vendor, a.term.text) for a in attributes(benchmark)] == [
        ("a", "tmp"),
        ("a", "bat"),
        ("b", "air_temp_f"),
        ("b", "volts"),
    ]


def test_setting_vendors_aside_does_not_depend_on_the_others() -> None:
    """A vendor is held out by its own name."""
    names = [f"vendor {n}" for n in range(300)]
    share = sum(map(is_held_out, names)) / len(names)
    assert 0.25 < share < 0.42
    assert [is_held_out(n) for n in names] == [is_held_out(n) for n in names]


def test_judgements_on_some_vendors_help_on_others(files: tuple[Path, Path, Path]) -> None:
    """The same name at another vendor is found after it was judged once."""
    events, gold, phrases = files
    with gzip.open(events, "wt") as out:
        out.writelines(json.dumps({"vendor": v, "data": {"Bat_V": 3, "x": 1}}) + "\n" for v in ("a", "b"))
    gold.write_text(
        "vendor\tpath\tlabel\tunit\n" + "".join(f"{v}\tBat_V\tbattery voltage\tV\n{v}\tx\tother\tnone\n" for v in "ab")
    )
    benchmark = read_benchmark(events, gold, phrases)
    weak = TableMeasure({("cell", "bat_v"): 0.45, ("cell", "x"): 0.4})
    before, after = feedback_curve(benchmark.part(["a"]), benchmark.part(["b"]), weak, 0.5, steps=(0, 1))
    assert before.decision_f1 == 0.0
    assert after.decision_f1 == 1.0


def test_yardsticks_split_identifiers(files: tuple[Path, Path, Path]) -> None:
    """Word overlap sees `air_temp_f` as words; character n-grams see into words."""
    benchmark = read_benchmark(*files)
    for measure in (WordOverlap(), CharacterGrams()):
        assert 0 <= rank(benchmark, measure).maximal_f1 <= 1


def test_missing_and_malformed_files_are_named(files: tuple[Path, Path, Path]) -> None:
    """The message says which file and what it should hold."""
    events, gold, phrases = files
    with pytest.raises(ArtefactMissing, match="absent"):
        read_benchmark(events, gold.with_name("absent.tsv"), phrases)
    gold.write_text("a\tb\n1\t2\n")
    with pytest.raises(FormatError, match="vendor, path, label, unit"):
        read_benchmark(events, gold, phrases)


def test_the_most_doubtful_attributes_are_asked_about_first_and_answers_hold() -> None:
    """A confirmed attribute is matched by what it was said to be; what nobody asks for stays as it is."""
    import likewise as lw
    from likewise_experiments.vendor.benchmark import Benchmark, Gold, Phrase, VendorEvent
    from likewise_experiments.vendor.confirming import confirmation_curve, questions

    names = {"temp": "air temperature", "xq7": "relative humidity", "x_1": "other"}
    small = Benchmark(
        tuple(VendorEvent("a", lw.event(dict.fromkeys(names, 20.0 + n), id=f"a{n}")) for n in range(3)),
        {("a", name): Gold(label, "none") for name, label in names.items()},
        (Phrase("air temperature", "air temperature"), Phrase("relative humidity", "relative humidity")),
    )
    space = lw.load_space()
    measure = space.measure("sameness")
    assert len(questions(small, measure, space.calibration.probability["sameness"])) == 3
    found = confirmation_curve(small, measure, 0.5, space.calibration.probability["sameness"], (0,))
    assert [each.confirmations for each in found] == [0, 3]
    assert found[0].recall < found[1].recall == 1.0
