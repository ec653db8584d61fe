"""Inputs nobody would send: each made from a seed and its number alone, so that a run goes on where it stopped."""

from __future__ import annotations

import json
import random
from typing import Any, Final
from urllib.parse import quote

TEXTS: Final = (
    "{temperature~ > 25 degC, city = Galway}",
    "bad air: {no2 > 40 ug/m3, not (indoors = true)} valid for 7 d",
    "{device~ = laptop~, room~ = kitchen~} threshold 0.6 themes [energy, home]",
    "{t between 1 and 2 degC} or {t in (1, 2, 3)}",
    "{no2 exists} top 3 within 1 h by value(no2)",
    "{x > 1} top 10 within 500 events by relatedness",
    '{name starts with "a", tag[] contains "b"} confidence 0.9',
    "{when > 2024-05-01, some list (a = 1, b = 2)}",
    '{topic matches "a/+/c/#"}',
    'event status "open" using sameness best 3',
    "?s <http://e.org/p> ?o . ?o a <http://e.org/C>",
    "near (<http://e.org/s>, ?p, ?o) radius 0.5 by meaning",
    "[1, 0, *]",
    "{kind is-a pump}",
    "({a = 1}, {b = 2})",
)
DOCUMENTS: Final[tuple[Any, ...]] = (
    {"temp": 27.1, "city": "Galway"},
    {"v": 1, "payload": {"temp": {"value": 81.2, "unit": "degF"}}, "id": "e1", "source": "/roof", "themes": ["home"]},
    {"v": 1, "tuples": [{"attribute": "a", "value": 1}], "time": "2024-05-01T12:00:00Z", "expires": 1.9e15},
    {"a": [1, {"b": [True, None, "x"]}], "nested": {"deep": {"er": 1e308}}},
    {"v": 1, "vector": [1, 0, 1], "graph": [["http://e.org/s", "http://e.org/p", "o"]]},
    {"v": 1, "text": "{no2 > 40}", "id": "s"},
    {"specversion": "1.0", "id": "e1", "source": "/roof", "type": "reading", "data": {"temp": 27.1}},
    [{"bn": "urn:dev:1/", "n": "temp", "u": "Cel", "v": 27.1}],
    {"sequence": 3},
    {"policy": "dead-letter", "limit": 10},
    {"event": {"temp": 1}, "text": "{temp > 0}"},
    {"text": "{no2 > 40} top 3 within 1 h by value(no2)", "events": 10, "shown": 3},
    {"name": "n", "scopes": ["publish:/roof"], "expires": "2100-01-01T00:00:00Z"},
    {"subscriber": "ann", "subscription": "s", "event_id": "e1", "relevant": True},
)
PIECES: Final = (
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "~",
    ",",
    ":",
    "=",
    "!=",
    "<",
    ">=",
    "..",
    '"',
    "'",
    "\\",
    "*",
    "?",
    "%",
    "/",
    "#",
    "\0",
    " or ",
    " not ",
    " and ",
    "top ",
    "within ",
    "by ",
    "between ",
    "in ",
    "exists",
    "true",
    "null",
    "NaN",
    "Infinity",
    "-0",
    "1e999",
    "9" * 40,
    "1e-400",
    "0x1",
    "\u00e9",
    "\u0130",
    "\ufeff",
    "\u202e",
    "\U0001f600",
    "\ud800",
    "degC",
    "ug/m3",
    "1 h",
    "events",
    "value(",
    "\r\n",
    "\t",
    "\x7f",
    "a" * 300,
    "__proto__",
    "$ref",
    "../..",
    "%2F",
    "%00",
)
METHODS: Final = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW")
PATHS: Final = (
    "/v1/events",
    "/v1/events/{}",
    "/v1/subscribers",
    "/v1/subscribers/{}",
    "/v1/subscribers/{}/deliveries",
    "/v1/subscribers/{}/acknowledgements",
    "/v1/subscribers/{}/subscriptions",
    "/v1/subscribers/{}/subscriptions/{}",
    "/v1/subscribers/{}/subscriptions/{}/board",
    "/v1/subscriptions",
    "/v1/match",
    "/v1/explain",
    "/v1/backtest",
    "/v1/feedback",
    "/v1/relatedness",
    "/v1/nearest",
    "/v1/dead-letters",
    "/v1/dead-letters/{}",
    "/v1/dead-letters/{}/retry",
    "/v1/tokens",
    "/v1/tokens/{}",
    "/v1/stats",
    "/v1/activity",
    "/v1/grid",
    "/v1/evidence",
    "/metrics",
    "/healthz",
    "/readyz",
    "/openapi.json",
    "/docs",
    "/",
    "/{}",
)
QUERIES: Final = (
    "sequence",
    "after",
    "limit",
    "replay",
    "source",
    "form",
    "a",
    "b",
    "term",
    "k",
    "themes",
    "position",
    "graph",
    "cursor",
)
TYPES: Final = (
    "application/json",
    "application/x-ndjson",
    "application/cloudevents+json",
    "application/cloudevents-batch+json",
    "application/senml+json",
    "text/turtle",
    "application/n-triples",
    "application/n-quads",
    "application/trig",
    "application/ld+json",
    "application/octet-stream",
    "; ;",
    "",
)


def chance(seed: int, kind: str, number: int) -> random.Random:
    """The chance of one input."""
    return random.Random(f"{seed}:{kind}:{number}")


