"""Promises of streams from and to Kafka, tried with librdkafka's own mock cluster."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import ArtefactDamaged, ArtefactMissing, InputError, Unavailable
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits
from likewise.spark.lake import LakeWriter
from likewise.spark.stream import Stream, StreamSettings
from likewise.spark.streaming.kafka_settings import read_settings
from likewise.spark.streaming.sources import kafka as kafka_module
from likewise.spark.streaming.sources.kafka import TopicOffsets, read_topic
from likewise.spark.streaming.sources.ranges import TopicRange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


class Cluster:
    """A broker of Kafka inside this process."""

    def __init__(self) -> None:
        confluent_kafka = pytest.importorskip("confluent_kafka")
        self.producer = confluent_kafka.Producer({"test.mock.num.brokers": 1, "log_level": 2})
        (broker,) = self.producer.list_topics(timeout=60).brokers.values()
        self.servers = f"{broker.host}:{broker.port}"

    def send(self, topic: str, values: list[bytes | None], partition: int = 0) -> None:
        for value in values:
            self.producer.produce(topic, value, partition=partition)
        assert self.producer.flush(60) == 0

    def read(self, topic: str) -> list[tuple[bytes, dict[str, Any]]]:
        """Every message of a topic, with its key."""
        import confluent_kafka

        consumer = confluent_kafka.Consumer({"bootstrap.servers": self.servers, "group.id": "test", "log_level": 2})
        found = []
        for partition in consumer.list_topics(topic, timeout=60).topics[topic].partitions:
            place = confluent_kafka.TopicPartition(topic, partition, 0)
            _, high = consumer.get_watermark_offsets(place, timeout=60)
            consumer.assign([place])
            got = 0
            while got < high:
                for message in consumer.consume(high - got, timeout=10):
                    assert message.error() is None
                    found.append((message.key() or b"", json.loads(message.value() or b"")))
                    got += 1
        consumer.close()
        return found


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster()


def stream(cluster: Cluster, folder: Path, topic: str, to: str | None = None, **rest: Any) -> Stream:
    settings = StreamSettings(
        f"kafka://{cluster.servers}/{topic}", to or f"parquet:{folder / 'lake'}", str(folder / "log")
    )
    return Stream(settings, folder / "checkpoint", **rest)


def die(*rest: object) -> int:
    raise Unavailable("the driver died")


def payload(t: int) -> bytes:
    return json.dumps({"t": t}).encode()


def places(folder: Path) -> Counter[tuple[int, int]]:
    parts = PlainCommits(folder / "lake").parts("matches")
    rows = [row for part in parts for row in pq.read_table(folder / "lake" / part.path, partitioning=None).to_pylist()]
    return Counter((row["partition"], row["offset"]) for row in rows)


def test_a_topic_is_matched_partition_by_partition_and_each_offset_once(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    """Cut into small batches; what comes later is read the next time; Kafka's time is the day of what states none."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 25}", id="a")], at=0)
    for partition in range(2):
        cluster.send("readings", [payload(t) for t in range(20, 32)] + [None], partition)
    reports = list(stream(cluster, tmp_path, "readings", most=20, bad=str(tmp_path / "bad")).run(spark))
    assert len(reports) > 1
    assert sum(report.counts.events for report in reports) == 24
    assert sum(report.counts.bad for report in reports) == 2
    assert reports[-1].lag == 0
    expected = Counter((partition, offset) for partition in range(2) for offset in range(6, 12))
    assert places(tmp_path) == expected
    cluster.send("readings", [payload(40)], 1)
    assert len(list(stream(cluster, tmp_path, "readings", most=20).run(spark))) == 1
    assert places(tmp_path) == expected + Counter([(1, 13)])
    assert PlainCommits(tmp_path / "lake").parts("matches")[0].day > "2020"


def test_a_batch_that_did_not_end_reads_the_same_offsets_again(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages that came meanwhile are of the next batch."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 0}", id="a")], at=0)
    cluster.send("again", [payload(1), payload(2)])
    with monkeypatch.context() as dying:
        dying.setattr(PlainCommits, "commit", die)
        with pytest.raises(Unavailable, match="the driver died"):
            list(stream(cluster, tmp_path, "again").run(spark))
    cluster.send("again", [payload(3)])
    first, second = stream(cluster, tmp_path, "again").run(spark)
    assert (first.repeated, first.counts.events, second.counts.events) == (True, 2, 1)
    assert places(tmp_path) == Counter([(0, 0), (0, 1), (0, 2)])


def test_matches_go_to_a_topic_under_keys_that_tell_what_came_twice(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that dies before it remembers the batch sends it again, under the same keys."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 2}", id="a")], at=0)
    cluster.send("from", [payload(t) for t in range(5)])
    to = f"kafka://{cluster.servers}/found"
    with monkeypatch.context() as dying:
        dying.setattr(LakeWriter, "_version", die)
        with pytest.raises(Unavailable, match="the driver died"):
            list(stream(cluster, tmp_path, "from", to).run(spark))
    list(stream(cluster, tmp_path, "from", to).run(spark))
    found = cluster.read("found")
    assert Counter(key for key, _ in found) == Counter({b"from/0/3/0": 2, b"from/0/4/0": 2})
    assert all(value["subscriptions"] == [0] and value["scores"] == [1.0] for _, value in found)
    settings = StreamSettings(f"kafka://{cluster.servers}/from", to, str(tmp_path / "log"), "all")
    with pytest.raises(InputError, match="a topic takes matches alone"):
        Stream(settings, tmp_path / "other")


