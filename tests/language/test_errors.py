"""Mistakes are shown with line, column, caret and what was expected, in plain words; limits come first."""

from __future__ import annotations

import pytest

from likewise import defaults
from likewise.errors import InputError, LikewiseError, LimitExceeded, ParseError
from likewise.language import parse
from likewise.language.errors import describe_terminals
from likewise.language.parser import grammar


@pytest.mark.parametrize(
    ("text", "line", "column", "problem", "expected"),
    [
        ("", 1, 1, "empty", "a subscription"),
        (" \n ", 1, 1, "empty", "a subscription"),
        ("hello", 1, 1, "`hello`", "{attribute = value}"),
        ("{temperature~ >> 25}", 1, 16, "`>`", "a value"),
        ("{a = 1,}", 1, 8, "`}`", "an attribute"),
        ("{a = 1", 1, 7, "ends too early", "`,` or `}`"),
        ("{a = 1,\n b ? 2}", 2, 7, "`}`", "an operator"),
        ("{a = 1} {b = 2}", 1, 9, "`{`", "the end"),
        ("{a =}", 1, 5, "`}`", "a value"),
        ("{a in b}", 1, 9, "in parentheses", "attribute = value"),
        ("{a in (b}", 1, 9, "`}`", "`)`"),
        ("{check under time exists}", 1, 19, "double quotes", "`,` or `}`"),
        ("{a = man under water}", 1, 10, "`under` is an operator", "`,` or `}`"),
        ("{length > 5 in}", 1, 13, "`inch`", "`}`"),
        ("{a = b(c)}", 1, 7, "double quotes", "`}`"),
        ("{a = 12:30}", 1, 8, "double quotes", "`}`"),
        ("{a between 1}", 1, 13, "`}`", "`and`"),
        ("{a = 1 or b = 2}", 1, 13, "inside parentheses", "`}`"),
        ("{(a = 1 or )}", 1, 12, "`)`", "an attribute"),
        ("{1 < t > 5}", 1, 8, "different directions", "`<`"),
        ("{1 < t < hot}", 1, 10, "no number", "a number"),
        ('{a = "abc}', 1, 6, "not closed", "a value"),
        ('{a = "x\\q"}', 1, 8, "`\\q`", "`\\n`"),
        ('{a = "x\\ud800"}', 1, 8, "no character", "surrogates"),
        ("{a}", 1, 4, "no operator", "second pair"),
        ("{a~, b} {c = 1}", 1, 2, "theme tag", "`~`"),
        ("{a, b = 1}", 1, 7, "second `=`", "`}`"),
        ("{a = 1} threshold x", 1, 19, "`x`", "a number"),
        ("{a = 1} threshold 0.1 threshold 0.2", 1, 33, "second time", "once"),
        ("{a = 1} top x", 1, 13, "`x`", "a whole number"),
        ("{a = 1} top 5 by size", 1, 18, "`size`", "`distance`, `relatedness`, `sum` or `value`"),
        ("{a = 1} valid for 5 events", 1, 19, "no time", "7 d"),
        ("[1, 2]", 1, 5, "`2`", "`0`, `1` or `*`"),
        ("event type Football", 1, 20, "ends too early", "double quotes"),
        ("?e foo:bar ?x", 1, 4, "'foo' is not declared", "PREFIX foo:"),
        ("?e <rel> ?x", 1, 4, "no absolute IRI", "in full"),
        ("_:b ?p ?o", 1, 1, "blank node", "a subscription"),
        ("?e ?p _:b", 1, 7, "variable", "a variable"),
        ('?e "p" ?o', 1, 4, "", "a variable"),
        ("{a = \0}", 1, 6, "NUL", "text"),
        ("{a = 東\ud800}", 1, 7, "surrogate", "Unicode"),
    ],
)
def test_a_mistake_says_where_and_what_was_expected(
    text: str, line: int, column: int, problem: str, expected: str
) -> None:
    """The caret stands under the column; the words are the language's, not the grammar's."""
    with pytest.raises(ParseError) as caught:
        parse(text)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert problem in error.problem
    assert expected in error.expected
    assert error.code == "syntax"
    if text.strip():
        assert error.caret.index("^") == column - 1
    for name in ("ATTRIBUTE", "INNER", "_COMMA", "LPAR", "RBRACE", "_END", "lark"):
        assert name not in str(error)


def test_every_terminal_of_the_grammar_has_its_words() -> None:
    """Nothing expected is named as the grammar names it: keywords are themselves, the rest is described."""
    keywords = {
        "TOP",
        "WITHIN",
        "BY",
        "RADIUS",
        "THRESHOLD",
        "CONFIDENCE",
        "USING",
        "BEST",
        "DISTANCE",
        "SUM",
        "RELATEDNESS",
        "NOT",
        "_AND",
        "_OR",
        "_PREFIX",
        "_MATCHES",
        "A",
        "AS",
        "FALSE",
        "FOR",
        "PER",
        "STALE",
    }
    operators = {"COMPARISON", "TEXT_OPERATOR", "_BETWEEN", "_IN", "_EXISTS"}  # never expected without `=`
    names = {terminal.name for terminal in grammar().terminals} - {"_BLANK", "LSQB"}
    assert len(names) > 50
    for name in names - keywords - operators:
        assert describe_terminals({name}) != f"`{name.strip('_').lower()}`", name


