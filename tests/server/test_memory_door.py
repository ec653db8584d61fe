"""The door in memory keeps what the one over HTTP promises."""

from __future__ import annotations

import json

import pytest

from likewise.broker.config import Config, MatchingSettings, TenantLimits
from likewise.broker.log import dead_letters
from likewise.errors import FormatError, InputError, LimitExceeded, UnsupportedSubscription
from likewise.model import Event, EventTuple
from likewise.server import media_types
from likewise.testing.gateway import MemoryGateway


def test_every_media_type_passes() -> None:
    """What is published as RDF or lines is delivered to whoever asked for it, and to nobody else."""
    with MemoryGateway() as door:
        door.subscribe("ann", "{no2 > 40}", id="bad")
        door.subscribe("ben", "{no2 > 90}")
        door.publish(b'{"no2": 45}\n{"no2": 12}', "application/x-ndjson")
        [receipt] = door.publish(b"<http://e.org/r> <http://e.org/no2> 50 .", "text/turtle")
        assert receipt.id == "http://e.org/r"
        assert [event.tuples[0].value for event in door.delivered("ann")] == [45, 50]
        assert door.delivered("ben") == []


def test_what_cannot_be_read_is_refused_and_kept_aside() -> None:
    """All of a body or nothing; an unknown type says which there are."""
    with MemoryGateway() as door:
        door.subscribe("ann", "{no2 exists}")
        with pytest.raises(InputError, match="line 2"):
            door.publish(b'{"no2": 45}\n{"no2"', "application/x-ndjson")
        with pytest.raises(FormatError, match="text/turtle"):
            door.publish(b"no2=45", "text/x-nobody")
        assert door.delivered("ann") == []
        tenant = door.broker.tenant("default")
        with door.broker.store.reading() as tables:
            assert len(dead_letters.listed(tables, tenant.number, 0, 10)) == 2


def test_limits_and_profile_hold() -> None:
    """As the configuration says; in profile `small` a relaxed part is refused."""
    config = Config(limits=TenantLimits(batch=1), matching=MatchingSettings(profile="small"))
    with MemoryGateway(config) as door:
        with pytest.raises(LimitExceeded):
            door.publish(json.dumps([{"a": 1}, {"a": 2}]).encode())
        with pytest.raises(UnsupportedSubscription):
            door.subscribe("ann", "{a~ = b~}")


def test_a_format_of_ones_own_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its media type, and by its short name."""
    monkeypatch.setattr(media_types, "_READERS", dict(media_types._READERS))
    monkeypatch.setattr(media_types, "_SHORT", dict(media_types._SHORT))
    media_types.register("text/x-one", lambda body, parameters, now: [Event((EventTuple("n", int(body)),))], "one")
    assert media_types.parse_media_type("ONE") == media_types.MediaType.parse("text/x-one")
    with MemoryGateway() as door:
        door.subscribe("ann", "{n = 7}")
        door.publish(b"7", "text/x-one; charset=utf-8")
        assert len(door.delivered("ann")) == 1
