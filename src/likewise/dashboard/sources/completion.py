"""The stream's own words, offered while somebody types a subscription."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from likewise.api.sources import AttributeSummary

MOST: Final = 8  # words offered at once
_ATTRIBUTE: Final = re.compile(r"(?:^|[{,(]|\bor\b|\bnot\b)\s*\"?([^{},()<>=!~\"]*)$")
_VALUE: Final = re.compile(r"([^{},()<>=!~\"]+?)\"?\s*~?\s*=\s*\"?([^{},()<>=!~\"]*)$")


def complete_text(text: str, words: Sequence[AttributeSummary]) -> list[tuple[str, str]]:
    """Return completions of a text: each as it is shown, and the whole text with it.

    >>> mode = AttributeSummary("mode", values=("eco", "boost"))
    >>> known = [AttributeSummary("temperature", "degC", ("number",)), mode]
    >>> complete_text("{te", known)
    [('temperature', '{temperature')]
    >>> complete_text("{temperature > 20, mode = b", known)
    [('boost', '{temperature > 20, mode = boost')]
    >>> complete_text("{temperature > 2", known)
    []
    """
    value = _VALUE.search(text)
    if value is not None:
        name, begun = value.group(1).strip().casefold(), value.group(2).strip().casefold()
        known = [each for word in words if word.attribute.casefold() == name for each in word.values]
        names_or_values = [
            each for each in dict.fromkeys(known) if begun in each.casefold() and each.casefold() != begun
        ]
        start = value.start(2)
        return [(each, text[:start].rstrip('"') + _quoted(each)) for each in names_or_values[:MOST]]
    attribute = _ATTRIBUTE.search(text)
    if attribute is None:
        return []
    begun = attribute.group(1).strip().casefold()
    names = dict.fromkeys(word.attribute for word in words)
    names_or_values = [each for each in names if begun in each.casefold() and each.casefold() != begun]
    names_or_values.sort(key=lambda each: not each.casefold().startswith(begun))
    start = attribute.start(1)
    return [(each, text[:start].rstrip('"') + _quoted(each)) for each in names_or_values[:MOST]]


def suggest_themes(words: Sequence[AttributeSummary]) -> list[str]:
    """Return theme tags to propose: the meanings of the stream's attributes, the most frequent first.

    >>> from likewise.api.sources import AttributeInterpretation
    >>> water = AttributeInterpretation("water temperature", 0.9)
    >>> suggest_themes([AttributeSummary("t", understood=water), AttributeSummary("x")])
    ['temperature']
    """
    heads = dict.fromkeys(word.understood.means.split()[-1] for word in words if word.understood.means)
    return [each for each in heads if each.isalpha()][:MOST]


def _quoted(word: str) -> str:
    """Quote an attribute as the language takes it."""
    plain = re.fullmatch(r"[A-Za-z_][\w./-]*( [A-Za-z_][\w./-]*)*", word) is not None
    return word if plain and not re.search(r"\b(or|not|some)\b", word) else '"' + word.replace('"', "") + '"'
