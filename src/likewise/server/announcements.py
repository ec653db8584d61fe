"""Announcements as sources send them, whatever brought them: read, and refused with words."""

from __future__ import annotations

import msgspec

from likewise.errors import FormatError, InputError
from likewise.model.announcements.announcement import Announcement


def decode_announcement(body: bytes, source: str) -> Announcement:
    """Decode a source's announcement from JSON; the error says what is wrong with it.

    >>> decode_announcement(b'{"attributes": [{"name": "temp1", "unit": "degC"}]}', "roof").source
    'roof'
    """
    try:
        document = msgspec.json.decode(body)
        if not isinstance(document, dict):
            raise FormatError("an announcement is a JSON object with `attributes`; see /docs")
        if document.setdefault("source", source) != source:
            raise InputError(f"the announcement is of {document['source']!r}, but the address names {source!r}")
        return msgspec.convert(document, Announcement)
    except msgspec.ValidationError as error:
        raise FormatError(f"the announcement does not follow its schema: {error}; see /docs") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"the announcement is not JSON: {error}") from None
    except RecursionError:
        raise FormatError("the announcement is nested too deeply") from None
