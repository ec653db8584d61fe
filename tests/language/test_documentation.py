"""Every example of docs/language.md does what the page says."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from likewise import defaults
from likewise.cli.main import run
from likewise.language import parse, read_subscriptions, subscription_text
from likewise.language.prefixes import PREFIXES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
TEXTS = [block for kind, block in BLOCKS if kind == "text"]
COMMANDS = [
    tuple(part.split("\n", 1)) for kind, block in BLOCKS if kind == "console" for part in block.split("$ ") if part
]


@pytest.mark.parametrize("block", TEXTS)
def test_every_subscription_of_the_page_parses_and_prints_back(block: str) -> None:
    """Each text block is a file of subscriptions."""
    found = read_subscriptions(block)
    assert found
    for subscription in found:
        assert parse(subscription_text(subscription)) == subscription


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_every_command_of_the_page_prints_what_it_shows(
    command: str, shown: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Output and errors, without regard to white space and rules."""
    monkeypatch.setenv("COLUMNS", "120")
    program, *arguments = shlex.split(command)
    assert program == "likewise"
    code = run(arguments)
    out, err = capfd.readouterr()
    assert code == (2 if shown.startswith("error") else 0)
    assert re.sub(r"[\s─]+", " ", out + err).strip() == re.sub(r"[\s─]+", " ", shown).strip()


def test_the_pages_python_runs() -> None:
    """The Python examples are doctests."""
    source = "".join(block for kind, block in BLOCKS if kind == "python")
    test = doctest.DocTestParser().get_doctest(source, {}, "language.md", None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_page_names_every_prefix_and_limit() -> None:
    """What the page lists is what the code has."""
    for prefix in PREFIXES:
        assert f"`{prefix}`" in PAGE
    for limit in (
        defaults.MAX_SUBSCRIPTION_LENGTH,
        defaults.MAX_TERM_LENGTH,
        defaults.MAX_PREDICATES,
        defaults.MAX_CONJUNCTIONS,
        defaults.MAX_NESTING,
        defaults.MAX_IN_VALUES,
        defaults.MAX_VECTOR,
    ):
        assert f"| {limit:,} |" in PAGE
