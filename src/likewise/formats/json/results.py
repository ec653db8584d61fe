"""Matches, mappings and explanations as JSON, each with its version (docs/formats.md)."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from likewise.defaults import MAX_EVENT_BYTES
from likewise.errors import FormatError
from likewise.formats.json.events import Data, versioned
from likewise.formats.strict_json import as_bytes, decode_object, encode
from likewise.formats.version import JSON_VERSION, check_version
from likewise.model import Explanation, Kind, Mapping, Match
from likewise.model.alerts.notification import AlertNotification
from likewise.model.match import Bindings, Cause

T = TypeVar("T")


class MatchDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """A match in JSON; `schema("match")` publishes this. Without a `probability` it is certain."""

    v: int
    subscription_id: str
    kind: Kind
    score: float
    product: float
    event_id: str | None = None
    cause: Cause = "arrival"
    rank_value: float | None = None
    bindings: Bindings = ()
    mapping: Mapping | None = None
    probability: float | None = None
    spoken: AlertNotification | None = None


def _read(data: Data, kind: type[T], what: str) -> T:
    document = decode_object(as_bytes(data, what, MAX_EVENT_BYTES), what)
    check_version(document.get("v"), what)
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise FormatError(f"the {what} does not follow its schema: {error}; see docs/formats.md") from None


def match_to_json(match: Match, *, mapping: bool = False) -> bytes:
    """Encode a match; its mapping is computed only if `mapping` is true.

    >>> match_to_json(Match("e1", "s1", "exact"))
    b'{"v":1,"subscription_id":"s1","kind":"exact","score":1.0,"product":1.0,"event_id":"e1"}'
    """
    document = MatchDocument(
        JSON_VERSION,
        match.subscription_id,
        match.kind,
        match.score,
        match.product,
        match.event_id,
        match.cause,
        match.rank_value,
        match.bindings,
        match.mapping if mapping else None,
        None if match.probability == 1 else match.probability,
        match.spoken,
    )
    return encode(document, "match")


def match_from_json(data: Data) -> Match:
    """Decode a match.

    >>> match_from_json('{"v": 1, "subscription_id": "s1", "kind": "top", "score": 1, "product": 1, "rank_value": 2.5}')
    Match(event_id=None, subscription_id='s1', kind='top', score=1, product=1, rank_value=2.5, cause='arrival')
    """
    document = _read(data, MatchDocument, "match")
    mapping = document.mapping
    return Match(
        document.event_id,
        document.subscription_id,
        document.kind,
        document.score,
        document.product,
        (lambda: mapping) if mapping is not None else None,
        document.bindings,
        document.rank_value,
        document.cause,
        1.0 if document.probability is None else document.probability,
        document.spoken,
    )


def mapping_to_json(mapping: Mapping) -> bytes:
    """Encode a mapping with its correspondences."""
    return versioned(encode(mapping, "mapping"))


def mapping_from_json(data: Data) -> Mapping:
    """Decode a mapping.

    >>> mapping = Mapping((), 1.0, 1.0, 1.0)
    >>> mapping_from_json(mapping_to_json(mapping)) == mapping
    True
    """
    return _read(data, Mapping, "mapping")


def explanation_to_json(explanation: Explanation) -> bytes:
    """Encode an explanation completely.

    >>> explanation_to_json(Explanation("s1", None, "expired", ()))
    b'{"v":1,"subscription_id":"s1","event_id":null,"verdict":"expired","predicates":[]}'
    """
    return versioned(encode(explanation, "explanation"))


def explanation_from_json(data: Data) -> Explanation:
    """Decode an explanation."""
    return _read(data, Explanation, "explanation")
