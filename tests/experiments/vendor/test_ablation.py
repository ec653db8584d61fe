"""What is left out is left out, and nothing else changes."""

from __future__ import annotations

from likewise.semantics.library import load_space
from likewise.semantics.measure import Term
from likewise_experiments.vendor.ablation import EVERYTHING, variants


def test_every_variant_differs_from_the_whole_somewhere_and_the_space_stays_as_it_was() -> None:
    """Each part left out shows on names that need it."""
    space = load_space()
    asked = [
        Term(t) for t in ("relative humidity", "battery level", "outdoor temperature", "door open", "air pressure")
    ]
    seen = [
        Term("RH", kind="number"),
        Term("battery.status", kind="text"),
        Term("door_open_count", kind="number"),
        Term("value", kind="number", unit="hPa", context=("pressure",)),
        Term("device.temperature.value", kind="number"),
        Term("humidity level", kind="number"),
        Term("BatV", kind="number"),
        Term("temp_hum_c", kind="number"),
    ]
    before = space.measure("combine").matrix(asked, seen).tolist()
    found = {name: measure.matrix(asked, seen).tolist() for name, measure in variants(space)}
    whole = found.pop(EVERYTHING)
    assert whole == before == space.measure("combine").matrix(asked, seen).tolist()
    assert [name for name, scores in found.items() if scores == whole] == []
