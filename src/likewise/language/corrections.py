"""Corrections of text that is almost in the subscription language.

People bring habits of other languages: `==`, `&&`, `and`, no braces, `every 5 min`, `for 5m`. Each rule rewrites one
such habit. A correction is offered only if the rewritten text parses, so it can always be pasted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Final

from likewise.language.grammar import QUOTED
from likewise.units.lookup import nearest_unit

MAX_LENGTH: Final = 500
"""Longer text gets no correction: each rule may cost another parse."""

_CLAUSE_WORD: Final = re.compile(r"(?<!per )(?<!by )(?<!as )(?<!in )(?<![\w,(\"-])[^\W\d_]{3,}(?![\w(-])")
_STRINGS: Final = re.compile(QUOTED)
_SINGLE_QUOTED: Final = re.compile(r"'([^'\"\\\r\n]*)'")
_HIDDEN: Final = re.compile("\ue000(\\d+)\ue001")  # characters of the private use area stand for strings in quotes
_SPAN: Final = r"(\d+(?:\.\d+)?\s*[^\W\d_]+)"
_NOT_WITHIN_BETWEEN: Final = re.compile(r"(between\s+\S+\s+)and\b", re.IGNORECASE)
_CLAUSES: Final = (
    "absent for",
    "at most every",
    "best",
    "confidence",
    "digest every",
    "for",
    "from one source",
    "once until",
    "per",
    "select",
    "stale",
    "threshold",
    "top",
    "using",
    "valid for",
    "within",
)
_CLAUSE_WORDS: Final = sorted({word for clause in _CLAUSES for word in clause.split()} | {"lowest", "highest"})
_CLAUSE_START: Final = re.compile(
    r"\s(?:absent|at most|silent|best\s+\d|confidence\s+\.?\d|digest\s+every|every\s+\d|for\s+\d|from one source|"
    r"once\s+until|per\s+\w|select\s*\(|stale\s+\d|thresh\w*\s+\.?\d|tresh\w*\s+\.?\d|top\s+\d|using\s+\w|"
    r"valid\s+for|within\s+\d)",
    re.IGNORECASE,
)

# Words for operators, outside quotation marks. Longer ones come first.
_OPERATORS: Final = (
    (r"\b(?:is\s+not|isn't|not\s+equals?(?:\s+to)?)\s+(?=\S)", "!= "),
    (r"\bis\s+(?:present|there|known|not\s+null)\b", "exists"),
    (
        r"\b(?:is\s+)?(?:greater|more|higher|larger|bigger|hotter|warmer)\s+than\s+or\s+equal\s+to\b|\bat\s+least\b",
        ">=",
    ),
    (r"\b(?:is\s+)?(?:less|lower|smaller|fewer|colder)\s+than\s+or\s+equal\s+to\b|\bat\s+most\b(?!\s+every)", "<="),
    (r"\b(?:is\s+)?(?:greater|more|higher|larger|bigger|hotter|warmer)\s+than\b|\b(?:is\s+)?(?:above|over)\b", ">"),
    (r"\b(?:is\s+)?(?:less|lower|smaller|fewer|colder)\s+than\b|\b(?:is\s+)?below\b", "<"),
    (r"\bstartswith\b", "starts with"),
    (r"\bendswith\b", "ends with"),
    (r"\b(?:exist|isset)\b", "exists"),
    (r"\b(?:includes|including|has\s+the\s+word)\b", "contains"),
    (r"\b(?:is\s+)?(?:equals|equal\s+to)\b|\bis\b(?!-a)", "="),
)
_SYMBOLS: Final = (
    (r"={2,}", "="),
    (r"=\s*>|≥|⩾", ">="),
    (r"=\s*<|≤|⩽", "<="),
    (r"<>|≠|!==", "!="),
    (r"%%+", "%"),
    (r"\\", "/"),
)
_CLAUSE_HABITS: Final = (
    (r"\b(?:for|per)\s+(?:each|every)\s+(?!\d)", "per "),
    (r"\b(?:group|grouped|partition|partitioned)\s+by\b", "per"),
    (rf"\b(?:no\s+more\s+(?:often\s+)?than\s+)?(?:once\s+)?(?<!most )(?<!digest )every\s+{_SPAN}", r"at most every \1"),
    (r"\bat\s+most\s+(?=\d)(?!every)", "at most every "),
    (rf"\b(?:cool-?\s?down|throttle|debounce|max\s+every)\s+(?:of\s+|for\s+)?{_SPAN}", r"at most every \1"),
    (rf"\b(?:absent|silent|missing|silence)\s+(?:for\s+|since\s+|of\s+)?{_SPAN}", r"absent for \1"),
    (rf"\b(?:valid|ttl|expires\s+(?:in|after)|until\s+after)\s+(?:for\s+)?{_SPAN}", r"valid for \1"),
    (rf"\b(?:lasting|during|held|holding|longer\s+than)\s+(?:for\s+)?{_SPAN}", r"for \1"),
    (rf"\bdigest\s+{_SPAN}", r"digest every \1"),
    (r"\bonce\s+(?:till|unless|unti|untill|when\s+not)\b", "once until"),
    (r"\bonce\s*$|\bonce\s+until\s+not\s*$", "once until false"),
    (r"(\btop\s+\d+\s+)(?:in|over|during|per)\s+(?=\d)", r"\1within "),
    (
        r"(\btop\s+\d+\s.*?\bby\s+)(?!distance|sum|value|relatedness)(\w[\w ]*?)(?=\s+(?:lowest|highest)\b|\s*$)",
        r"\1value(\2)",
    ),
    (r"\bselect\s+(?!\()(\S.*)$", r"select (\1)"),
    (r"(\d)\s*m\b", r"\1 min"),
    (r"(\d)\s*(?:mins)\b", r"\1 min"),
    (r"(\d)\s*(?:hrs|hr|std)\b", r"\1 h"),
    (r"(\d)\s*(?:secs|sec)\b", r"\1 s"),
    (r"\b(threshold|confidence)\s*[=:]\s*", r"\1 "),
)


def correction(text: str, parses: Callable[[str], str | None]) -> str:
    """Return the text with the smallest correction that makes it parse, or an empty string.

    Args:
        text: Text that does not parse.
        parses: Return None if a text parses, else the unit at fault ("" if no unit is).

    >>> correction("{a == 1 && b => 2}", lambda text: None if text == "{a = 1, b >= 2}" else "")
    '{a = 1, b >= 2}'
    """
    if len(text) > MAX_LENGTH:
        return ""
    strings: list[str] = []

    def hide(hit: re.Match[str]) -> str:
        strings.append(hit.group())
        return f"\ue000{len(strings) - 1}\ue001"

    def show(text: str) -> str:
        return _HIDDEN.sub(lambda hit: strings[int(hit.group(1))], text)

    current = _STRINGS.sub(hide, " ".join(text.split()))
    for rule in _RULES:
        changed = " ".join(rule(current).split())
        if changed == current:
            continue
        current = changed
        shown = show(current)
        unit = parses(shown)
        if unit is None:
            return shown
        if unit and (corrected := _correct_unit(shown, unit, parses)):
            return corrected
    unit = parses(show(current))
    return _correct_unit(show(current), unit, parses) if unit else ""


def _correct_unit(text: str, unit: str, parses: Callable[[str], str | None]) -> str:
    """Replace a unit that is not in the table by the nearest one, and degrees of temperature by degC."""
    at = text.rfind(unit)
    for near in (nearest_unit(unit), "degC" if unit.lower().startswith("deg") and "/" not in unit else ""):
        corrected = f"{text[:at]}{near}{text[at + len(unit) :]}"
        if near and at >= 0 and parses(corrected) is None:
            return corrected
    return ""


def _substitute(rules: Iterable[tuple[str, str]]) -> Callable[[str], str]:
    compiled = [(re.compile(pattern, re.IGNORECASE), by) for pattern, by in rules]

    def apply(text: str) -> str:
        for pattern, by in compiled:
            text = pattern.sub(by, text)
        return text

    return apply


def _split(text: str) -> tuple[str, str]:
    """Split text into its conditions and its clauses."""
    at = text.rfind("}")
    close = text.rfind("{", 0, at)
    if at >= 0 and re.search(r"once\s+until\s*$", text[:close], re.IGNORECASE):  # the braces of a clause
        at = text.rfind("}", 0, close)
    if at >= 0:
        return text[: at + 1], text[at + 1 :]
    start = _CLAUSE_START.search(text)
    return (text[: start.start()], text[start.start() :]) if start else (text, "")


def _in_conditions(rule: Callable[[str], str]) -> Callable[[str], str]:
    def apply(text: str) -> str:
        conditions, clauses = _split(text)
        return rule(conditions) + clauses

    return apply


def _in_clauses(rule: Callable[[str], str]) -> Callable[[str], str]:
    def apply(text: str) -> str:
        conditions, clauses = _split(text)
        return f"{conditions} {rule(clauses)}" if clauses.strip() else text

    return apply


def _strip_query(text: str) -> str:
    """Take the condition out of `select * from readings where ...`, `where ...` and `if ...`."""
    return re.sub(
        r"^(?:select\b.*?\bwhere|where|when|if|alert\s+(?:me\s+)?(?:if|when))\s+", "", text, flags=re.IGNORECASE
    )


def _add_braces(text: str) -> str:
    if re.match(r"[\[?(]|event\s|near\s*\(|prefix\s", text, re.IGNORECASE):
        return text
    conditions, clauses = _split(text)
    conditions = conditions.strip()
    if not conditions.startswith("{"):
        conditions = "{" + conditions
    if conditions.count("{") > conditions.count("}"):
        conditions += "}"
    return f"{conditions} {clauses}"


def _join_braces(text: str) -> str:
    """Make one condition of two that are joined: `{a > 1} and {b > 2}`."""
    return re.sub(r"\}\s*(?:and|&&?|,)\s*\{", ", ", text, flags=re.IGNORECASE)


def _commas_for_and(text: str) -> str:
    text = _NOT_WITHIN_BETWEEN.sub("\\1\ue002", text)
    text = re.sub(r"\s*(?:&&|&|\band\b)\s*", ", ", text, flags=re.IGNORECASE)
    return text.replace("\ue002", "and")


def _group_or(text: str) -> str:
    """Put alternatives into parentheses, where `or` counts."""
    text = re.sub(r"\s*(?:\|\|?|\bor\b)\s*", " or ", text, flags=re.IGNORECASE)
    return re.sub(r"\{([^(){}]* or [^(){}]*)\}", r"{(\1)}", text)


def _values_of_in(text: str) -> str:
    text = re.sub(r"\bin\s*[\[{]([^\[\]{}]*)[\]}]", r"in (\1)", text, flags=re.IGNORECASE)
    return re.sub(r"\bin\s+([^(){}]+?)\}", r"in (\1)}", text, flags=re.IGNORECASE)


def _bounds_of_between(text: str) -> str:
    return re.sub(r"\bbetween\s+(\S+?)\s*(?:,|\.\.|-|to)\s*(?=\d)", r"between \1 and ", text, flags=re.IGNORECASE)


def _like(text: str) -> str:
    """Turn a pattern of SQL into `contains`."""
    return re.sub(r"\bi?like\s+[\"']?%?([^%\"',{}]+)%?[\"']?", r'contains "\1"', text, flags=re.IGNORECASE)


def _move_tilde(text: str) -> str:
    text = re.sub(r"([{,(=<>]\s*)~\s*([^\s~,{}()=<>!:]+)", r"\1\2~ ", text)
    return re.sub(r"~\s*~", "~", text)


def _negate(text: str) -> str:
    """Write `!` before a name as `not`, and give a negated name alone an operator: `!alarm` and `not alarm`."""
    text = re.sub(r"([{,(]\s*)!\s*(?=[^\s,{}()~=<>!:])", r"\1not ", text)
    return re.sub(r"([{,(]\s*)(?:!|not\s)\s*([^\s,{}()~=<>!:]+)\s*(?=[,})])", r"\1not \2 exists", text)


def _correct_clause_words(text: str) -> str:
    """Correct misspelt words of clauses; names after `per`, `by`, `as` and `in` stay."""

    def nearest(hit: re.Match[str]) -> str:
        word = hit.group().lower()
        if word in _CLAUSE_WORDS:
            return word
        return next(iter(get_close_matches(word, _CLAUSE_WORDS, 1, 0.8)), hit.group())

    return _CLAUSE_WORD.sub(nearest, text)


def _fraction(text: str) -> str:
    """Write a percentage as a number between 0 and 1."""
    return re.sub(
        r"\b(threshold|confidence)\s+(\d+(?:\.\d+)?)\s*%",
        lambda hit: f"{hit.group(1)} {float(hit.group(2)) / 100:g}",
        text,
    )


_RULES: Final[tuple[Callable[[str], str], ...]] = (
    lambda text: _SINGLE_QUOTED.sub(r'"\1"', text),
    _strip_query,
    _join_braces,
    _substitute(_SYMBOLS),
    _in_clauses(_correct_clause_words),
    _in_clauses(_substitute(_CLAUSE_HABITS)),
    _in_clauses(_fraction),
    _add_braces,
    _in_conditions(lambda text: re.sub(r"[,;\s]+\}", "}", text)),
    _in_conditions(lambda text: re.sub(r"(?<=\d),(?=\d)", ".", text) if " in " not in text else text),
    _in_conditions(_move_tilde),
    _in_conditions(_bounds_of_between),
    _in_conditions(_values_of_in),
    _in_conditions(_commas_for_and),
    _in_conditions(lambda text: re.sub(r"\s*;\s*", ", ", text)),
    _in_conditions(_like),
    _in_conditions(_substitute(_OPERATORS)),
    _in_conditions(_negate),
    _in_conditions(_group_or),
)
