"""What may be published, by its media type: RDF in every spelling, others by registration, refusals in words."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from likewise.errors import InputError
from likewise.model import event
from likewise.server import media_types
from likewise.server.media_types import RDF, MediaType, UnreadableInput, read_events, register
from tests.server.conftest import serving

SAID = {
    "text/turtle": b"@prefix e: <http://e.org/> . e:m1 a e:Match ; e:homeTeam e:Spain . e:m2 a e:Match .",
    "application/n-triples": b"<http://e.org/m1> <http://e.org/homeTeam> <http://e.org/Spain> .\n"
    b"<http://e.org/m2> <http://e.org/homeTeam> <http://e.org/Italy> .\n",
    "application/n-quads": b"<http://e.org/m1> <http://e.org/homeTeam> <http://e.org/Spain> <http://e.org/g> .\n"
    b"<http://e.org/m2> <http://e.org/homeTeam> <http://e.org/Italy> <http://e.org/g> .\n",
    "application/trig": b"@prefix e: <http://e.org/> . e:g { e:m1 e:homeTeam e:Spain . e:m2 e:homeTeam e:Italy }",
    "application/ld+json": b'[{"@id": "http://e.org/m1", "http://e.org/homeTeam": [{"@id": "http://e.org/Spain"}]},'
    b'{"@id": "http://e.org/m2", "http://e.org/homeTeam": [{"@id": "http://e.org/Italy"}]}]',
}


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with serving() as address, httpx.Client(base_url=address, timeout=120) as client:
        yield client


@pytest.mark.parametrize("kind", RDF)
def test_rdf_is_one_event_a_subject_or_one_a_document(kind: str) -> None:
    """In Turtle, N-Triples, N-Quads, TriG and JSON-LD alike."""
    by_subject = read_events(SAID[kind], MediaType.parse(kind), now=lambda: 0)
    assert [e.id for e in by_subject] == ["http://e.org/m1", "http://e.org/m2"]
    (whole,) = read_events(SAID[kind], MediaType.parse(f"{kind}; graph=whole"), now=lambda: 0)
    assert whole.id is None
    assert len(whole.graph) == sum(len(e.graph) for e in by_subject)


def test_published_rdf_meets_a_graph_pattern(http: httpx.Client) -> None:
    """The door that refused every RDF type takes it, matches it and delivers it."""
    assert http.put("/v1/subscribers/fan").status_code == 200
    pattern = "?m <http://e.org/homeTeam> <http://e.org/Spain>"
    assert http.post("/v1/subscribers/fan/subscriptions", json={"v": 1, "text": pattern}).status_code == 201
    told = http.post("/v1/events", content=SAID["text/turtle"], headers={"content-type": "text/turtle"})
    assert told.status_code == 200, told.text
    assert [e["id"] for e in told.json()["events"]] == ["http://e.org/m1", "http://e.org/m2"]
    for _ in range(1_200):
        time.sleep(0.05)
        found = http.get("/v1/subscribers/fan/deliveries").json()["deliveries"]
        if found:
            break
    assert [d["event"]["id"] for d in found] == ["http://e.org/m1"]


def test_the_whole_graph_can_be_asked_for_in_the_address(http: httpx.Client) -> None:
    """`?graph=whole` is the media type's parameter for those who cannot set it."""
    told = http.post("/v1/events?graph=whole", content=SAID["text/turtle"], headers={"content-type": "text/turtle"})
    assert len(told.json()["events"]) == 1
    refused = http.post("/v1/events?graph=some", content=SAID["text/turtle"], headers={"content-type": "text/turtle"})
    assert refused.status_code == 400
    assert "subjects" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/turtle", b"<http://e.org/a> <http://e.org/b>"),
        ("text/turtle", b""),
        ("text/turtle", b"# nothing but words"),
        ("text/turtle", b"\xff\xfe"),
        ("application/ld+json", b'{"@context": "http://127.0.0.1:9/context.jsonld", "@id": "http://e.org/a", "b": 1}'),
        ("application/ld+json", b"[" * 10_000),
        ("application/n-triples", b"<a> <b> <c> ."),
        ("application/trig", b"{{{{"),
    ],
)
def test_rdf_that_cannot_be_read_is_refused_and_kept(http: httpx.Client, kind: str, body: bytes) -> None:
    """Also a context that would have to be fetched; nothing is taken, and the letter is there."""
    before = len(http.get("/v1/dead-letters?limit=1000").json())
    refused = http.post("/v1/events", content=body, headers={"content-type": kind})
    assert refused.status_code in (400, 413), refused.text
    assert len(http.get("/v1/dead-letters?limit=1000").json()) == before + 1


def test_a_type_nobody_reads_is_refused_with_those_that_are(http: httpx.Client) -> None:
    """The message names what to send."""
    refused = http.post("/v1/events", content=b"a,b", headers={"content-type": "text/csv"})
    assert refused.status_code == 400
    assert "text/turtle" in refused.json()["detail"]


def test_a_media_type_of_ones_own_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read like any other, and a name that is none is refused."""
    monkeypatch.setattr(media_types, "_READERS", dict(media_types._READERS))
    register("text/csv", lambda body, parameters, now: [event({"row": line}) for line in body.decode().split()])
    assert len(read_events(b"a b", MediaType.parse("Text/CSV; header=absent"), now=lambda: 0)) == 2
    with pytest.raises(InputError, match="media type"):
        register("CSV", lambda body, parameters, now: [])


def test_what_cannot_be_read_is_named() -> None:
    """The part at fault, not the whole of a batch."""
    with pytest.raises(UnreadableInput) as refused:
        read_events(b'[{"a": 1}, {"v": 9, "payload": {}}]', MediaType.parse(None), now=lambda: 0)
    assert b'"v":9' in refused.value.part
    assert "event 2" in str(refused.value.error)
