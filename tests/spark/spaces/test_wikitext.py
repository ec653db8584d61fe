"""Promises of likewise.spark.spaces.wikitext."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.spark.spaces.wikitext import plain_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("'''Bold''' and ''italic''", "Bold and italic"),
        ("[[Link]]s, [[target|label]], [[target#part|]], [[:Category:X|shown]]", "Links, label, target, shown"),
        ("a {{t|x={{inner}}|y}} b", "a b"),
        ("a {{never closed b", "a never closed b"),
        ("a }} b ]] c", "a b c"),
        ("[[File:x.jpg|thumb|A [[nested]] {{t}} caption]]after", "after"),
        ("[[Category:X]][[fr:Chat]]text", "text"),
        ("before\n{| class=w\n! h\n|-\n| [[cell]] {{t}}\n|}\nafter", "before\nafter"),
        ('x<ref name=a/> y<ref>hidden [[a]]</ref> z<ref name="b">t</REF >.', "x y z ."),
        ("a<ref>open b", "a open b"),
        ("a<!-- hidden -->b<!-- to the end", "a b"),
        ("== Heading ==\n* one\n## two\n: three\n----\n", "Heading\none\ntwo\nthree"),
        ("[http://x.org a label] [https://y.org] http://z.org/a?b end", "a label end"),
        ("<math>x^2</math><br/>5 &lt; 6&nbsp;km __NOTOC__", "5 < 6 km"),
        ("{{{param|default}}}", "}"),
        ("", ""),
    ],
)
def test_prose_is_left_of_markup(markup: str, text: str) -> None:
    """What a reader would see."""
    assert plain_text(markup) == text


@pytest.mark.parametrize(
    "piece",
    [
        "{{",
        "[[",
        "}}",
        "<ref>",
        "<ref ",
        "<!-- ",
        "[http://x",
        "{|\n",
        "[[a|",
        "=",
        " ",
        "\n",
        "<",
        "&",
        "''",
        "\u2003",
        "http://",
    ],
)
def test_hostile_markup_takes_linear_time(piece: str) -> None:
    """Half a million characters of anything end within the test's timeout."""
    plain_text(piece * (500_000 // len(piece)) + "x")


@given(st.text(alphabet="ab {}[]|<>!-=*'\n:ref/"))
def test_no_markup_breaks_it(markup: str) -> None:
    """Any text gives text, without brackets of links or templates that were closed."""
    text = plain_text(markup)
    assert "[[" not in text
    assert text == text.strip()
