"""Events keep the bytes they came in: in the log, in deliveries, across a restart; what they say is what counts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log.files import DATABASE
from likewise.errors import ArtefactDamaged, Conflict
from likewise.formats.json.batches import MANY, decode_each
from likewise.server.media_types import MediaType, read_events

JSON = MediaType.parse(None)


def given(broker: Broker, after: int = 0) -> list[dict[str, Any]]:
    tenant = broker.tenant("default")
    return [msgspec.json.decode(frame) for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=after)]


@pytest.mark.parametrize("count", [1, MANY, 3 * MANY])
def test_a_payload_is_delivered_as_it_was_sent_and_kept_across_a_restart(tmp_path: Path, count: int) -> None:
    """Digits, order of keys and blanks alike; what was read into columns matches as what was read one by one."""
    said = [b'{"no2": 45.50, "n":%d, "at": "12:00"}' % n for n in range(count)]
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann", limit=1000)
        broker.subscribe(tenant, "ann", [lw.parse("{no2 > 40}", id="a")])
        receipts = broker.publish(tenant, read_events(b"[" + b",".join(said) + b"]", JSON, lambda: 0))
        broker.wait_until_matched(300)
        frames = [frame for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)]
    assert all(b'"payload":' + one in frame for one, frame in zip(said, frames, strict=True))
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        assert [frame for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)] == frames
        stored = list(broker.store.entries(receipts[0].position - 1, receipts[-1].position))
        assert [entry.value.tuples for entry in stored] == [each.tuples for each in decode_each(said)]  # type: ignore[union-attr]
        broker.subscribe(tenant, "ann", [lw.parse("{n = 0}", id="late")], replace=True)  # reads them from the log


def test_blanks_and_the_order_of_keys_are_no_conflict() -> None:
    """Another value, another kind of number or another order in a list are."""
    first = b'{"v": 1, "id": "e1", "payload": {"a": 1, "b": {"c": [1, 2], "d": [{"x": 1}]}}}'
    same = [
        b'{"payload":{"b":{"d":[{"x":1}],"c":[1,2]},"a":1},"id":"e1","v":1}',
        b'{"v":1,"id":"e1","tuples":[{"attribute":"a","value":1},{"attribute":"b.c[]","value":1},'
        b'{"attribute":"b.c[]","value":2},{"attribute":"b.d[].x","value":1,"group":1}]}',
    ]
    other = [
        first.replace(b"1, 2", b"2, 1"),
        first.replace(b'"a": 1', b'"a": 1.0'),
        first.replace(b'"a": 1', b'"a": 2'),
    ]
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        [receipt] = broker.publish(tenant, read_events(first, JSON, lambda: 0))
        for again in same:
            assert broker.publish(tenant, read_events(again, JSON, lambda: 0)) == [
                msgspec.structs.replace(receipt, duplicate=True)
            ]
        for bad in other:
            with pytest.raises(Conflict):
                broker.publish(tenant, read_events(bad, JSON, lambda: 0))
        many = [first, *(b'{"n": %d}' % n for n in range(MANY))]
        found = broker.publish(
            tenant, read_events(b"\n".join(many), MediaType.parse("application/x-ndjson"), lambda: 0)
        )
        assert [each.duplicate for each in found] == [True] + [False] * MANY


def test_events_read_together_and_alone_lead_to_the_same_deliveries() -> None:
    """Whatever they share a commit with, with windows and relaxed parts beside."""
    payloads = [
        {"x": n * 7 % 31, "temp": "hot", **({"t": {"value": n, "unit": "degC"}} if n % 5 == 0 else {})}
        for n in range(80)
    ]
    asked = [
        "{x > 20}",
        "{t > 10 degC}",
        "{temperature~ = warm~} threshold 0.1",
        "{x exists} top 2 within 9 events by value(x)",
    ]

    def delivered(size: int, kinds: int) -> list[Any]:
        with Broker(None) as broker:
            tenant = broker.tenant("default")
            broker.register(tenant, "ann", limit=1000)
            broker.subscribe(tenant, "ann", [lw.parse(text, id=str(n)) for n, text in enumerate(asked[:kinds])])
            for start in range(0, len(payloads), size):
                body = msgspec.json.encode(payloads[start : start + size])
                broker.publish(tenant, read_events(body, JSON, lambda: 0))
            broker.wait_until_matched(300)
            found = given(broker)
        return [(d["sequence"], d["cause"], d["subscriptions"], d["event"]["payload"]) for d in found]

    for kinds in (2, 4):
        assert delivered(1, kinds) == delivered(80, kinds) == delivered(MANY + 1, kinds)


def test_the_log_is_read_together_as_it_is_read_one_by_one(tmp_path: Path) -> None:
    """Flat and nested payloads, envelopes, tuples and commands between them; also up to an entry that was altered."""
    said = [b'{"no2": %d.50, "at": "12:00"}' % n for n in range(300)]
    said += [
        b'{"v":1,"id":"own %d","source":"s","time":5,"expires":%d,"payload":{"a":{"b":[1,2]}}}' % (n, 10**17)
        for n in range(30)
    ]
    said += [b'{"v":1,"tuples":[{"attribute":"a","value":%d}]}' % n for n in range(30)]
    said += [b'{"x":1}'] * 250
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        for first in range(0, len(said), 100):
            broker.publish(tenant, read_events(b"[" + b",".join(said[first : first + 100]) + b"]", JSON, lambda: 0))
            broker.register(tenant, f"ann {first}")
        broker.wait_until_matched(300)
        end = broker.store.position
        plain = list(broker.store.entries(0, end))
        together = list(broker.store.entries(0, end, together=True))
        assert any(entry.batch is not None for entry in together)
        assert len(plain) > len(said)
        for one, other in zip(plain, together, strict=True):
            assert (one.value, one.time) == (other.value, other.time)
            assert msgspec.structs.replace(other, content=one.content) == one
    position, body = next((e.position, e.body) for e in plain if b"49.50" in e.body)
    with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as store, store:
        store.execute("UPDATE log SET body = ? WHERE position = ?", (body.replace(b"49.50", b"48.50"), position))
    with Broker(tmp_path / "data") as broker:
        for way in (False, True):
            got = broker.store.entries(0, end, together=way)
            assert [next(got).position for _ in range(position - 1)] == list(range(1, position))
            with pytest.raises(ArtefactDamaged):
                next(got)