@pytest.mark.parametrize(
    ("text", "limit", "allowed"),
    [
        ("x" * 10_000_000, "characters of a subscription", defaults.MAX_SUBSCRIPTION_LENGTH),
        ("{" + "(" * 10_000 + "a = 1" + ")" * 10_000 + "}", "nesting", defaults.MAX_NESTING),
        ("{" + "(" * 10_000, "nesting", defaults.MAX_NESTING),
        ("{" + "not " * 10_000 + "a = 1}", "nesting", defaults.MAX_NESTING),
        ("{" + ("not " * 60 + "(") * 60 + "a = 1" + ")" * 60 + "}", "nesting", defaults.MAX_NESTING),
        ("{" + ", ".join(f"(a{i} = 1 or b{i} = 2)" for i in range(7)) + "}", "conjunctions", defaults.MAX_CONJUNCTIONS),
        ("{" + ", ".join("a = 1" for _ in range(1_001)) + "}", "predicates", defaults.MAX_PREDICATES),
        ("{a in (" + ", ".join("x" for _ in range(1_001)) + ")}", "values of `in`", defaults.MAX_IN_VALUES),
        ("{a = " + "x" * 1_025 + "}", "characters of a value", defaults.MAX_TERM_LENGTH),
        ("{" + "x" * 1_025 + " exists}", "characters of an attribute", defaults.MAX_TERM_LENGTH),
        ("{a = 1} top 1 by value(" + "x" * 1_025 + ")", "characters of an attribute", defaults.MAX_TERM_LENGTH),
        ("{" + ", ".join("t" for _ in range(101)) + "} {a = 1}", "theme tags", defaults.MAX_THEMES),
        ("[" + ", ".join("1" for _ in range(1_001)) + "]", "properties", defaults.MAX_VECTOR),
        ("{a = 1} top " + "9" * 5_000 + " by relatedness", "k of", defaults.MAX_K),
        ("{a = 1} top 0 by relatedness", "k of", defaults.MAX_K),
        ("{a = 1} top 1 within 99999999999999 events by relatedness", "events of", defaults.MAX_WINDOW_EVENTS),
        ("{a = 1} valid for 99999999999999999999999 d", "microseconds", 2**63 - 1),
    ],
)
def test_every_limit_is_an_error_that_names_it(text: str, limit: str, allowed: int) -> None:
    """However long or deep the text is."""
    with pytest.raises(LimitExceeded) as caught:
        parse(text)
    assert limit in caught.value.limit
    assert caught.value.allowed == allowed


def test_what_stands_at_a_limit_is_fine() -> None:
    """64 conjunctions, 64 parentheses, parentheses in quotes, 65,536 characters."""
    parse("{" + ", ".join(f"(a{i} = 1 or b{i} = 2)" for i in range(6)) + "}")
    parse("{" + "(" * 64 + "a = 1" + ")" * 64 + "}")
    parse('{a = "' + "(" * 500 + '"}')
    parse("{a = 1}".ljust(defaults.MAX_SUBSCRIPTION_LENGTH))


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece",
    [
        "(",
        ")",
        "x ",
        " ",
        "starts ",
        "starts" + " " * 100,
        "!",
        "~",
        '"',
        "\\",
        "\\u00e9",
        "a.",
        "..",
        "1 ",
        "-",
        "1",
        "\n",
        "{",
        "a = 1, ",
        "a = 1 or ",
        "(a = 1 or b = 2), ",
        "x,",
        "東 ",
        "<",
        "?e a ?x . ",
        "a-",
        "@",
        " threshold 0.5",
    ],
)
@pytest.mark.parametrize(
    "start",
    [
        "",
        "{",
        "{a = ",
        '{a = "',
        "{a in (",
        "{(",
        "{a = 1} top 1 by distance(",
        "{a = 1} top 1 by sum(",
        "?e a:",
        '?e a "',
    ],
)
def test_long_repetitions_end_quickly(start: str, piece: str) -> None:
    """Texts as long as the limit allows, of one piece again and again: an answer or an error, and no hang."""
    text = (start + piece * defaults.MAX_SUBSCRIPTION_LENGTH)[: defaults.MAX_SUBSCRIPTION_LENGTH]
    try:
        parse(text)
    except LikewiseError as error:
        found: LikewiseError | None = error
    else:
        found = None
    assert found is None or len(str(found)) < 2_000


@pytest.mark.parametrize("wrong", [None, 5, b"{a = 1}", ["{a = 1}"]])
def test_what_is_no_text_is_refused(wrong: object) -> None:
    """Bytes are decoded by whoever read them."""
    with pytest.raises(InputError, match="a subscription is text"):
        parse(wrong)  # type: ignore[arg-type]
