"""Every form of the language, and what each piece of text means."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from likewise.errors import InputError, InvalidSubscription, LimitExceeded, UnitSyntaxError
from likewise.language import parse, subscription_text
from likewise.model import (
    All,
    Any,
    Condition,
    Distance,
    GraphPattern,
    Interest,
    Interval,
    Node,
    Not,
    Predicate,
    Quantity,
    Relatedness,
    Statement,
    Statements,
    Top,
    TriplePattern,
    ValueOf,
    WeightedSum,
)
from likewise.model.rdf import RDF_TYPE

HOUR = 3_600_000_000


def items(text: str) -> tuple[Node, ...]:
    """The items of a condition."""
    body = parse(text).body
    assert isinstance(body, Condition)
    return body.items


def one(text: str) -> Node:
    """The only item of a condition, written without its braces."""
    (found,) = items("{" + text + "}")
    return found


@pytest.mark.parametrize(
    "name",
    [
        "number of people in the room",
        "voltage between phase 1 and phase 2",
        "cable plugged in",
        "time between overhauls",
    ],
)
@pytest.mark.parametrize("group", ["{{{}~ > 20}}", "{{(a = 1 or {}~ > 20)}}"])
def test_a_name_may_hold_in_and_between_where_they_are_no_operators(name: str, group: str) -> None:
    """`in` is an operator before values in parentheses, `between` before a number."""
    text = group.format(name)
    assert parse(text) == parse(group.format(f'"{name}"'))
    assert parse(subscription_text(parse(text))) == parse(text)


def test_the_papers_form_has_themes_and_relaxed_parts() -> None:
    """The running example of the first source, with and without its outer parentheses and colons."""
    plain = "{power, computers} {type = increased energy usage event~, device~ = laptop~, office = room 112}"
    paper = "({power, computers}, {type: increased energy usage event~, device~: laptop~, office: room 112})"
    found = parse(plain)
    assert found == parse(paper) == parse(plain.replace("} {", "}, {")) == parse(paper.replace("},", "}"))
    assert found.themes == ("power", "computers")
    assert found.kind == "approximate"
    assert found.body == Condition(
        (
            Predicate("type", "=", "increased energy usage event", False, True),
            Predicate("device", "=", "laptop", True, True),
            Predicate("office", "=", "room 112"),
        )
    )


def test_one_group_is_the_condition_and_empty_themes_are_none() -> None:
    """`{} {a = 1}` and `({a = 1})` are `{a = 1}`."""
    assert parse("{} {a = 1}") == parse("({a = 1})") == parse("{a = 1}") == parse(" { a=1 } ")
    assert parse("{a = 1}").themes == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = x", Predicate("a", "=", "x")),
        ("a : x", Predicate("a", "=", "x")),
        ("a != x", Predicate("a", "!=", "x")),
        ("a!=5", Predicate("a", "!=", 5.0)),
        ("a < 5", Predicate("a", "<", 5.0)),
        ("a<=5", Predicate("a", "<=", 5.0)),
        ("a > -5.5e1", Predicate("a", ">", -55.0)),
        ("a~ >= 25 degC", Predicate("a", ">=", Quantity(25.0, "degC"), True)),
        ("5 < a~", Predicate("a", ">", 5.0, True)),
        ("25 °C >= t", Predicate("t", "<=", Quantity(25.0, "degC"))),
        ("a between 1 and 2", Predicate("a", "between", Interval(1.0, 2.0))),
        ("a between 1 and 2 kg", Predicate("a", "between", Interval(1.0, 2.0, unit="kg"))),
        ("a between 500 g and 2 kg", Predicate("a", "between", Interval(0.5, 2.0, unit="kg"))),
        ("1 <= a~ < 2", Predicate("a", "between", Interval(1.0, 2.0, False, True), True)),
        ("2 >= a > 1", Predicate("a", "between", Interval(1.0, 2.0, True, False))),
        ("a in (x, 5, true, 2 kg)", Predicate("a", "in", ("x", 5.0, True, Quantity(2.0, "kg")))),
        ('a in("x, y")', Predicate("a", "in", ("x, y",))),
        ("a contains cat", Predicate("a", "contains", "cat")),
        ("a contains 5", Predicate("a", "contains", "5")),
        ('a starts  with "c"', Predicate("a", "starts with", "c")),
        ("a ends with t", Predicate("a", "ends with", "t")),
        ('topic under "building/floor 1"', Predicate("topic", "under", "building/floor 1")),
        ("type~ is-a measurement", Predicate("type", "is-a", "measurement", True)),
        ('"check in time"~ exists', Predicate("check in time", "exists", None, True)),
        ("humidity exists", Predicate("humidity", "exists")),
    ],
)
def test_each_operator_reads_as_it_is_written(text: str, expected: Predicate) -> None:
    """All operators, with attributes and values bare, quoted and relaxed."""
    assert one(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("27.5", 27.5),
        ("+5", 5.0),
        (".5", 0.5),
        ("5 pm", "5 pm"),
        ("25 blorps", "25 blorps"),
        ("112b", "112b"),
        ("81.2 °F", Quantity(81.2, "degF")),
        ("50%", Quantity(50.0, "%")),
        ("true", True),
        ("FALSE", False),
        ('"true"', "true"),
        ('"25"', "25"),
        ("this or that", "this or that"),
        ("not now", "not now"),
        ("increased \n  energy", "increased energy"),
        ('"a  b "', "a  b "),
        (r'"say \"hi\" \\ \n \u00e9 \U0001F6B2"', 'say "hi" \\ \n é 🚲'),
        ("hello!", "hello!"),
        ("O'Brien", "O'Brien"),
        ("東京 タワー", "東京 タワー"),
        ("عربي", "عربي"),
        ("a.b/c-d_e#f%", "a.b/c-d_e#f%"),
        ("inner text", "inner text"),
        ("orange", "orange"),
    ],
)
def test_a_bare_value_is_a_number_a_boolean_or_text(text: str, expected: object) -> None:
    """Quoted is always text; a unit counts if the table has it."""
    predicate = one(f"a = {text}")
    assert isinstance(predicate, Predicate)
    assert predicate.value == expected
    assert type(predicate.value) is type(expected)


def test_not_binds_tightest_then_comma_then_or() -> None:
    """The example of the language's description."""
    a, b, c = (Predicate(name, "=", float(i)) for i, name in enumerate("abc", start=1))
    assert one("(a = 1, b = 2 or c = 3)") == Any((All((a, b)), c))
    assert one("(not a = 1, b = 2 or c = 3)") == Any((All((Not(a), b)), c))
    assert one("not (a = 1 or b = 2, c = 3)") == Not(Any((a, All((b, c)))))
    assert one("((a = 1 or b = 2), c = 3)") == All((Any((a, b)), c))
    assert one("not not a = 1") == Not(Not(a))
    assert one("((a = 1))") == a
    assert items("{a = 1, (b = 2 or c = 3)}") == (a, Any((b, c)))


