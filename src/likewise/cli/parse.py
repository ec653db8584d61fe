"""`likewise parse`: how subscriptions were understood."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson
from likewise.cli.terminal.text_input import open_input, read_subscriptions

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from likewise.model import Node, Predicate, Subscription

_FILE_NAME = re.compile(r"[\w./\\~-]+")


def parse(
    source: Annotated[
        str, typer.Argument(metavar="TEXT|FILE|-", help="A subscription, a file with one a line, or - for stdin.")
    ],
    as_json: AsJson = False,
) -> None:
    """Check subscriptions and print how they were understood: their one text, kind, id, themes and predicates.

    With --json each subscription is one JSON object. The exit code is 2 if one is wrong, and the message
    shows where.

    Example: `likewise parse '{power} {device~ = laptop~, temperature > 25 degC}'`
    """
    screen = None if as_json else output.console()
    for subscription in _subscriptions(source):
        if screen is None:
            output.print_json(subscription_facts(subscription))
        else:
            for part in describe_subscription(subscription):
                screen.print(part, soft_wrap=True)


def _subscriptions(source: str) -> Iterator[Subscription]:
    if source != "-" and not _is_file(source):
        if _FILE_NAME.fullmatch(source):
            raise FileNotFoundError(2, "this is no subscription, and there is no such file", source)
        yield _parse_argument(source)
        return
    with open_input(source) as stream:
        yield from read_subscriptions(stream, source)


def _parse_argument(text: str) -> Subscription:
    """Parse the subscription of an argument, which may have several lines."""
    from likewise.formats.json.subscriptions import is_json, subscription_from_json
    from likewise.language import parse

    return subscription_from_json(text) if is_json(text) else parse(text)


def _is_file(source: str) -> bool:
    try:
        return Path(source).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL in it: surely text
        return False


def subscription_facts(subscription: Subscription) -> dict[str, object]:
    """Return what --json prints of a subscription.

    >>> from likewise.language import parse
    >>> found = subscription_facts(parse("{t > 5}", id="s1"))
    >>> found["text"], found["kind"], found["id"]
    ('{t > 5}', 'exact', 's1')
    """
    import msgspec

    from likewise.formats.json.subscriptions import subscription_to_json
    from likewise.language import subscription_text

    return {
        "id": subscription.id,
        "kind": subscription.kind,
        "degree": subscription.degree,
        "text": subscription_text(subscription),
        "subscription": msgspec.Raw(subscription_to_json(subscription)),
    }


def describe_subscription(subscription: Subscription) -> list[Text | Table]:
    """Describe a subscription for people: its text, and how each part of it was understood.

    >>> from likewise.language import parse
    >>> describe_subscription(parse("{t : 5}"))[0].plain
    '{t = 5}'
    """
    from rich.text import Text

    from likewise.language import subscription_text

    parts: list[Text | Table] = [
        Text(subscription_text(subscription), style="bold"),
        Text.assemble(
            ("kind ", "dim"),
            subscription.kind,
            ("   id ", "dim"),
            subscription.id,
            ("   approximation ", "dim"),
            f"{100 * subscription.degree:.0f} %",
        ),
    ]
    if subscription.themes:
        parts.append(Text.assemble(("themes ", "dim"), " · ".join(subscription.themes)))
    parts.append(_table(subscription))
    return parts


def _table(subscription: Subscription) -> Table:
    from rich import box
    from rich.table import Table

    from likewise.model import Condition, GraphPattern, Interest, NearbyTriple

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    body = subscription.body
    rows: list[tuple[str, ...]]
    headings: tuple[str, ...]
    if isinstance(body, Condition):
        rows = [row for item in body.items for row in _rows(item, "")]
        headings = ("attribute", "operator", "value", "understood as")
    elif isinstance(body, (GraphPattern, NearbyTriple)):
        from likewise.language.rdf_terms import term_text

        patterns = body.patterns if isinstance(body, GraphPattern) else (body.pattern,)
        rows = [(term_text(p.subject), term_text(p.predicate), term_text(p.object)) for p in patterns]
        headings = ("subject", "predicate", "object")
    elif isinstance(body, Interest):
        rows = [(str(i), {"0": "false", "1": "true", "*": "either"}[bit]) for i, bit in enumerate(body.vector, start=1)]
        headings = ("property", "must be")
    else:
        rows = [(s.property, s.value) for s in body.items]
        headings = ("property", "value")
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*row)
    return table


def _rows(node: Node, lead: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each predicate; those of a group are indented under its name."""
    from likewise.language import value_text
    from likewise.model import All, Not, Predicate

    indent = lead[: len(lead) - len(lead.lstrip())]
    if isinstance(node, Predicate):
        value = "" if node.value is None else value_text(node.value) + ("~" if node.value_relaxed else "")
        name = f"{lead}{node.attribute}{'~' if node.attribute_relaxed else ''}"
        yield name, node.operator, value, _value_kind(node)
    elif isinstance(node, Not):
        yield f"{lead}not", "", "", "no tuple may satisfy this"
        yield from _rows(node.item, indent + "  ")
    else:
        yield f"{lead}{'all of' if isinstance(node, All) else 'one of'}", "", "", ""
        for item in node.items:
            yield from _rows(item, indent + "  ")


def _value_kind(predicate: Predicate) -> str:
    """Return how a predicate's value was understood.

    >>> from likewise.model import Predicate, Quantity
    >>> _value_kind(Predicate("t", ">", Quantity(25.0, "degC"))), _value_kind(Predicate("d", "=", "laptop", True, True))
    ('number in degC', 'text, by meaning; the attribute by meaning')
    """
    from likewise.model import Interval, Quantity

    match predicate.value:
        case None:
            text = "anything"
        case str():
            text = "text, by meaning" if predicate.value_relaxed else "text"
        case bool():
            text = "Boolean"
        case Quantity(unit=unit):
            text = f"number in {unit}"
        case Interval() as interval:
            text = f"numbers {interval.text()}"
        case tuple() as values:
            text = f"one of {len(values)} values"
        case _:
            text = "number"
    return text + ("; the attribute by meaning" if predicate.attribute_relaxed else "")
