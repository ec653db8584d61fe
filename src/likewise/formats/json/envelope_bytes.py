"""Fields of an event's envelope (id, source, times, themes), decoded without an `Event` where the
envelope is simple.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InvalidEvent, LikewiseError
from likewise.formats.json.events import is_envelope
from likewise.formats.version import JSON_VERSION
from likewise.model.subscription import check_themes
from likewise.model.time import microseconds

Document = dict[str, Any]
_ENVELOPE: Final = frozenset(("v", "payload", "id", "source", "time", "expires", "themes"))  # what is read here
THEME_CACHE_ENTRIES: Final = 10_000


class EnvelopeFields(NamedTuple):
    """Fields of an envelope; `bare` if there is no envelope."""

    bare: bool
    id: str | None = None
    source: str | None = None
    time: int | None = None
    expires: int | None = None
    themes: tuple[str, ...] = ()


BARE: Final = EnvelopeFields(True)


def open_envelopes(payloads: list[Document | None], fields: list[EnvelopeFields]) -> None:
    """Replace each envelope by its payload and record its fields; None where the envelope is not simple."""
    for place, document in enumerate(payloads):
        if document is not None and "v" in document and is_envelope(document):
            known = _envelope_fields(document)
            if known is None:
                payloads[place] = None
            else:
                fields[place], payloads[place] = known, document["payload"]


def _envelope_fields(document: Document) -> EnvelopeFields | None:
    """Return the fields of an envelope; None if it has other fields or invalid values."""
    if not document.keys() <= _ENVELOPE or document["v"] != JSON_VERSION or type(document.get("payload")) is not dict:
        return None
    id, source = document.get("id", ""), document.get("source", "")
    for name in (id, source):
        if type(name) is not str or len(name) > MAX_TERM_LENGTH:
            return None
    moments = [document[name] for name in ("time", "expires") if name in document]
    try:
        if any(type(moment) is not int or microseconds(moment) != moment for moment in moments):
            return None
    except LikewiseError:
        return None
    themes = _tags(document["themes"]) if "themes" in document else ()
    if themes is None:
        return None
    get = document.get
    return EnvelopeFields(False, get("id"), get("source"), get("time"), get("expires"), themes)


def _tags(value: object) -> tuple[str, ...] | None:
    """Return theme tags; None if they are invalid."""
    if type(value) is not list or any(type(tag) is not str for tag in value):
        return None
    return tags if _are_tags(tags := tuple(value)) else None


@lru_cache(maxsize=THEME_CACHE_ENTRIES)
def _are_tags(tags: tuple[str, ...]) -> bool:
    """Return whether theme tags keep the limits; cached, since a stream has few different ones."""
    try:
        check_themes(tags, InvalidEvent)
    except LikewiseError:
        return False
    return True
