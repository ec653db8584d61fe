"""Text of events, subscriptions, matches and explanations (the result of `str()`), and their HTML for notebooks.

Colours of the HTML are the notebook's own but for the score's bar, so that it reads in light and in dark. Everything
that an event or a subscription says is escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Final

from likewise.model.display import html_of, text_of
from likewise.model.event import Event, EventTuple
from likewise.model.explanation import Explanation, PredicateReport
from likewise.model.match import Match
from likewise.model.rdf import last_part
from likewise.model.subscription import Subscription

VERDICTS: Final[dict[str, str]] = {
    "match": "matches",
    "below_threshold": "names too different",
    "exact_part_false": "value does not match",
    "missing_attribute": "no matching reading",
    "unit_mismatch": "units cannot be compared",
    "not_in_top_k": "not among the k best",
    "expired": "its time is over",
    "below_confidence": "not sure enough",
    "not_yet": "holds, but not for long enough",
    "suppressed": "holds, and was sent already",
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
    'names too different'
    """
    return VERDICTS.get(verdict, verdict.replace("_", " "))


def report_verdict(report: PredicateReport) -> str:
    """Return the verdict on a part in words, which say whether the name or the value is too different.

    >>> from likewise.model import PredicateReport
    >>> report_verdict(PredicateReport("state~ = broken~", "below_threshold", 0, "state", "working", 1.0, 0.1))
    'value too different'
    """
    if report.verdict == "below_threshold" and report.value_relatedness < report.attribute_relatedness:
        return "value too different"
    return verdict_text(report.verdict)


def explanation_verdict(explanation: Explanation) -> str:
    """Return the verdict of an explanation in words."""
    failed = [report for report in explanation.predicates if report.verdict == explanation.verdict]
    return report_verdict(failed[0]) if len(failed) == 1 else verdict_text(explanation.verdict)


_SYMBOLS: Final = (("deg", "°"), ("ug", "µg"), ("m2", "m²"), ("m3", "m³"))


def amount_text(value: float, symbol: str = "", digits: int = 12) -> str:
    """Return a number with its unit, as people write it; a converted one is rounded.

    >>> amount_text(20.000000001, "degC", digits=4), amount_text(45.0, "ug/m3"), amount_text(1250.5, "W")
    ('20 °C', '45 µg/m³', '1250.5 W')
    """
    shown = f"{value:.{digits}g}" if abs(value) < 10 ** min(digits, 6) else f"{value:.12g}"
    for written, sign in _SYMBOLS:
        symbol = symbol.replace(written, sign)
    return f"{shown} {symbol}".rstrip()


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
        why = "" if report.verdict == "match" else f" | {report_verdict(report)}"
        lines.append(f"  {requirement_text(report)} | {evidence_text(report)}{why}")
        lines += [f"    {clause}" for clause in (report.comparison, *report.meaning) if clause]
    lines += [f"  {clause}" for clause in explanation.annotations]
    return "\n".join([*lines, *([explanation.change] if explanation.change else [])])


def requirement_text(report: PredicateReport) -> str:
    """Return a part of a subscription as it was written.

    >>> from likewise.model import PredicateReport
    >>> requirement_text(PredicateReport("status = off", "match", negated=True))
    'not status = off'
    """
    return f"not {report.text}" if report.negated and not report.text.startswith("not ") else report.text