def mutated(text: str, luck: random.Random) -> str:
    """A text with a few edits: pieces put in, taken out, doubled, moved, or single characters changed."""
    for _ in range(luck.choice((0, 1, 1, 2, 3, 8))):
        a, b = sorted((luck.randrange(len(text) + 1), luck.randrange(len(text) + 1)))
        match luck.randrange(6):
            case 0:
                text = text[:a] + luck.choice(PIECES) + text[a:]
            case 1:
                text = text[:a] + text[min(b, a + 12) :]
            case 2:
                text = text[:b] + text[a:b] * luck.choice((1, 2, 20)) + text[b:]
            case 3:
                text = text[:a] + text[b:] + text[a:b]
            case 4:
                text = text[:a] + chr(luck.choice((luck.randrange(128), luck.randrange(0x3000)))) + text[a + 1 :]
            case _:
                text = text[:a] + luck.choice(TEXTS) + text[b:]
        text = text[:20_000]
    return text


def language(seed: int, number: int) -> str:
    """A text that is nearly one of the subscription language."""
    luck = chance(seed, "language", number)
    return mutated(luck.choice(TEXTS), luck)


def value(luck: random.Random, depth: int = 0) -> Any:
    """Any JSON value."""
    match luck.randrange(8 if depth < 4 else 5):
        case 0:
            return luck.choice((None, True, False, 0, -1, 2**53, -(2**63), 2**64, 1e308, -0.0, 0.1, 10**30))
        case 1:
            return luck.choice(PIECES)
        case 2:
            return luck.choice(TEXTS)
        case 3:
            return luck.random() * 10.0 ** luck.randrange(-20, 20)
        case 4:
            return luck.choice(("1 h", "2024-05-01T12:00:00Z", "27.1 degC", "http://e.org/x", "ann", "e1", "s"))
        case 5:
            return [value(luck, depth + 1) for _ in range(luck.randrange(4))]
        case _:
            known = list(DOCUMENTS[luck.randrange(7)])
            names = [
                luck.choice((*PIECES[:40], *map(str, known), "temp", "no2", "device")) for _ in range(luck.randrange(5))
            ]
            return {name: value(luck, depth + 1) for name in names}


def document(seed: int, number: int, kind: str = "json") -> bytes:
    """Bytes that are nearly a JSON document somebody may send."""
    return body_of(chance(seed, kind, number))


def body_of(luck: random.Random) -> bytes:
    """The same by a chance that is under way."""
    found = luck.choice(DOCUMENTS)
    if luck.random() < 0.5 and isinstance(found, dict):
        found = dict(found)
        for _ in range(luck.randrange(1, 3)):
            found[luck.choice((*found, "new", *PIECES[:6]))] = value(luck)
    elif luck.random() < 0.3:
        found = value(luck)
    text = json.dumps(found)
    if luck.random() < 0.5:
        text = mutated(text, luck)
    data = text.encode("utf-8", "surrogatepass")
    if luck.random() < 0.05:
        place = luck.randrange(len(data) + 1)
        data = data[:place] + bytes(luck.randrange(256) for _ in range(luck.randrange(1, 9))) + data[place:]
    return data


def request(seed: int, number: int) -> tuple[bytes, bool]:
    """A request as bytes, and whether it is one that a server can tell the end of."""
    luck = chance(seed, "http", number)
    if luck.random() < 0.1:
        garbage = mutated(
            'POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\n\r\n{"temp": 1}\n', luck
        )
        return garbage.encode("utf-8", "surrogatepass"), False
    path = luck.choice(PATHS)
    while "{}" in path:
        name = luck.choice(("ann", "bob", "e1", "s", "1", "2", "a/b", *PIECES))
        path = path.replace("{}", quote(name.encode("utf-8", "surrogatepass"), safe=luck.choice(("", "%/"))), 1)
    asked = [
        f"{luck.choice(QUERIES)}={quote(str(value(luck, 4)).encode('utf-8', 'surrogatepass'))}"
        for _ in range(luck.choice((0, 0, 1, 2, 5)))
    ]
    path += "?" * bool(asked) + "&".join(asked)
    method = luck.choice((*METHODS, "POST", "POST", "PUT", "GET"))
    body = body_of(luck) if luck.random() < 0.8 else b""
    if luck.random() < 0.1:
        body = b"\n".join(body_of(luck) for _ in range(luck.randrange(1, 20)))
    if "/subscriptions" in path and luck.random() < 0.5:
        body = mutated(luck.choice(TEXTS), luck).encode("utf-8", "surrogatepass")
    kind = luck.choice((TYPES[0], TYPES[0], *TYPES))
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
    if kind:
        head.append(f"Content-Type: {kind}")
    if luck.random() < 0.1:
        odd = luck.choice(("Authorization", "Last-Event-ID", "Accept", "Origin", "Range", "X-A"))
        head.append(f"{odd}: {luck.choice(('Bearer lw_x', 'Basic', '7', 'null', '-1', 'x' * 200))}")
    return "\r\n".join(head).encode("latin-1", "replace") + b"\r\n\r\n" + body, True


def messages(seed: int, number: int) -> list[str | bytes]:
    """What is said on one stream."""
    luck = chance(seed, "stream", number)
    said: list[str | bytes] = []
    for _ in range(luck.randrange(1, 4)):
        body = luck.choice((b'{"sequence": 1}', b'{"acknowledge": 0}', b"{}", body_of(luck), body_of(luck)))
        text = body.decode("utf-8", "replace")
        said.append(body if luck.random() < 0.2 else text)
    return said
