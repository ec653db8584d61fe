"""Promises of `likewise.spark.match`: what a Matcher finds, with stable numbers, on batch and streaming DataFrames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import likewise as lw
from likewise.errors import InputError, UnsupportedSubscription
from likewise.formats.arrow.event_batch import EventBatch
from likewise.lake.change_log import ChangeLog
from likewise.spark import match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled
WANTED = ["warm: {temperature > 25 degC}", "hot: {temperature > 30 degC}", "galway: {city = Galway}"]
EVENTS: list[dict[str, Any]] = [
    {"temperature": {"value": 26, "unit": "degC"}, "city": "Galway"},
    {"temperature": {"value": 95, "unit": "degF"}},
    {"temperature": {"value": 1, "unit": "degC"}},
    {"city": "Galway"},
]


def subscriptions() -> list[lw.Subscription]:
    named = (each.partition(": ") for each in WANTED)
    return [lw.parse(text, id=name) for name, _, text in named]


def expected() -> list[tuple[int, list[int]]]:
    """Place and numbers of every event that meets something."""
    matcher = lw.Matcher()
    matcher.add_many(subscriptions())
    numbers = {s.id: number for number, s in enumerate(subscriptions())}
    met = [[numbers[found.subscription_id] for found in matcher.match(lw.event(each))] for each in EVENTS]
    return [(place, found) for place, found in enumerate(met) if found]


def test_a_dataframe_of_json_is_matched_as_a_matcher_matches(spark: SparkSession) -> None:
    """Text and bytes; the other columns stay; a payload that is no event is left out."""
    lines = [*map(json.dumps, EVENTS), "no event"]
    frame = spark.createDataFrame(list(enumerate(lines)), "place int, value string")
    found = match(frame, subscriptions()).collect()
    assert [(row.place, row.subscriptions) for row in found] == expected()
    assert found[0].scores == [1.0] * len(found[0].subscriptions)
    as_bytes = frame.selectExpr("place", "cast(value as binary) as body")
    assert match(as_bytes, subscriptions(), payload="body").collect() == found


def test_every_row_comes_back_with_keep_all(spark: SparkSession) -> None:
    """With what it met, or why it is no event."""
    lines = [*map(json.dumps, EVENTS), "no event"]
    frame = spark.createDataFrame(list(enumerate(lines)), "place int, value string")
    found = match(frame, subscriptions(), keep="all").collect()
    assert [row.value for row in found] == lines
    assert [(row.place, row.subscriptions) for row in found if row.subscriptions] == expected()
    assert [row.error is None for row in found] == [True] * len(EVENTS) + [False]


def test_wanted_events_are_an_event_batch_that_can_be_matched_again(spark: SparkSession) -> None:
    """What is wanted has EventBatch's columns, and those are read as payloads are."""
    frame = spark.createDataFrame([(json.dumps(each),) for each in EVENTS], "value string")
    wanted = match(frame, subscriptions(), keep="wanted")
    table = wanted.toArrow()
    places = [place for place, _ in expected()]
    assert list(EventBatch.from_arrow(table)) == [lw.event(EVENTS[place]) for place in places]
    again = match(wanted, subscriptions()).collect()
    assert [row.subscriptions for row in again] == [numbers for _, numbers in expected()]


def test_structs_are_payloads(spark: SparkSession) -> None:
    """A column of structs, whose empty fields say nothing."""
    frame = spark.createDataFrame(
        [((26.0, "Galway"),), ((None, "Cork"),)], "value struct<temperature: double, city: string>"
    )
    found = match(frame, subscriptions()).collect()
    assert [row.subscriptions for row in found] == [[0, 2]]


def test_a_change_log_gives_its_numbers_and_a_version_can_be_named(spark: SparkSession, tmp_path: Path) -> None:
    """Numbers are the log's, and what is over by `at` is left out."""
    log = ChangeLog(tmp_path / "log")
    log.add(subscriptions(), at=0)
    log.add([lw.parse("{city = Galway} valid for 1 min", id="galway")], at=0)
    log.remove(["warm"])
    frame = spark.createDataFrame([(json.dumps(EVENTS[0]),)], "value string")
    assert match(frame, log.folder, at=1).collect()[0].subscriptions == [3]
    assert match(frame, log.folder, at=60_000_000).count() == 0
    assert match(frame, log.folder, version=1, at=1).collect()[0].subscriptions == [0, 2]


