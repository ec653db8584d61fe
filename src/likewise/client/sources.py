"""The catalogue as a client sees it: announce, look, correct; for plain programs and for asyncio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar
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
    SourceDemandDetails,
    SourceDetails,
    SourcesPage,
)
from likewise.client.messages import JSON
from likewise.model.announcements.announcement import Announcement

T = TypeVar("T")
SSSOM: Final = "text/tab-separated-values"
_ENCODE: Final = msgspec.json.Encoder().encode


class ApiRequest(NamedTuple, Generic[T]):
    """A request, and what its answer is; `kind` None if nothing is answered, `str` if it is text as it is."""

    method: str
    path: str
    kind: Any
    body: bytes | None = None
    headers: dict[str, str] | None = None

    def read(self, answer: httpx.Response) -> T:
        """The answer as a value."""
        if self.kind is None:
            return None  # type: ignore[return-value]
        return answer.text if self.kind is str else msgspec.json.decode(answer.content, type=self.kind)  # type: ignore[return-value]


def source_path(source: str, rest: str = "") -> str:
    """The address of a source.

    >>> source_path("roof/1", "keep")
    '/v1/sources/roof%2F1/keep'
    """
    return "/v1/sources/" + quote(source, safe="") + (f"/{rest}" if rest else "")


def announce_request(said: Announcement | Mapping[str, Any]) -> ApiRequest[AnnouncementReceipt]:
    """Announce a source, or renew its lease."""
    made = said if isinstance(said, Announcement) else msgspec.convert(said, Announcement)
    return ApiRequest("PUT", source_path(made.source, "announcement"), AnnouncementReceipt, _ENCODE(made), JSON)


def list_request(containing: str, after: str, limit: int) -> ApiRequest[SourcesPage]:
    """A page of sources."""
    query = urlencode({"containing": containing, "after": after, "limit": limit})
    return ApiRequest("GET", f"/v1/sources?{query}", SourcesPage)


def vocabulary_request(containing: str, limit: int) -> ApiRequest[tuple[AttributeSummary, ...]]:
    """The words of the stream."""
    query = urlencode({"containing": containing, "limit": limit})
    return ApiRequest("GET", f"/v1/vocabulary?{query}", tuple[AttributeSummary, ...])


def correct_request(attribute: str, means: str, unit: str, source: str, model: str) -> ApiRequest[CorrectionDetails]:
    """Say what an attribute is."""
    of, name = ("source", source) if source else ("model", model) if model else ("attribute", "")
    wanted = CorrectionRequest(attribute, of, name, means, unit)  # type: ignore[arg-type]
    return ApiRequest("POST", "/v1/corrections", CorrectionDetails, _ENCODE(wanted), JSON)


def questions_request(limit: int) -> ApiRequest[tuple[ReviewQuestion, ...]]:
    """The most useful questions."""
    return ApiRequest("GET", f"/v1/vocabulary/questions?limit={limit}", tuple[ReviewQuestion, ...])


def import_request(table: str) -> ApiRequest[ImportReceipt]:
    """Corrections as an SSSOM table."""
    return ApiRequest("POST", "/v1/corrections", ImportReceipt, table.encode(), {"content-type": SSSOM})


def keep_request(source: str, kept: bool) -> ApiRequest[None]:
    """A person's word."""
    return ApiRequest("PUT" if kept else "DELETE", source_path(source, "keep"), None)


def sense_request(source: str, after: int, wait: float) -> ApiRequest[SensingCommand]:
    """What a source is told."""
    query = urlencode({"after": after, "wait": wait})
    return ApiRequest("GET", f"{source_path(source, 'sense')}?{query}", SensingCommand)


class _Sends(Protocol):
    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response: ...


class _SendsLater(Protocol):
    async def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response: ...