def test_or_ends_bare_text_inside_parentheses_only() -> None:
    """Outside it is a word like others."""
    assert one("a = this or that") == Predicate("a", "=", "this or that")
    assert one("(a = this or b = that)") == Any((Predicate("a", "=", "this"), Predicate("b", "=", "that")))
    assert one('(a = "this or that" or b exists)') == Any(
        (Predicate("a", "=", "this or that"), Predicate("b", "exists"))
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "top 10 within 24 h by distance(lat 45.815, long -1e1)",
            Top(10, Distance((("lat", 45.815), ("long", -10.0))), duration=24 * HOUR),
        ),
        ('top 1 by distance("a b" 5)', Top(1, Distance((("a b", 5.0),)))),
        ("top 1 by distance(wind speed 2 5)", Top(1, Distance((("wind speed 2", 5.0),)))),
        (
            "top 3 within 500 events by sum(2*pm10 + no2)",
            Top(3, WeightedSum(((2.0, "pm10"), (1.0, "no2"))), events=500),
        ),
        ('top 3 by sum(-pm-10 - 0.5 * "a+b")', Top(3, WeightedSum(((-1.0, "pm-10"), (-0.5, "a+b"))))),
        ("top 3 by value(x)", Top(3, ValueOf("x"))),
        ("top 3 by value(air temperature) highest", Top(3, ValueOf("air temperature"), highest=True)),
        ("top 3 by relatedness", Top(3, Relatedness(), highest=True)),
        ("top 3 by relatedness lowest", Top(3, Relatedness())),
        ("top 3 within 1.5s by relatedness", Top(3, Relatedness(), 1_500_000, highest=True)),
        ("top 3 within 2 hours by value(x) lowest", Top(3, ValueOf("x"), 2 * HOUR)),
    ],
)
def test_top_reads_its_window_scoring_and_order(text: str, expected: Top) -> None:
    """Lowest by default, for relatedness highest."""
    found = parse("{a exists} " + text)
    assert found.top == expected
    assert found.kind == "top"