def test_a_streaming_dataframe_is_matched(spark: SparkSession, tmp_path: Path) -> None:
    """The same call on a stream of files."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("\n".join(map(json.dumps, EVENTS)) + "\n")
    stream = spark.readStream.text(str(tmp_path / "in"))
    query = (
        match(stream, subscriptions())
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    assert query.awaitTermination(120)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(row.subscriptions for row in found) == sorted(numbers for _, numbers in expected())


def test_what_cannot_be_done_is_said_before_a_job_runs(spark: SparkSession) -> None:
    """A wrong word, a missing column, a ranking, the same id twice."""
    frame = spark.createDataFrame([("{}",)], "text string")
    with pytest.raises(InputError, match="keep is one of"):
        match(frame, [], payload="text", keep="some")
    with pytest.raises(InputError, match="there is no column 'value'"):
        match(frame, [])
    with pytest.raises(UnsupportedSubscription, match="a broker serve it"):
        match(frame, ["{t > 4} top 2 within 1 min by value(t)"], payload="text")
    with pytest.raises(lw.LikewiseError):
        match(frame, ["{t > 4}", "{t > 4}"], payload="text")


def test_columns_of_the_caller_stay_whatever_they_are_called(spark: SparkSession) -> None:
    """With dots, spaces, or twice the same; those that would be lost are refused, however they are written."""
    frame = spark.sql("""select 1 as `a.b`, '{"t": 1}' as `the.value`, 2 as `x y`, 3 as twice, 4 as twice""")
    (row,) = match(frame, ["{t exists}"], payload="the.value").collect()
    assert list(row)[:4] == [1, 2, 3, 4]
    (row,) = match(frame, ["{t exists}"], payload="the.value", keep="all").collect()
    assert list(row)[:6] == [1, '{"t": 1}', 2, 3, 4, [0]]
    for name, keep in (("error", "all"), ("Subscriptions", "all"), ("event_id", "matches"), ("scores", "matches")):
        taken = spark.sql(f"""select '{{"t": 1}}' as value, 'mine' as {name}""")
        with pytest.raises(InputError, match=f"has a column {name!r} already"):
            match(taken, ["{t exists}"], keep=keep)
        assert match(taken, ["{t exists}"], keep="wanted").count() == 1
    (row,) = match(spark.sql("""select '{"t": 1}' as value, 'mine' as error"""), ["{t exists}"]).collect()
    assert row.error == "mine"


def test_maps_in_structs_are_objects(spark: SparkSession) -> None:
    """As in the JSON that Spark makes of them."""
    text = "named_struct('m', map('k', 1), 'many', array(map('a', 2)), 'none', cast(null as map<string, int>))"
    for payload in (text, f"to_json({text})"):
        frame = spark.sql(f"select {payload} as value")
        (row,) = match(frame, ["{m.k = 1}", "{many.a = 2}", "{none exists}"]).collect()
        assert row.subscriptions == [0, 1]


@pytest.mark.parametrize("kind", ["1", "array('x')", "map('k', 1)", "parse_json('{}')", "struct(parse_json('1') as a)"])
def test_a_payload_that_cannot_be_read_is_refused_at_once(spark: SparkSession, kind: str) -> None:
    """Spark's variants, too: they come as two binaries, which are no event."""
    with pytest.raises(InputError, match=r"the column 'value' holds .*; payloads are JSON"):
        match(spark.sql(f"select {kind} as value"), ["{x exists}"])


def test_a_payload_that_is_null_says_so(spark: SparkSession) -> None:
    """As a message of Kafka that takes a key out is."""
    (row,) = match(spark.sql("select cast(null as string) as value"), ["{x exists}"], keep="all").collect()
    assert (row.subscriptions, row.error) == ([], "there is no event: the payload is null")
