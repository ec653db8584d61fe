"""Events, subscriptions, matches and explanations in words: what `str()` of each says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from likewise.model.display import text_of
from likewise.model.event import Event, EventTuple
from likewise.model.explanation import Explanation, PredicateReport
from likewise.model.match import Match
from likewise.model.rdf import last_part
from likewise.model.subscription import Subscription

VERDICTS: Final[dict[str, str]] = {
    "match": "matches",
    "below_threshold": "too far apart in meaning",
    "exact_part_false": "an exact part is false",
    "missing_attribute": "an attribute is missing",
    "unit_mismatch": "the units cannot be compared",
    "not_in_top_k": "not among the k best",
    "expired": "its time is over",
    "not_yet": "it holds, but not for long enough",
    "suppressed": "it holds, and was said already",
}
KINDS: Final[dict[str, str]] = {
    "exact": "exact",
    "approximate": "by meaning",
    "top": "ranking",
    "statements": "statements by meaning",
    "pattern": "graph pattern",
    "interest": "interest vector",
    "near": "near triples",
    "alert": "alert",
}
_printers: list[Callable[[Subscription], str]] = []


def verdict_text(verdict: str) -> str:
    """A verdict in words, its own name where none are known.

    >>> verdict_text("below_threshold")
    'too far apart in meaning'
    """
    return VERDICTS.get(verdict, verdict.replace("_", " "))


def number(value: float) -> str:
    """A score in at most three digits.

    >>> number(1.0), number(0.71234), number(0.0)
    ('1', '0.712', '0')
    """
    return f"{value:.3f}".rstrip("0").rstrip(".")


def reading_text(item: EventTuple) -> str:
    """One reading as the event says it.

    >>> from likewise.model.event import EventTuple
    >>> reading_text(EventTuple("no2", 45, "ug/m3"))
    'no2: 45 ug/m3'
    """
    return f"{item.attribute}: {item.value} {item.unit}".rstrip()


def local_name(term: str) -> str:
    """The part of an RDF term that people read.

    >>> local_name("<http://example.org/onto#FootballMatch>"), local_name('"Spain"@en')
    ('FootballMatch', 'Spain')
    """
    if term.startswith('"'):
        return term[1 : term.rindex('"')]
    return last_part(term)


def unread_statements(event: Event) -> list[tuple[str, str]]:
    """Predicate and object of the statements that no reading of the event says already.

    >>> from likewise.model import Event, EventTuple, Triple
    >>> said = [Triple("<x:r>", f"<http://e.org/{name}>", value) for name, value in (("no2", '"45"'), ("at", "_:b"))]
    >>> unread_statements(Event((EventTuple("no2", 45),), graph=tuple(said)))
    [('at', 'b')]
    """
    read = {item.attribute for item in event.tuples}
    named = ((local_name(triple.predicate), local_name(triple.object)) for triple in event.graph)
    return [(name, value) for name, value in named if name not in read]


@text_of.register
def event_text(event: Event) -> str:
    """An event in one line: its themes, its readings, its statements, its vector.

    >>> from likewise.model import event
    >>> event_text(event({"no2": {"value": 45, "unit": "ug/m3"}, "city": "Zagreb"}, themes=["air"]))
    '{air}  no2: 45 ug/m3 · city: Zagreb'
    """
    said = [reading_text(item) for item in event.tuples]
    said += [f"{name}: {value}" for name, value in unread_statements(event)]
    if event.vector:
        said.append(f"[{', '.join(event.vector)}]")
    themes = "{" + ", ".join(event.themes) + "}  " if event.themes else ""
    return themes + " · ".join(said)


def print_with(printer: Callable[[Subscription], str]) -> None:
    """Say what prints subscriptions: the language does, when it is loaded; the model knows no language."""
    _printers[:] = [printer]


@text_of.register
def subscription_line(subscription: Subscription) -> str:
    """A subscription as its text."""
    return _printers[0](subscription) if _printers else repr(subscription)


@text_of.register
def match_text(match: Match) -> str:
    """A match in one line.

    >>> from likewise.model import Match
    >>> match_text(Match("e1", "warm", "approximate", 0.6981))
    'e1 meets warm, score 0.698'
    """
    said = f"{match.event_id or 'the event'} meets {match.subscription_id}, score {number(match.score)}"
    if match.rank_value is not None:
        said += f", ranked by {match.rank_value:.4g}"
    return said if match.cause == "arrival" else f"{said} ({match.cause})"


def evidence_text(report: PredicateReport) -> str:
    """What answers a part of a subscription, and how well.

    >>> from likewise.model import PredicateReport
    >>> evidence_text(PredicateReport("t~ > 1", "match", 0, "temp", "3", 0.7, 1.0))
    'temp: 3 (0.7)'
    """
    if not report.attribute:
        return "nothing" if report.verdict != "match" or not report.notes else report.notes[0]
    found = f"{report.attribute}: {report.value}" if report.value else report.attribute
    return found if report.negated or report.similarity == 1 else f"{found} ({number(report.similarity)})"


@text_of.register
def explanation_text(explanation: Explanation) -> str:
    """An explanation in a few lines: the verdict, then each part with what answers it, what both say and annotations
    did, and what would change it.

    >>> from likewise.model import Explanation, PredicateReport
    >>> part = PredicateReport("t~ > 1", "match", 0, "temp", "3", 0.7, 1.0, meaning=("both are temperature",))
    >>> print(explanation_text(Explanation("warm", "e1", "match", (part,), score=0.7, threshold=0.5)))
    e1 and warm: matches, score 0.7 (0.5 is needed)
      t~ > 1 | temp: 3 (0.7)
        both are temperature
    """
    lines = [f"{explanation.event_id or 'the event'} and {explanation.subscription_id}: {_verdict(explanation)}"]
    for report in explanation.predicates:
        why = "" if report.verdict == "match" else f" | {verdict_text(report.verdict)}"
        lines.append(f"  {requirement_text(report)} | {evidence_text(report)}{why}")
        lines += [f"    {said}" for said in report.meaning]
    lines += [f"  {said}" for said in explanation.annotations]
    return "\n".join([*lines, *([explanation.change] if explanation.change else [])])


def requirement_text(report: PredicateReport) -> str:
    """A part of a subscription as it was asked for.

    >>> from likewise.model import PredicateReport
    >>> requirement_text(PredicateReport("status = off", "match", negated=True))
    'not status = off'
    """
    return f"not {report.text}" if report.negated and not report.text.startswith("not ") else report.text


def _verdict(explanation: Explanation) -> str:
    said = verdict_text(explanation.verdict)
    if explanation.score:
        said += f", score {number(explanation.score)}"
        if explanation.threshold is not None:
            said += f" ({number(explanation.threshold)} is needed)"
    return said