def test_options_stand_at_the_end_in_any_order() -> None:
    """Threshold, validity and top, once each."""
    found = parse("{a~ = x} valid for 7 d threshold 0.6 top 1 by relatedness")
    assert (found.threshold, found.valid_for) == (0.6, 7 * 24 * HOUR)
    assert found.top == Top(1, Relatedness(), highest=True)
    assert found == parse("{a~ = x} top 1 by relatedness threshold .6 valid for 1 week")


def test_confidence_stands_on_any_subscription() -> None:
    """A probability, once; it is told apart from the threshold, which is a score."""
    assert parse("{a~ = x} confidence 0.8 threshold 0.6").confidence == 0.8
    for body in ("{a = 1}", "[1, 0]", 'event type "x"', "?s ?p ?o", "{a exists} top 1 by value(a)"):
        assert parse(f"{body} confidence .5").confidence == 0.5
    assert str(parse("{a~ = x} confidence 0.8 valid for 7 d threshold 0.6")).endswith(
        "threshold 0.6 valid for 7 d confidence 0.8"
    )


def test_statements_say_by_which_measures_they_are_compared() -> None:
    """`using` and `best`, each once, in any order; the words stay free elsewhere."""
    found = parse('event type "Race" best 3 using sameness')
    assert (found.using, found.best) == ("sameness", 3)
    assert subscription_text(found) == 'event type "Race" using sameness best 3'
    assert parse("{using~ = best confidence~}").body == parse('{"using"~ = "best confidence"~}').body


def test_statements_are_read_with_dots_or_new_lines() -> None:
    """As in the second source's examples."""
    expected = Statements((Statement("type", "Football Match"), Statement("team", "Spain")))
    dotted = parse('event type "Football Match" . event team "Spain"')
    lines = parse('event type "Football Match"\nevent team "Spain" .')
    assert dotted.body == lines.body == expected
    assert dotted.kind == "statements"
    assert parse('event "takes place in" "x"').body == parse('event takes place in "x"').body
    assert parse('event type "x" threshold 0.3').threshold == 0.3


def test_graph_patterns_know_prefixes_and_abbreviations() -> None:
    """Shipped prefixes, declared ones, `a`, `;` and `,`."""
    dbo = "http://dbpedia.org/ontology/"
    found = parse("?e rdf:type dbo:Event . $e dbp:stadium ?x")
    assert found.kind == "pattern"
    assert found.body == GraphPattern(
        (
            TriplePattern("?e", RDF_TYPE, f"<{dbo}Event>"),
            TriplePattern("?e", "<http://dbpedia.org/property/stadium>", "?x"),
        )
    )
    short = parse(
        "prefix ex: <http://e.org/> PREFIX : <http://f.org/> ?e a ex:T, :U ; ex:p.q ?x. ?x ?p <http://e.org/a>."
    )
    assert short.body == GraphPattern(
        (
            TriplePattern("?e", RDF_TYPE, "<http://e.org/T>"),
            TriplePattern("?e", RDF_TYPE, "<http://f.org/U>"),
            TriplePattern("?e", "<http://e.org/p.q>", "?x"),
            TriplePattern("?x", "?p", "<http://e.org/a>"),
        )
    )
    assert parse("PREFIX dbo: <http://e.org/> ?e a dbo:T").body == parse("?e a <http://e.org/T>").body


