"""Matches and explanations, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from likewise.model import Event, Explanation, Mapping, Match, PredicateReport

VERDICTS: Final[dict[str, tuple[str, str]]] = {
    "match": ("matches", "bold green"),
    "below_threshold": ("too far apart in meaning", "yellow"),
    "exact_part_false": ("an exact part is false", "red"),
    "missing_attribute": ("an attribute is missing", "red"),
    "unit_mismatch": ("the units cannot be compared", "red"),
    "not_in_top_k": ("not among the k best", "yellow"),
    "expired": ("its time is over", "yellow"),
}


def score_style(score: float) -> str:
    """Green for what is surely meant, yellow for what may be, red for what is not.

    >>> score_style(0.9), score_style(0.5), score_style(0.1)
    ('green', 'yellow', 'red')
    """
    return "green" if score >= 0.7 else "yellow" if score >= 0.4 else "red"


def number(value: float) -> str:
    """A score in at most three digits.

    >>> number(1.0), number(0.71234), number(0.0)
    ('1', '0.712', '0')
    """
    return f"{value:.3f}".rstrip("0").rstrip(".")


def event_text(event: Event) -> str:
    """An event in one line: its themes, its tuples, its statements, its vector.

    >>> from likewise.model import event
    >>> event_text(event({"no2": {"value": 45, "unit": "ug/m3"}, "city": "Zagreb"}, themes=["air"]))
    '{air}  no2: 45 ug/m3 · city: Zagreb'
    """
    said = [f"{t.attribute}: {t.value} {t.unit}".rstrip() for t in event.tuples]
    said += [f"{local_name(triple.predicate)}: {local_name(triple.object)}" for triple in event.graph]
    if event.vector:
        said.append(f"[{', '.join(event.vector)}]")
    themes = "{" + ", ".join(event.themes) + "}  " if event.themes else ""
    return themes + " · ".join(said)


def local_name(term: str) -> str:
    """The part of an RDF term that people read.

    >>> local_name("<http://example.org/onto#FootballMatch>"), local_name('"Spain"@en')
    ('FootballMatch', 'Spain')
    """
    if term.startswith('"'):
        return term[1 : term.rindex('"')]
    return term.strip("<>").rstrip("/").replace("#", "/").rpartition("/")[2]


def reason(report: PredicateReport) -> str:
    """What met one predicate, in a few words; of a ranking, the place.

    >>> from likewise.model import PredicateReport
    >>> reason(PredicateReport("top 3 by value(no2)", "match", notes=("place 1 by 2.94e-08",)))
    'top 3 by value(no2): place 1'
    """
    if report.negated:
        return report.text
    if not report.attribute and report.verdict == "match" and report.notes:
        return f"{report.text}: {report.notes[0].partition(' by ')[0]}"
    if not report.attribute:
        return f"{report.text}: nothing"
    found = f"{report.attribute}: {report.value}" if report.value else report.attribute
    return found if report.similarity == 1 else f"{found} ({number(report.similarity)})"


def why(explanation: Explanation) -> str:
    """What met each predicate, in one line."""
    return " · ".join(reason(report) for report in explanation.predicates)


def match_line(match: Match, explanation: Explanation | None) -> Text:
    """One match on one line: event, subscription, score, why."""
    line = Text.assemble(
        (str(match.event_id), "bold"), "  ", (match.subscription_id, "cyan"), "  ",
        (number(match.score), score_style(match.score)),
    )  # fmt: skip
    if match.rank_value is not None:
        line.append(f"  ranked by {match.rank_value:.4g}")
    if match.cause == "promoted":
        line.append("  promoted", "magenta")
    if explanation is not None:
        line.append("  " + why(explanation), "dim")
    for solution in match.bindings:
        line.append("  " + ", ".join(f"{name} = {term}" for name, term in solution), "dim")
    return line


def explained(explanation: Explanation, event: Event, called: str = "") -> Group:
    """An explanation as a table, a verdict, and what would make it match; `called` names the subscription."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("asked for", style="cyan", overflow="fold")
    table.add_column("best answer in the event", overflow="fold")
    table.add_column("attribute", justify="right")
    table.add_column("value", justify="right")
    table.add_column("verdict")
    for report in explanation.predicates:
        text, style = VERDICTS[report.verdict]
        answer = Text(f"{report.attribute}: {report.value}" if report.attribute else "–")
        asked = f"not {report.text}" if report.negated and not report.text.startswith("not ") else report.text
        table.add_row(
            asked,
            answer,
            _part(report, report.attribute_relatedness),
            _part(report, report.value_relatedness),
            Text("yes" if report.verdict == "match" else text, style),
        )
    return Group(table, *_summary(explanation, event, called or explanation.subscription_id), *_notes(explanation))


def _notes(explanation: Explanation) -> list[Text]:
    """What a reader must know about each predicate, under the table so that it stays narrow."""
    return [
        Text.assemble((f"{report.text}", "dim cyan"), (f" · {note}", "dim italic"))
        for report in explanation.predicates
        for note in report.notes
    ]


def _part(report: PredicateReport, relatedness: float) -> Text:
    if not report.attribute or report.negated:
        return Text("")
    return Text(number(relatedness), score_style(relatedness))


def _summary(explanation: Explanation, event: Event, called: str) -> list[Text]:
    verdict, style = VERDICTS[explanation.verdict]
    first = Text.assemble(
        (str(explanation.event_id or "the event"), "bold"), " and ", (called, "cyan"), ": ",
        (verdict, style),
    )  # fmt: skip
    if explanation.score:
        first.append(f", score {number(explanation.score)}", score_style(explanation.score))
        if explanation.threshold is not None:
            first.append(f" against a threshold of {number(explanation.threshold)}")
    lines = [first]
    if explanation.runner_up is not None:
        lines.append(Text(f"Next best mapping: {_pairs(explanation.runner_up, event)}", "dim"))
    if explanation.change:
        lines.append(Text(explanation.change, "bold"))
    return lines


def _pairs(mapping: Mapping, event: Event) -> str:
    found = (event.tuples[c.tuple] for c in mapping.correspondences)
    return " · ".join(f"{t.attribute}: {t.value}" for t in found) + f" (score {number(mapping.score)})"