def explanation_sentences(explanation: Explanation) -> tuple[str, str]:
    """Return two sentences: why it matches or not, and what was taken for what or what would change the verdict.

    >>> from likewise.model import Explanation, PredicateReport
    >>> part = PredicateReport("t > 25", "exact_part_false", 0, "t", "20", 1.0, 0.0, comparison="20, not above 25")
    >>> explanation_sentences(Explanation("warm", "e1", "exact_part_false", (part,), "It would match if so."))
    ('It does not match: `t` says 20, not above 25.', 'It would match if so.')
    >>> once = PredicateReport("once until false", "suppressed", notes=("It was said once.",))
    >>> explanation_sentences(Explanation("door", "e1", "suppressed", (once,), "It was said once."))
    ('It does not match: It was said once.', '')
    """
    if explanation.verdict == "match":
        answers = [_answer(report) for report in explanation.predicates if not report.negated]
        score = f", with a score of {number(explanation.score)}" if explanation.threshold is not None else ""
        first = f"It matches{score}: {'; '.join(answers)}." if answers else f"It matches{score}."
        taken = next((report for report in explanation.predicates if report.meaning), None)
        if taken is None:
            return first, ""
        kind = taken.meaning[0].partition(": ")[2].partition("; ")[0]
        return first, f"`{taken.attribute}` answers `{requirement_text(taken)}`: {kind}."
    failed = [report for report in explanation.predicates if report.verdict != "match"]
    if not failed:
        return f"It does not match: {verdict_text(explanation.verdict)}.", explanation.change
    chosen = next((report for report in failed if report.verdict == explanation.verdict), failed[0])
    more = f" ({len(failed) - 1} more of {len(explanation.predicates)} parts fail)" if len(failed) > 1 else ""
    reason = _reason(chosen, explanation).removesuffix(".")  # of an alert it is a sentence, and the change as well
    change = "" if explanation.change.removesuffix(".") == reason else explanation.change
    return f"It does not match: {reason}{more}.", change


def _answer(report: PredicateReport) -> str:
    if not report.attribute:
        return f"`{report.text}`{f' ({report.notes[0]})' if report.notes else ''}"
    return f"`{report.attribute}` says {report.comparison or f'`{report.value}`'}"


def _reason(report: PredicateReport, explanation: Explanation) -> str:
    """Return in a clause why a part fails."""
    says = f"`{report.attribute}` says {report.comparison or f'`{report.value}`'}"
    if report.negated:
        return f"{says}, which `{requirement_text(report)}` rules out"
    match report.verdict:
        case "exact_part_false" if report.attribute:
            said = says if report.comparison else f"{says}, which does not meet `{report.text}`"
            return f"{said}; {report.notes[0]}" if report.notes and not report.comparison else said
        case "unit_mismatch" if report.attribute:
            return f"{says}, and {report.notes[0] if report.notes else verdict_text(report.verdict)}"
        case "missing_attribute":
            nearest = report.notes[0] if report.notes else ""
            if report.meaning and (difference := _difference(report.meaning[0])):
                nearest = f"`{report.meaning[0].partition(': ')[0]}`: {difference}"
            return f"no reading answers `{report.text}`" + (f" ({nearest})" if nearest else "")
        case "below_threshold" if report.attribute:
            weak, what = min((report.attribute_relatedness, "name"), (report.value_relatedness, "value"))
            shown = report.attribute if what == "name" else report.value
            needed = "" if explanation.threshold is None else f" where {number(explanation.threshold)} is needed"
            reason = next((_difference(each) for each in report.meaning if each.startswith(_PART[what])), "")
            because = f": {reason}" if reason else ""
            return f"the {what} `{shown}` is too different from `{report.text}` ({number(weak)}{needed}){because}"
        case _:
            return report.notes[0] if report.notes else f"`{report.text}`: {verdict_text(report.verdict)}"


def _difference(meaning: str) -> str:
    """Return the clause of a reason that tells two things apart, '' if none does.

    >>> _difference("wind: both are speed; this is its average; nothing says that it is the wind's")
    "nothing says that it is the wind's"
    """
    clauses = [each for each in meaning.partition(": ")[2].split("; ") if not each.startswith("both are ")]
    if clauses and clauses[0] in _GENERAL:
        return next(iter(clauses[1:]), "")
    return min(clauses, key=lambda clause: not clause.startswith("nothing says"), default="")


_GENERAL: Final = ("they are of different kinds", "what kind of reading one of them is, is not known")
_PART: Final = {"name": "attribute: ", "value": "value: "}


def _verdict(explanation: Explanation) -> str:
    text = explanation_verdict(explanation)
    if explanation.score:
        text += f", score {number(explanation.score)}"
        if explanation.threshold is not None:
            text += f" ({number(explanation.threshold)} is needed)"
    return text


SHOWN: Final = 50  # readings of an event, so that a large one does not fill the notebook
_LEFT: Final = ' style="text-align:left"'