def test_an_interest_vector_is_read_bit_by_bit() -> None:
    """0, 1 and *."""
    found = parse("[1, 0, *,1]")
    assert found.body == Interest("10*1")
    assert found.kind == "interest"


@pytest.mark.parametrize(
    ("text", "error", "part"),
    [
        ("{t > 25 blorps}", UnitSyntaxError, "blorps"),
        ("{t between 1 and 25 blorps}", UnitSyntaxError, "blorps"),
        ("{t > 5 pm}", UnitSyntaxError, "pm"),
        ("{t > 5 kg, t < 3 degC}", UnitSyntaxError, "kg"),
        ("{t between 5 kg and 30 degC}", UnitSyntaxError, "kg"),
        ("{a = 1} top 1 within 5 kg by value(x)", UnitSyntaxError, "kg"),
        ("{t = 25~}", InvalidSubscription, "~"),
        ("{t > 25~}", InvalidSubscription, "~"),
        ("{t between 1~ and 2}", InvalidSubscription, "~"),
        ("{t in (a~, b)}", InvalidSubscription, "~"),
        ("{t contains x~}", InvalidSubscription, "~"),
        ("{t = true~}", InvalidSubscription, "~"),
        ("{t > hot}", InvalidSubscription, "hot"),
        ('{t > "25"}', InvalidSubscription, "25"),
        ("{t = nan}", InputError, "nan"),
        ("{t > -inf}", InputError, "inf"),
        ("{t = 1e999}", InputError, "1e999"),
        ("{t > 1e999 kg}", InputError, "1e999"),
        ("{}", InvalidSubscription, "empty"),
        ("{a, b} {}", InvalidSubscription, "empty"),
        ('{a contains ""}', InvalidSubscription, "empty"),
        ('{"" exists}', InvalidSubscription, "empty"),
        ('{a = 1} top 1 by value(" ")', InvalidSubscription, "empty"),
        ("[]", InvalidSubscription, "0, 1 and"),
        ("{a between 5 and 1}", InvalidSubscription, "is empty"),
        ("{3 < a < 3}", InvalidSubscription, "is empty"),
        ("{a = 1} threshold 2", InvalidSubscription, "between 0 and 1"),
        ("{a = 1} confidence 2", InvalidSubscription, "probability"),
        ("{a = 1} using jcn", InvalidSubscription, "statements"),
        ('event a "x" best 0', LimitExceeded, "best"),
        ("{a = 1} valid for 0 d", InvalidSubscription, "longer than nothing"),
        ("[1] top 1 by relatedness", InvalidSubscription, "top"),
    ],
)
def test_what_cannot_exist_is_the_models_error(text: str, error: type[InputError], part: str) -> None:
    """Errors of the model come out as they are."""
    with pytest.raises(error) as caught:
        parse(text)
    assert type(caught.value) is error
    assert part in str(caught.value)


def test_an_id_that_is_given_is_kept() -> None:
    """Without one it is the hash of the printed form."""
    assert parse("{a = 1}", id="mine").id == "mine"
    assert parse("{a = 1}").id == parse("{ a:1.0 }").id != parse("{a = 2}").id


def test_the_grammar_is_loaded_on_first_use_only() -> None:
    """Importing the package and its language does not load the parser generator."""
    code = "import sys, likewise, likewise.language as l; assert 'lark' not in sys.modules; l.parse('{a = 1}')"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_threads_may_parse_at_once() -> None:
    """One grammar serves all of them."""
    texts = [f"{{t{i}}} {{a{i}~ > {i}, (b = {i} or not c = x{i})}}" for i in range(40)]
    expected = [parse(text) for text in texts]
    found: dict[int, list[object]] = {}

    def work(number: int) -> None:
        found[number] = [parse(text) for text in texts]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [expected] * 4
