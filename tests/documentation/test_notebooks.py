"""The notebooks run, show what is stored below their cells, and say nothing of the machine they were run on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_stores(notebook: Path) -> None:
    """Each cell runs in a process of its own kind, in order, and shows the same as when it was written."""
    if "likewise.spark" in notebook.read_text(encoding="utf-8"):
        pytest.importorskip("pyspark")
    command = [sys.executable, str(ROOT / "tools" / "run_notebook.py"), str(notebook)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=850, check=False)
    assert done.returncode == 0, done.stderr


def test_a_notebook_that_shows_another_thing_is_refused(tmp_path: Path) -> None:
    """The runner itself can fail: a stored output that is not what the cell shows, and a path of this machine."""
    for source, stored in (("1 + 1", "3"), ("'/home/ann'", "'/home/ann'")):
        output = {
            "data": {"text/plain": [stored]},
            "execution_count": None,
            "metadata": {},
            "output_type": "execute_result",
        }
        cell: dict[str, Any] = {
            "cell_type": "code",
            "metadata": {},
            "source": [source],
            "outputs": [output],
            "execution_count": None,
        }
        path = tmp_path / "wrong.ipynb"
        path.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
        command = [sys.executable, str(ROOT / "tools" / "run_notebook.py"), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 1
        assert "cell 1 shows" in done.stderr
