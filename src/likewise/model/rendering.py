"""Text of events, subscriptions, matches and explanations: the result of `str()`."""

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
    """Return a verdict in words; an unknown verdict is its own text.

    >>> verdict_text("below_threshold")
    'too far apart in meaning'
    """
    return VERDICTS.get(verdict, verdict.replace("_", " "))


def number(value: float) -> str:
    """Format a score with at most three digits.

    >>> number(1.0), number(0.71234), number(0.0)
    ('1', '0.712', '0')
    """
    return f"{value:.3f}".rstrip("0").rstrip(".")


def reading_text(item: EventTuple) -> str:
    """Return one reading as text.

    >>> from likewise.model.event import EventTuple
    >>> reading_text(EventTuple("no2", 45, "ug/m3"))
    'no2: 45 ug/m3'
    """
    return f"{item.attribute}: {item.value} {item.unit}".rstrip()


def local_name(term: str) -> str:
    """Return the local name of an RDF term.

    >>> local_name("<http://example.org/onto#FootballMatch>"), local_name('"Spain"@en')
    ('FootballMatch', 'Spain')
    """
    if term.startswith('"'):
        return term[1 : term.rindex('"')]
    return last_part(term)


def unread_statements(event: Event) -> list[tuple[str, str]]:
    """Return predicate and object of the statements that no reading repeats.

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
    """Return an event in one line: themes, readings, statements, vector.

    >>> from likewise.model import event
    >>> event_text(event({"no2": {"value": 45, "unit": "ug/m3"}, "city": "Zagreb"}, themes=["air"]))
    '{air}  no2: 45 ug/m3 · city: Zagreb'
    """
    parts = [reading_text(item) for item in event.tuples]
    parts += [f"{name}: {value}" for name, value in unread_statements(event)]
    if event.vector:
        parts.append(f"[{', '.join(event.vector)}]")
    themes = "{" + ", ".join(event.themes) + "}  " if event.themes else ""
    return themes + " · ".join(parts)


def print_with(printer: Callable[[Subscription], str]) -> None:
    """Register the printer of subscriptions. The language does so when it is loaded; the model
    does not depend on it.
    """
    _printers[:] = [printer]


@text_of.register
def subscription_line(subscription: Subscription) -> str:
    """Return a subscription as text."""
    return _printers[0](subscription) if _printers else repr(subscription)


@text_of.register
def match_text(match: Match) -> str:
    """Return a match in one line.

    >>> from likewise.model import Match
    >>> match_text(Match("e1", "warm", "approximate", 0.6981))
    'e1 meets warm, score 0.698'
    """
    text = f"{match.event_id or 'the event'} meets {match.subscription_id}, score {number(match.score)}"
    if match.rank_value is not None:
        text += f", ranked by {match.rank_value:.4g}"
    return text if match.cause == "arrival" else f"{text} ({match.cause})"


def evidence_text(report: PredicateReport) -> str:
    """Return the evidence for a part of a subscription, with its similarity.

    >>> from likewise.model import PredicateReport
    >>> evidence_text(PredicateReport("t~ > 1", "match", 0, "temp", "3", 0.7, 1.0))
    'temp: 3 (0.7)'
    """
    if not report.attribute:
        return "nothing" if report.verdict != "match" or not report.notes else report.notes[0]
    reading = f"{report.attribute}: {report.value}" if report.value else report.attribute
    return reading if report.negated or report.similarity == 1 else f"{reading} ({number(report.similarity)})"


@text_of.register
def explanation_text(explanation: Explanation) -> str:
    """Return an explanation in a few lines: the verdict, each part with its evidence and notes, the annotations, and
    what would change the verdict.

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
        lines += [f"    {clause}" for clause in report.meaning]
    lines += [f"  {clause}" for clause in explanation.annotations]
    return "\n".join([*lines, *([explanation.change] if explanation.change else [])])


def requirement_text(report: PredicateReport) -> str:
    """Return a part of a subscription as it was written.

    >>> from likewise.model import PredicateReport
    >>> requirement_text(PredicateReport("status = off", "match", negated=True))
    'not status = off'
    """
    return f"not {report.text}" if report.negated and not report.text.startswith("not ") else report.text


def _verdict(explanation: Explanation) -> str:
    text = verdict_text(explanation.verdict)
    if explanation.score:
        text += f", score {number(explanation.score)}"
        if explanation.threshold is not None:
            text += f" ({number(explanation.threshold)} is needed)"
    return text