def test_what_is_selected_goes_to_a_topic_with_the_match(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    """Of the subscriptions that select alone, as a Matcher says it."""
    wanted = [lw.parse("{t > 2}", id="a"), lw.parse("{t > 3} select (t in degC, @source as device, u)", id="b")]
    ChangeLog(tmp_path / "log").add(wanted, at=0)
    cluster.send("select", [payload(3), payload(4)])
    list(stream(cluster, tmp_path, "select", f"kafka://{cluster.servers}/selected").run(spark))
    matcher = lw.Matcher()
    matcher.add_many(wanted)
    said = matcher.selected(lw.event({"t": 4}, source="select/0"), "b")
    assert [(key, value.get("selected")) for key, value in sorted(cluster.read("selected"))] == [
        (b"select/0/0/0", None),
        (b"select/0/1/0", [{"subscription": 1, "values": said.values, "notes": said.notes, "units": said.units}]),
    ]


def test_a_topic_that_is_not_there_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    """Before a checkpoint is made, and without creating it."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 2}", id="a")], at=0)
    with pytest.raises(InputError, match="there is no topic 'nothing'"):
        stream(cluster, tmp_path, "nothing")
    assert not (tmp_path / "checkpoint").exists()


def test_offsets_that_retention_took_are_refused_with_their_numbers(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planned and not read, or read up to what is no longer there."""
    cluster.send("old", [payload(1)] * 3)
    offsets = TopicOffsets("old", cluster.servers, {})
    with pytest.raises(ArtefactDamaged, match="old/0 was read up to 9 and ends at 3"):
        offsets.after(0, 9)
    monkeypatch.setattr(offsets, "watermarks", lambda partition: (5, 8))
    with pytest.raises(ArtefactMissing, match="the offsets 2 to 4 of old/0 were taken by Kafka's retention"):
        offsets.after(0, 2)
    with pytest.raises(ArtefactMissing, match="the offsets from 70 on of old/0 are gone"):
        list(read_topic(TopicRange("old", 0, 70, 80), {"bootstrap.servers": cluster.servers}))


def test_settings_are_read_with_secrets_from_the_environment(tmp_path: Path) -> None:
    """A wrong line and a missing variable are named; so is what librdkafka does not know."""
    pytest.importorskip("confluent_kafka")
    path = tmp_path / "kafka.properties"
    path.write_text("security.protocol = PLAINTEXT\nsasl.password=${PASSWORD}\n")
    assert read_settings(path, {"PASSWORD": "a=b"}) == {"security.protocol": "PLAINTEXT", "sasl.password": "a=b"}
    with pytest.raises(InputError, match="line 2: the environment has no PASSWORD"):
        read_settings(path, {})
    path.write_text("nothing\n")
    with pytest.raises(InputError, match="line 1: a setting is"):
        read_settings(path)
    with pytest.raises(InputError, match="librdkafka does not take these settings"):
        TopicOffsets("t", "127.0.0.1:1", {"no.such.setting": "1"})


def test_what_rankings_and_alerts_say_goes_to_a_topic_under_keys_that_stay(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that dies before it remembers the batch says it again, under the same keys."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 2} once until false", id="a"), lw.parse("{t > 3}", id="b")], at=0)
    cluster.send("heat", [payload(t) for t in (1, 3, 4, 0, 5)])
    to = f"kafka://{cluster.servers}/said"
    version = LakeWriter._version

    def die_of_states(self: LakeWriter, *rest: Any) -> int:
        return version(self, *rest) if self._matching else die()

    with monkeypatch.context() as dying:
        dying.setattr(LakeWriter, "_version", die_of_states)
        with pytest.raises(Unavailable, match="the driver died"):
            list(stream(cluster, tmp_path, "heat", to).run(spark))
    reports = list(stream(cluster, tmp_path, "heat", to).run(spark))
    assert sum(report.counts.said for report in reports) == 3
    found = Counter((key, value.get("cause")) for key, value in cluster.read("said"))
    said = {key: count for (key, cause), count in found.items() if key.startswith(b"said/")}
    assert sorted(cause for _, cause in found if cause) == ["arrival", "arrival", "cleared"]
    assert set(said.values()) == {2}
    assert {key for key, _ in found} >= {b"heat/0/2/0", b"heat/0/4/0"}


class ComesBack:
    """A consumer whose broker is not back yet, or leads no partition yet, the first times it is asked."""

    def __init__(self, consumer: Any, times: int, code: int) -> None:
        self.consumer, self.left, self.code = consumer, times, code

    def get_watermark_offsets(self, place: Any, timeout: float) -> tuple[int, int]:
        import confluent_kafka

        if self.left:
            self.left -= 1
            raise confluent_kafka.KafkaException(confluent_kafka.KafkaError(self.code))
        low, high = self.consumer.get_watermark_offsets(place, timeout=timeout)
        return low, high


@pytest.mark.parametrize("code", [6, -195], ids=["no leader", "transport"])
def test_a_partition_whose_leader_comes_back_is_waited_for(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """While a broker starts again there is none; one that stays away is said."""
    topic = f"back{abs(code)}"
    cluster.send(topic, [payload(1), payload(2)])
    inlet = TopicOffsets(topic, cluster.servers, {})
    consumer = inlet._consumer
    inlet._consumer = ComesBack(consumer, 2, code)  # type: ignore[assignment]
    assert inlet.watermarks(0) == (0, 2)
    monkeypatch.setattr(kafka_module, "PATIENCE", 0.5)
    inlet._consumer = ComesBack(consumer, 10**9, code)  # type: ignore[assignment]
    with pytest.raises(Unavailable, match=f"does not say the offsets of {topic}/0"):
        inlet.watermarks(0)
