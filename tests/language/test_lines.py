"""Many subscriptions in one text, one a line."""

from __future__ import annotations

import pytest

from likewise.errors import InvalidSubscription, ParseError, UnitSyntaxError
from likewise.language import parse, read_subscriptions


def test_blank_lines_and_comments_are_skipped() -> None:
    """The rest are subscriptions, in order; line ends of any system."""
    text = '# wanted\r\n\r\n  {a = 1}\r\n   # more\n[1, 0]\nevent type "x"'
    assert read_subscriptions(text) == [parse("{a = 1}"), parse("[1, 0]"), parse('event type "x"')]
    assert read_subscriptions("") == read_subscriptions("# nothing\n") == []


def test_a_prefix_line_holds_for_the_graph_patterns_below() -> None:
    """And leaves other forms alone."""
    text = "PREFIX ex: <http://e.org/>\n{a = 1}\n?s ex:p ?o\nprefix ey: <http://f.org/>\nex:a ey:b ?o"
    assert read_subscriptions(text) == [
        parse("{a = 1}"),
        parse("?s <http://e.org/p> ?o"),
        parse("<http://e.org/a> <http://f.org/b> ?o"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("{a = 1}\n\n  {b == 2}", 3, 7),
        ("PREFIX ex: <http://e.org/>\n{b == 2}", 2, 5),
        ("PREFIX ex: <http://e.org/>\n ?s ey:p ?o", 2, 5),
        ("{a = 1}\n{b = 2", 2, 7),
    ],
)
def test_a_mistake_is_shown_in_its_line_of_the_whole_text(text: str, line: int, column: int) -> None:
    """Line, column and caret."""
    with pytest.raises(ParseError) as caught:
        read_subscriptions(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.excerpt == text.split("\n")[line - 1]
    assert caught.value.caret.index("^") == column - 1


def test_an_error_of_the_model_names_its_line_in_a_note() -> None:
    """The error itself stays as it is."""
    with pytest.raises(InvalidSubscription) as caught:
        read_subscriptions("{a = 1}\n{t > hot}")
    assert caught.value.__notes__ == ["in line 2"]


def test_a_mistake_in_a_unit_is_shown_in_its_line() -> None:
    """As any other mistake, and still an error of units."""
    with pytest.raises(UnitSyntaxError) as caught:
        read_subscriptions("{a = 1}\n{t > 5 blorps}")
    assert (caught.value.line, caught.value.column) == (2, 8)
