"""Every recipe of the guide is told to a matcher, and says what the guide says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import likewise as lw
from likewise.model.time import duration

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "recipes.md").read_text(encoding="utf-8")
RECIPES = re.split(r"^## ", PAGE, flags=re.M)[1:]


def test_there_are_fifteen() -> None:
    assert len(RECIPES) == 15


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.splitlines()[0])
def test_a_recipe_says_what_the_guide_says(recipe: str) -> None:
    text = re.search(r"```text\n(.*)\n```", recipe)
    assert text is not None
    matcher = lw.Matcher()
    matcher.add(lw.parse(text[1], id="s"), at=0)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in recipe.splitlines() if line[:2] == "| "]
    assert len(rows) > 2
    for number, (when, source, comes, said) in enumerate(rows[1:]):
        at = duration(when)
        if comes:
            event = lw.event(json.loads(comes.strip("`")), source=source, id=f"e{number}")
            found = [match.cause for match in matcher.match(event, at=at)]
        else:
            found = [match.cause for match in matcher.advance(at)]
        assert found == ([said] if said else []), f"row {number + 1} of {recipe.splitlines()[0]}"
