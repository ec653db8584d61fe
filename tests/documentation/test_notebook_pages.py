"""Notebooks are pages of the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tools.notebook_page import notebook_page

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"


def test_a_page_has_text_code_and_what_is_shown_below_it() -> None:
    """HTML where the notebook has it; colours of a terminal are left out; fences in the text stay whole."""
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text."]},
        {"cell_type": "code", "source": ["x = 1"], "outputs": [{"text": ["\x1b[1mone\x1b[0m\n"]}]},
        {"cell_type": "code", "source": ["y"], "outputs": [{"data": {"text/plain": ["p"], "text/html": ["<b>h</b>"]}}]},
        {"cell_type": "code", "source": ["z"], "outputs": [{"data": {"text/plain": ["```"]}}]},
    ]
    page = notebook_page(json.dumps({"cells": cells}))
    assert page == (
        "# Title\nText.\n\n```python\nx = 1\n```\n\n```text\none\n```\n\n```python\ny\n```\n\n"
        "```{raw} html\n<b>h</b>\n```\n\n```python\nz\n```\n\n````text\n```\n````\n"
    )


def test_every_notebook_is_a_page_and_in_the_contents() -> None:
    contents = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.ipynb"):
        assert re.search(rf"^{path.stem}$", contents, re.MULTILINE), path.name
        assert notebook_page(path.read_text(encoding="utf-8")).startswith("# ")