class Sources:
    """The catalogue of a broker.

    with Publisher(source="sensor-17") as publisher:
        publisher.sources.announce({"source": "sensor-17", "attributes": [{"name": "temp1", "unit": "degC"}]})
        publisher.sources.correct("temp1", "supply air temperature", source="sensor-17")
    """

    def __init__(self, connection: _Sends) -> None:
        self._connection = connection

    def _ask(self, asked: ApiRequest[T]) -> T:
        return asked.read(self._connection.request(asked.method, asked.path, asked.body, asked.headers))

    def announce(self, announcement: Announcement | Mapping[str, Any]) -> AnnouncementReceipt:
        """Announce what a source can produce, until its lease is over; again to renew it."""
        return self._ask(announce_request(announcement))

    def revoke(self, source: str) -> None:
        """Let an announcement hold no longer."""
        self._ask(ApiRequest("DELETE", source_path(source, "announcement"), None))

    def list(self, containing: str = "", after: str = "", limit: int = 100) -> SourcesPage:
        """Sources by name, some at a time."""
        return self._ask(list_request(containing, after, limit))

    def show(self, source: str) -> SourceDetails:
        """Everything that is known about a source."""
        return self._ask(ApiRequest("GET", source_path(source), SourceDetails))

    def vocabulary(self, containing: str = "", limit: int = 1_000) -> tuple[AttributeSummary, ...]:
        """The names of attributes that the stream uses."""
        return self._ask(vocabulary_request(containing, limit))

    def questions(self, limit: int = 10) -> tuple[ReviewQuestion, ...]:
        """The attributes whose confirmation would change most deliveries."""
        return self._ask(questions_request(limit))

    def correct(
        self, attribute: str, means: str = "", *, unit: str = "", source: str = "", model: str = ""
    ) -> CorrectionDetails:
        """Say once what an attribute of a source, of a model, or of everybody means."""
        return self._ask(correct_request(attribute, means, unit, source, model))

    def corrections(self) -> tuple[CorrectionDetails, ...]:
        """Every correction that holds."""
        return self._ask(ApiRequest("GET", "/v1/corrections", tuple[CorrectionDetails, ...]))

    def take_back(self, number: int) -> None:
        """Take a correction back."""
        self._ask(ApiRequest("DELETE", f"/v1/corrections/{number}", None))

    def export_corrections(self) -> str:
        """Every correction, as an SSSOM table."""
        return self._ask(ApiRequest("GET", "/v1/corrections", str, headers={"accept": SSSOM}))

    def import_corrections(self, table: str) -> int:
        """Make the corrections of an SSSOM table, all or none; how many."""
        return self._ask(import_request(table)).corrections

    def keep(self, source: str, kept: bool = True) -> None:
        """Keep a source awake whoever asks for it, or let it rest again."""
        self._ask(keep_request(source, kept))

    def sense(self, source: str, after: int = 0, wait: float = 0.0) -> SensingCommand:
        """What a source is told; with `wait`, once its version is above `after`, for so many seconds."""
        return self._ask(sense_request(source, after, wait))

    def demand(self, source: str) -> SourceDemandDetails:
        """What an announced source is asked for, as exact filters on its own names."""
        return self._ask(ApiRequest("GET", source_path(source, "demand"), SourceDemandDetails))


class AsyncSources:
    """The same for asyncio."""

    def __init__(self, connection: _SendsLater) -> None:
        self._connection = connection

    async def _ask(self, asked: ApiRequest[T]) -> T:
        return asked.read(await self._connection.request(asked.method, asked.path, asked.body, asked.headers))

    async def announce(self, announcement: Announcement | Mapping[str, Any]) -> AnnouncementReceipt:
        """Announce what a source can produce, until its lease is over; again to renew it."""
        return await self._ask(announce_request(announcement))

    async def revoke(self, source: str) -> None:
        """Let an announcement hold no longer."""
        await self._ask(ApiRequest("DELETE", source_path(source, "announcement"), None))

    async def list(self, containing: str = "", after: str = "", limit: int = 100) -> SourcesPage:
        """Sources by name, some at a time."""
        return await self._ask(list_request(containing, after, limit))

    async def show(self, source: str) -> SourceDetails:
        """Everything that is known about a source."""
        return await self._ask(ApiRequest("GET", source_path(source), SourceDetails))

    async def vocabulary(self, containing: str = "", limit: int = 1_000) -> tuple[AttributeSummary, ...]:
        """The names of attributes that the stream uses."""
        return await self._ask(vocabulary_request(containing, limit))

    async def questions(self, limit: int = 10) -> tuple[ReviewQuestion, ...]:
        """The attributes whose confirmation would change most deliveries."""
        return await self._ask(questions_request(limit))

    async def correct(
        self, attribute: str, means: str = "", *, unit: str = "", source: str = "", model: str = ""
    ) -> CorrectionDetails:
        """Say once what an attribute of a source, of a model, or of everybody means."""
        return await self._ask(correct_request(attribute, means, unit, source, model))

    async def take_back(self, number: int) -> None:
        """Take a correction back."""
        await self._ask(ApiRequest("DELETE", f"/v1/corrections/{number}", None))

    async def corrections(self) -> tuple[CorrectionDetails, ...]:
        """Every correction that holds."""
        return await self._ask(ApiRequest("GET", "/v1/corrections", tuple[CorrectionDetails, ...]))

    async def export_corrections(self) -> str:
        """Every correction, as an SSSOM table."""
        return await self._ask(ApiRequest("GET", "/v1/corrections", str, headers={"accept": SSSOM}))

    async def import_corrections(self, table: str) -> int:
        """Make the corrections of an SSSOM table, all or none; how many."""
        return (await self._ask(import_request(table))).corrections

    async def keep(self, source: str, kept: bool = True) -> None:
        """Keep a source awake whoever asks for it, or let it rest again."""
        await self._ask(keep_request(source, kept))

    async def sense(self, source: str, after: int = 0, wait: float = 0.0) -> SensingCommand:
        """What a source is told; with `wait`, once its version is above `after`, for so many seconds."""
        return await self._ask(sense_request(source, after, wait))

    async def demand(self, source: str) -> SourceDemandDetails:
        """What an announced source is asked for, as exact filters on its own names."""
        return await self._ask(ApiRequest("GET", source_path(source, "demand"), SourceDemandDetails))
