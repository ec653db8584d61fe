"""Matches and explanations, for people."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from likewise.model.rendering import (
    explanation_sentences,
    explanation_verdict,
    number,
    report_verdict,
    requirement_text,
)

if TYPE_CHECKING:
    from likewise.model import Event, Explanation, Mapping, Match, PredicateReport

STYLES: Final = {
    "match": "bold green",
    "below_threshold": "yellow",
    "not_in_top_k": "yellow",
    "expired": "yellow",
}


def score_style(score: float) -> str:
    """Return green for a high score, yellow for a middle one, red for a low one.

    >>> score_style(0.9), score_style(0.5), score_style(0.1)
    ('green', 'yellow', 'red')
    """
    return "green" if score >= 0.7 else "yellow" if score >= 0.4 else "red"


def time_of_day(microseconds: int) -> str:
    """Return the local time of day.

    >>> len(time_of_day(0))
    8
    """
    return time.strftime("%H:%M:%S", time.localtime(microseconds / 1e6))


def verdict_style(verdict: str) -> str:
    """Return green for a match, yellow for a near miss, red for anything else."""
    return STYLES.get(verdict, "red")


def predicate_result(report: PredicateReport) -> str:
    """Describe what matched one predicate in a few words; of a ranking, the rank.

    >>> from likewise.model import PredicateReport
    >>> predicate_result(PredicateReport("top 3 by value(no2)", "match", notes=("place 1 by 2.94e-08",)))
    'top 3 by value(no2): place 1'
    >>> predicate_result(PredicateReport("top 3 by value(no2)", "not_in_top_k"))
    'top 3 by value(no2): not now'
    >>> predicate_result(PredicateReport("at most every 10 min", "match"))
    'at most every 10 min'
    """
    if report.negated:
        return report.text
    if not report.attribute and report.verdict == "match" and report.notes:
        return f"{report.text}: {report.notes[0].partition(' by ')[0]}"
    if report.verdict == "not_in_top_k":
        return f"{report.text}: not now"
    if not report.attribute:  # a clause of an alert is about no reading
        return report.text if report.verdict == "match" else f"{report.text}: nothing"
    reading = f"{report.attribute}: {report.value}" if report.value else report.attribute
    return reading if report.similarity == 1 else f"{reading} ({number(report.similarity)})"


def explanation_line(explanation: Explanation) -> str:
    """Describe what matched each predicate, in one line."""
    return " · ".join(predicate_result(report) for report in explanation.predicates)


def match_line(match: Match, explanation: Explanation | None) -> Text:
    """Format a match as one line: event, subscription, score, explanation."""
    line = Text.assemble(
        (str(match.event_id), "bold"),
        "  ",
        (match.subscription_id, "cyan"),
        "  ",
        (number(match.score), score_style(match.score)),
    )
    if match.rank_value is not None:
        line.append(f"  ranked by {match.rank_value:.4g}")
    if match.cause == "promoted":
        line.append("  promoted", "magenta")
    if explanation is not None:
        line.append("  " + explanation_line(explanation), "dim")
    for solution in match.bindings:
        line.append("  " + ", ".join(f"{name} = {term}" for name, term in solution), "dim")
    return line


def explanation_table(explanation: Explanation, event: Event, called: str = "") -> Group:
    """Return an explanation as a table, a verdict, and a hint; `called` names the subscription."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("asked for", style="cyan", overflow="fold")
    table.add_column("best answer in the event", overflow="fold")
    table.add_column("attribute", justify="right")
    table.add_column("value", justify="right")
    table.add_column("verdict")
    for report in explanation.predicates:
        text, style = report_verdict(report), verdict_style(report.verdict)
        answer = Text(f"{report.attribute}: {report.value}" if report.attribute else "–")
        if report.comparison:
            answer.append(f"\n{report.comparison}", "dim")
        table.add_row(
            requirement_text(report),
            answer,
            _relatedness_cell(report, report.attribute_relatedness),
            _relatedness_cell(report, report.value_relatedness),
            Text("yes" if report.verdict == "match" else text, style),
        )
    return Group(table, *_summary(explanation, event, called or explanation.subscription_id), *_notes(explanation))


def explanation_summary(explanation: Explanation) -> Group:
    """Return an explanation in two sentences."""
    first, second = explanation_sentences(explanation)
    lines = [Text(first, verdict_style(explanation.verdict)), *([Text(second)] if second else [])]
    return Group(*lines, *(Text(annotation, "dim italic") for annotation in explanation.annotations))


def _notes(explanation: Explanation) -> list[Text]:
    """Return the notes on each predicate. They are below the table, so that it stays narrow."""
    return [
        Text.assemble((f"{report.text}", "dim cyan"), (f" · {note}", "dim italic"))
        for report in explanation.predicates
        for note in report.notes
        if note not in explanation.annotations
    ] + [Text(annotation, "dim italic") for annotation in explanation.annotations]


def _relatedness_cell(report: PredicateReport, relatedness: float) -> Text:
    if not report.attribute or report.negated:
        return Text("")
    return Text(number(relatedness), score_style(relatedness))


def _summary(explanation: Explanation, event: Event, called: str) -> list[Text]:
    verdict, style = explanation_verdict(explanation), verdict_style(explanation.verdict)
    first = Text.assemble(
        (str(explanation.event_id or "the event"), "bold"),
        " and ",
        (called, "cyan"),
        ": ",
        (verdict, style),
    )
    if explanation.score:
        first.append(f", score {number(explanation.score)}", score_style(explanation.score))
        if explanation.threshold is not None:
            first.append(f" against a threshold of {number(explanation.threshold)}")
    if explanation.degree:
        first.append(f"; {100 * explanation.degree:.0f} % approximate", "dim")
    lines = [first]
    for rank, mapping in enumerate(explanation.mappings, 1):
        share = f"{100 * mapping.probability:.3g} %"
        lines.append(Text(f"{rank}. {_mapping_line(mapping, event)}, probability {share}"))
    if explanation.runner_up is not None and not explanation.mappings:
        lines.append(Text(f"Next best mapping: {_mapping_line(explanation.runner_up, event)}", "dim"))
    if explanation.change:
        lines.append(Text(explanation.change, "bold"))
    return lines


def _mapping_line(mapping: Mapping, event: Event) -> str:
    tuples = (event.tuples[c.tuple] for c in mapping.correspondences)
    return " · ".join(f"{t.attribute}: {t.value}" for t in tuples) + f" (score {number(mapping.score)})"