@html_of.register
def event_html(event: Event) -> str:
    """Render a table of the event's readings below its name, source, time and themes.

    >>> from likewise.model import event
    >>> event_html(event({"city": "<Zagreb>"}, id="e1")).count("&lt;Zagreb&gt;")
    1
    """
    rows = [(item.attribute, f"{item.value} {item.unit}".rstrip()) for item in event.tuples]
    rows += unread_statements(event)
    if event.vector:
        rows.append(("vector", f"[{', '.join(event.vector)}]"))
    about = [f"<b>{escape(event.id or 'event')}</b>"]
    about += [escape(event.source)] if event.source else []
    about += [_moment(event.time)] if event.time is not None else []
    about += [escape("{" + ", ".join(event.themes) + "}")] if event.themes else []
    body = "".join(
        f"<tr><td{_LEFT}>{escape(name)}</td><td{_LEFT}>{escape(text)}</td></tr>" for name, text in rows[:SHOWN]
    )
    more = f"<div>and {len(rows) - SHOWN} more</div>" if len(rows) > SHOWN else ""
    return f"<div>{' · '.join(about)}</div><table>{body}</table>{more}"


@html_of.register
def subscription_html(subscription: Subscription) -> str:
    """Render a subscription's name, text and kind."""
    name = f"<b>{escape(subscription.id)}</b> " if subscription.id else ""
    return f"<div>{name}<code>{escape(subscription_line(subscription))}</code> <small>{subscription.kind}</small></div>"


@html_of.register
def match_html(match: Match) -> str:
    """Render one line with a bar for the score.

    >>> from likewise.model import Match
    >>> "width:70%" in match_html(Match("e1", "warm", "approximate", 0.7))
    True
    """
    sentence = f"<b>{escape(str(match.event_id or 'the event'))}</b> meets <b>{escape(match.subscription_id)}</b>"
    ranked = f" ranked by {match.rank_value:.4g}" if match.rank_value is not None else ""
    cause = f" <small>{escape(match.cause)}</small>" if match.cause != "arrival" else ""
    return f"<div>{sentence} {_bar(match.score)}{ranked}{cause}</div>"


@html_of.register
def explanation_html(explanation: Explanation) -> str:
    """Render the verdict, a row per part with its evidence, and what would change the verdict."""
    rows = []
    for report in explanation.predicates:
        verdict = "yes" if report.verdict == "match" else report_verdict(report)
        answer = escape(evidence_text(report))
        if report.comparison:
            answer += f"<br><small>{escape(report.comparison)}</small>"
        cells = (f"<code>{escape(requirement_text(report))}</code>", answer, escape(verdict))
        rows.append("<tr>" + "".join(f"<td{_LEFT}>{cell}</td>" for cell in cells) + "</tr>")
    needed = f" of {number(explanation.threshold)} needed" if explanation.threshold is not None else ""
    score = f" {_bar(explanation.score)}{needed}" if explanation.score else ""
    names = (
        f"<b>{escape(str(explanation.event_id or 'the event'))}</b> and <b>{escape(explanation.subscription_id)}</b>"
    )
    heads = "".join(f"<th{_LEFT}>{head}</th>" for head in ("asked for", "answered by", "verdict"))
    annotations = "".join(f"<div>{escape(annotation)}</div>" for annotation in explanation.annotations)
    change = f"<div>{escape(explanation.change)}</div>" if explanation.change else ""
    return (
        f"<div>{names}: {escape(explanation_verdict(explanation))}{score}</div>"
        f"<table><tr>{heads}</tr>{''.join(rows)}</table>{annotations}{change}"
    )


def _moment(microseconds: int) -> str:
    """Format a time; return the number itself outside the calendar's range."""
    try:
        return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        return f"{microseconds} µs"


def _bar(score: float) -> str:
    width = round(100 * max(0.0, min(1.0, score)))
    return (
        '<span style="display:inline-block;width:5em;height:.6em;border:1px solid #8886;border-radius:3px">'
        f'<span style="display:block;width:{width}%;height:100%;background:#2a8f5b"></span></span> {number(score)}'
    )
