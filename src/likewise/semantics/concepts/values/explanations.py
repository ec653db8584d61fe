"""Why two values were found to be the same or not, in words: which number, direction, instance or state differs."""

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


def explain_reason(reason: int, asked: ValueTerm, seen: ValueTerm, texts: tuple[str, str]) -> str:
    """One clause about a pair, by what decided it; empty if nothing but relatedness did."""
    quoted = {"asked": repr(texts[0]), "seen": repr(texts[1])}
    match reason:
        case kernels.OTHER_CODE:
            return f"{_same(asked, seen)}but {_codes(seen)}, not {_codes(asked)}"
        case kernels.NO_CODE:
            return f"{_codes(asked)} was asked for, and {quoted['seen']} names no number"
        case kernels.OPPOSED:
            return _opposed(asked, seen)
        case kernels.OVER:
            over, still = ("seen", "asked") if seen.completed else ("asked", "seen")
            return f"{quoted[over]} says that it is over, {quoted[still]} that it is not"
        case kernels.OTHER_NAME:
            one, other = _names(asked, seen), _names(seen, asked)
            return f"{_same(asked, seen)}but {other}, not {one}"
        case _:
            return _PLAIN.get(reason, "").format(**quoted)


def _opposed(asked: ValueTerm, seen: ValueTerm) -> str:
    for a in asked.words:
        for b in seen.words:
            if a.text != b.text and directly_opposed(a, b):
                return f"{_same(asked, seen)}but {b.text}, not {a.text}"
    left, right = _rest(asked.words, seen.words), _rest(seen.words, asked.words)
    if left and right and not (asked.negated or seen.negated):
        return f"{_same(asked, seen)}but {right}, not {left}"
    return "one says what the other denies"


def _same(asked: ValueTerm, seen: ValueTerm) -> str:
    """What both say, as the beginning of a clause."""
    shared = [item.text for item in asked.words if any(item.text == other.text for other in seen.words)]
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
