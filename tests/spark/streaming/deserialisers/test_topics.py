"""Promises of messages of Kafka that are not plain JSON: read by their headers, with their key as source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.lake.change_log import ChangeLog
from likewise.spark.streaming.dataframes import Served
from likewise.spark.streaming.lake_sink import LakeTask, write_records
from likewise.spark.streaming.matchers import MeaningChoice, open_matcher, save_matcher
from likewise.spark.streaming.sources.kafka import read_topic
from likewise.spark.streaming.sources.ranges import TopicRange

pytestmark = pytest.mark.timeout(600)


def test_messages_are_read_by_their_headers_and_bad_ones_keep_their_offsets(tmp_path: Path) -> None:
    """In one task: JSON, CloudEvents, SenML and what is none; without a source the key is it, else the partition."""
    confluent_kafka = pytest.importorskip("confluent_kafka")
    producer = confluent_kafka.Producer({"test.mock.num.brokers": 1, "log_level": 2})
    (broker,) = producer.list_topics(timeout=60).brokers.values()
    context = [("ce_specversion", b"1.0"), ("ce_id", b"7"), ("ce_source", b"/lab"), ("ce_type", b"reading")]
    senml = b'[{"bn": "urn:dev:1/", "n": "t", "v": 3, "t": -1}, {"n": "t", "v": 4}]'
    messages: list[tuple[bytes, bytes | None, Any]] = [
        (b'{"t": 1}', b"s17", None),
        (b'{"t": 2}', None, None),
        (b'{"t": 2}', b"ignored", context),
        (senml, b"s18", [("content-type", b"application/senml+json")]),
        (b"no event", b"s19", None),
        (b'{"t": 5', b"s20", context),
        (b'{"t": 6}', b"\xff\xfe", None),
        (b'{"t": 7}', b"s21", [("content-type", None), ("ce_id", None)]),
        (b'{"t": 8}', b"s22", [*context, ("ce_time", None)]),
    ]
    for value, key, headers in messages:
        producer.produce("readings", value, key=key, headers=headers, partition=0)
    assert producer.flush(60) == 0
    log = ChangeLog(tmp_path / "log")
    held = log.add([lw.parse("{t > 0}", id="a"), lw.parse("{room = 112}", id="b")], at=0)
    known = MeaningChoice(annotations="key,is,attribute,value\nsource,s17,room,112\n")
    matcher = save_matcher(held, 0, known, tmp_path / "matchers")
    kafka = {"bootstrap.servers": f"{broker.host}:{broker.port}"}
    place = TopicRange("readings", 0, 0, len(messages))
    task = LakeTask("q", 0, str(tmp_path / "lake"), "plant", keep="all", bad=str(tmp_path / "bad"))
    done = write_records(read_topic(place, kafka), task, Served(open_matcher(matcher), 0, frozenset()), "part")
    rows = {
        table: [
            row
            for part in done.parts
            if part.table == table
            for row in pq.read_table(tmp_path / "lake" / part.path, partitioning=None).to_pylist()
        ]
        for table in ("matches", "events")
    }
    expected = [(0, "s17"), (1, "readings/0"), (2, "/lab"), (3, "urn:dev:1/"), (3, "urn:dev:1/"), (6, "readings/0")]
    expected += [(7, "s21"), (8, "/lab")]  # a header that is null is none
    assert sorted((row["offset"], row["source"]) for row in rows["matches"]) == expected
    assert [row["offset"] for row in rows["matches"] if 1 in row["subscriptions"]] == [0], "by what is known of s17"
    assert len(rows["events"]) == 8
    (path,) = (tmp_path / "bad").iterdir()
    bad = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(each["offset"], each["payload"]) for each in bad] == [(4, "no event"), (5, '{"t": 5')]
    assert all(each["reason"] and each["inlet"] == "readings" for each in bad)
