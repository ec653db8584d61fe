"""How the tests are dealt to workers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, together

HEAVY = {"spark": re.compile(r"\bspark: SparkSession\b"), "chromium": re.compile(r"\bCHROMIUM\b|\bbrowser: Browser\b")}


@pytest.mark.parametrize("name", HEAVY)
def test_what_is_heavy_is_started_by_one_worker(name: str) -> None:
    """Every file that starts Spark or a browser is dealt together with the others that do."""
    files = [path for path in sorted(Path(ROOT, "tests").rglob("test_*.py")) if path != Path(__file__)]
    heavy = [str(path.relative_to(ROOT)) for path in files if HEAVY[name].search(path.read_text(encoding="utf-8"))]
    assert heavy
    assert {together(f"{path}::test_it") for path in heavy} == {name}


def test_a_file_stays_with_one_worker() -> None:
    """Tests of a file may go on where the one before ended."""
    assert together("tests/a/test_b.py::test_c[x::y]") == together("tests/a/test_b.py::TestD::test_e")
    assert together("tests/a/test_b.py::test_c") != together("tests/a/test_c.py::test_c")
