"""Explanations of the score of two values: which number, direction, instance or state differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from likewise.semantics.concepts.values import kernels
from likewise.semantics.concepts.values.items import LexicalItem, directly_opposed
from likewise.semantics.concepts.values.terms import ValueTerm

_PLAIN: Final = {
    kernels.SPELLED: "the same word, written otherwise",
    kernels.STATES: "the same state",
    kernels.OTHER_STATE: "the opposite state",
    kernels.SAME_MEANING: "the same meaning",
    kernels.KIND_OF: "{seen} is a kind of {asked}",
    kernels.PART_OF: "{seen} is a part of {asked}",
    kernels.NEAR_BROADER: "{seen} is a slightly broader word than {asked}",
    kernels.SIBLINGS: "{asked} and {seen} are different kinds of one thing",
    kernels.WHOLE_OF: "{seen} is the whole, and just its part {asked} was asked for",
    kernels.FAR_BROADER: "{seen} is a much broader word than {asked}",
    kernels.UNRELATED_STATE: "the attribute does not say what {seen} means for {asked}",
    kernels.ACRONYM: "one is the other's initials",
    kernels.OTHER_HEAD: "one of {asked} and {seen} is only named after the other",
    kernels.NOT_YET: "one of {asked} and {seen} is still to come, the other has been done",
    kernels.OTHER_FORMULA: "another substance or size: {seen}, not {asked}",
}


def explain_reason(reason: int, query: ValueTerm, candidate: ValueTerm, texts: tuple[str, str]) -> str:
    """Return one clause for the rule that decided a pair; '' if only relatedness did."""
    quoted = {"asked": repr(texts[0]), "seen": repr(texts[1])}
    match reason:
        case kernels.OTHER_CODE:
            return f"{_same(query, candidate)}but {_codes(candidate)}, not {_codes(query)}"
        case kernels.NO_CODE:
            return f"{_codes(query)} was asked for, and {quoted['seen']} names no number"
        case kernels.OPPOSED:
            return _opposed(query, candidate)
        case kernels.OVER:
            over, still = ("seen", "asked") if candidate.completed else ("asked", "seen")
            return f"{quoted[over]} says that it is over, {quoted[still]} that it is not"
        case kernels.OTHER_NAME:
            one, other = _names(query, candidate), _names(candidate, query)
            return f"{_same(query, candidate)}but {other}, not {one}"
        case _:
            return _PLAIN.get(reason, "").format(**quoted)


def _opposed(query: ValueTerm, candidate: ValueTerm) -> str:
    for a in query.words:
        for b in candidate.words:
            if a.text != b.text and directly_opposed(a, b):
                return f"{_same(query, candidate)}but {b.text}, not {a.text}"
    left, right = _rest(query.words, candidate.words), _rest(candidate.words, query.words)
    if left and right and not (query.negated or candidate.negated):
        return f"{_same(query, candidate)}but {right}, not {left}"
    return "one says what the other denies"


def _same(query: ValueTerm, candidate: ValueTerm) -> str:
    """Return the common words as the beginning of a clause."""
    shared = [item.text for item in query.words if any(item.text == other.text for other in candidate.words)]
    if not shared:
        return ""
    return f"the same {' '.join(shared)}, "


def _rest(items: Sequence[LexicalItem], others: Sequence[LexicalItem]) -> str:
    known = {other.text for other in others}
    return " ".join(item.text for item in items if item.text not in known)


def _codes(term: ValueTerm) -> str:
    return " and ".join(code.text for code in term.codes)


def _names(term: ValueTerm, other: ValueTerm) -> str:
    known = {item.text for item in other.items}
    return " ".join(item.text for item in term.items if item.name and item.text not in known) or "another"
