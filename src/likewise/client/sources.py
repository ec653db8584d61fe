"""The requests of the catalogue of sources, for both kinds of client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec

from likewise.api.sources import (
    AnnouncementReceipt,
    AttributeSummary,
    CorrectionDetails,
    CorrectionRequest,
    ImportReceipt,
    ReviewQuestion,
    SensingCommand,
    SourcesPage,
    UncertainAttribute,
)
from likewise.client.messages import JSON
from likewise.model.announcements.announcement import Announcement

T = TypeVar("T")
SSSOM: Final = "text/tab-separated-values"
_ENCODE: Final = msgspec.json.Encoder().encode


class ApiRequest(NamedTuple, Generic[T]):
    """A request and the type of its response.

    Args:
        method: the HTTP method.
        path: the path with its query.
        kind: the type of the response; None if it has no body, `str` if the body is plain text.
        body: the body of the request.
        headers: headers beside those of the client.
    """

    method: str
    path: str
    kind: Any
    body: bytes | None = None
    headers: dict[str, str] | None = None

    def read(self, response: httpx.Response) -> T:
        """Decode the response."""
        if self.kind is None:
            return None  # type: ignore[return-value]
        return response.text if self.kind is str else msgspec.json.decode(response.content, type=self.kind)  # type: ignore[return-value]


def source_path(source: str, rest: str = "") -> str:
    """Return the path of a source.

    >>> source_path("roof/1", "keep")
    '/v1/sources/roof%2F1/keep'
    """
    return "/v1/sources/" + quote(source, safe="") + (f"/{rest}" if rest else "")


def announce_request(announcement: Announcement | Mapping[str, Any]) -> ApiRequest[AnnouncementReceipt]:
    """Return the request that announces a source, or renews its lease."""
    made = announcement if isinstance(announcement, Announcement) else msgspec.convert(announcement, Announcement)
    return ApiRequest("PUT", source_path(made.source, "announcement"), AnnouncementReceipt, _ENCODE(made), JSON)


def list_request(containing: str, after: str, limit: int) -> ApiRequest[SourcesPage]:
    """Return the request for a page of sources."""
    query = urlencode({"containing": containing, "after": after, "limit": limit})
    return ApiRequest("GET", f"/v1/sources?{query}", SourcesPage)


def vocabulary_request(containing: str, limit: int) -> ApiRequest[tuple[AttributeSummary, ...]]:
    """Return the request for the attributes of the stream."""
    query = urlencode({"containing": containing, "limit": limit})
    return ApiRequest("GET", f"/v1/vocabulary?{query}", tuple[AttributeSummary, ...])


def correct_request(
    attribute: str, means: str, unit: str, source: str, model: str, denies: Sequence[str] = ()
) -> ApiRequest[CorrectionDetails]:
    """Return the request that states what an attribute means."""
    of, name = ("source", source) if source else ("model", model) if model else ("attribute", "")
    correction = CorrectionRequest(attribute, of, name, means, unit, tuple(denies))  # type: ignore[arg-type]
    return ApiRequest("POST", "/v1/corrections", CorrectionDetails, _ENCODE(correction), JSON)


def questions_request(limit: int) -> ApiRequest[tuple[ReviewQuestion, ...]]:
    """Return the request for the most useful questions."""
    return ApiRequest("GET", f"/v1/vocabulary/questions?limit={limit}", tuple[ReviewQuestion, ...])


def review_request(limit: int) -> ApiRequest[tuple[UncertainAttribute, ...]]:
    """Return the request for the attributes that need review."""
    return ApiRequest("GET", f"/v1/vocabulary/review?limit={limit}", tuple[UncertainAttribute, ...])


def import_request(table: str) -> ApiRequest[ImportReceipt]:
    """Return the request that imports an SSSOM table."""
    return ApiRequest("POST", "/v1/corrections", ImportReceipt, table.encode(), {"content-type": SSSOM})


def keep_request(source: str, pinned: bool) -> ApiRequest[None]:
    """Return the request that pins or unpins a source."""
    return ApiRequest("PUT" if pinned else "DELETE", source_path(source, "keep"), None)


def sense_request(source: str, after: int, wait: float) -> ApiRequest[SensingCommand]:
    """Return the request for the sensing command of a source."""
    query = urlencode({"after": after, "wait": wait})
    return ApiRequest("GET", f"{source_path(source, 'sense')}?{query}", SensingCommand)
