"""The catalogue as a client sees it: announce, look, correct; for plain programs and for asyncio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec

from likewise.api.sources import (
    AnnouncementHeld,
    CorrectionShown,
    CorrectionWanted,
    DemandShown,
    Imported,
    Sense,
    SourceShown,
    SourcesPage,
    UsefulQuestion,
    WordShown,
)
from likewise.client.messages import JSON
from likewise.model.announcements.announcement import Announcement

T = TypeVar("T")
SSSOM: Final = "text/tab-separated-values"
_ENCODE: Final = msgspec.json.Encoder().encode


class Asked(NamedTuple, Generic[T]):
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


def announcing(said: Announcement | Mapping[str, Any]) -> Asked[AnnouncementHeld]:
    """Announce a source, or renew its lease."""
    made = said if isinstance(said, Announcement) else msgspec.convert(said, Announcement)
    return Asked("PUT", source_path(made.source, "announcement"), AnnouncementHeld, _ENCODE(made), JSON)


def listing(containing: str, after: str, limit: int) -> Asked[SourcesPage]:
    """A page of sources."""
    query = urlencode({"containing": containing, "after": after, "limit": limit})
    return Asked("GET", f"/v1/sources?{query}", SourcesPage)


def wording(containing: str, limit: int) -> Asked[tuple[WordShown, ...]]:
    """The words of the stream."""
    query = urlencode({"containing": containing, "limit": limit})
    return Asked("GET", f"/v1/vocabulary?{query}", tuple[WordShown, ...])


def correcting(attribute: str, means: str, unit: str, source: str, model: str) -> Asked[CorrectionShown]:
    """Say what an attribute is."""
    of, name = ("source", source) if source else ("model", model) if model else ("attribute", "")
    wanted = CorrectionWanted(attribute, of, name, means, unit)  # type: ignore[arg-type]
    return Asked("POST", "/v1/corrections", CorrectionShown, _ENCODE(wanted), JSON)


def asking(limit: int) -> Asked[tuple[UsefulQuestion, ...]]:
    """The most useful questions."""
    return Asked("GET", f"/v1/vocabulary/questions?limit={limit}", tuple[UsefulQuestion, ...])


def importing(table: str) -> Asked[Imported]:
    """Corrections as an SSSOM table."""
    return Asked("POST", "/v1/corrections", Imported, table.encode(), {"content-type": SSSOM})


def keeping(source: str, kept: bool) -> Asked[None]:
    """A person's word."""
    return Asked("PUT" if kept else "DELETE", source_path(source, "keep"), None)


def sensing(source: str, after: int, wait: float) -> Asked[Sense]:
    """What a source is told."""
    query = urlencode({"after": after, "wait": wait})
    return Asked("GET", f"{source_path(source, 'sense')}?{query}", Sense)


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

    def _ask(self, asked: Asked[T]) -> T:
        return asked.read(self._connection.request(asked.method, asked.path, asked.body, asked.headers))

    def announce(self, announcement: Announcement | Mapping[str, Any]) -> AnnouncementHeld:
        """Announce what a source can produce, until its lease is over; again to renew it."""
        return self._ask(announcing(announcement))

    def revoke(self, source: str) -> None:
        """Let an announcement hold no longer."""
        self._ask(Asked("DELETE", source_path(source, "announcement"), None))

    def list(self, containing: str = "", after: str = "", limit: int = 100) -> SourcesPage:
        """Sources by name, some at a time."""
        return self._ask(listing(containing, after, limit))

    def show(self, source: str) -> SourceShown:
        """Everything that is known about a source."""
        return self._ask(Asked("GET", source_path(source), SourceShown))

    def vocabulary(self, containing: str = "", limit: int = 1_000) -> tuple[WordShown, ...]:
        """The names of attributes that the stream uses."""
        return self._ask(wording(containing, limit))

    def questions(self, limit: int = 10) -> tuple[UsefulQuestion, ...]:
        """The attributes whose confirmation would change most deliveries."""
        return self._ask(asking(limit))

    def correct(
        self, attribute: str, means: str = "", *, unit: str = "", source: str = "", model: str = ""
    ) -> CorrectionShown:
        """Say once what an attribute of a source, of a model, or of everybody means."""
        return self._ask(correcting(attribute, means, unit, source, model))

    def corrections(self) -> tuple[CorrectionShown, ...]:
        """Every correction that holds."""
        return self._ask(Asked("GET", "/v1/corrections", tuple[CorrectionShown, ...]))

    def take_back(self, number: int) -> None:
        """Take a correction back."""
        self._ask(Asked("DELETE", f"/v1/corrections/{number}", None))

    def export_corrections(self) -> str:
        """Every correction, as an SSSOM table."""
        return self._ask(Asked("GET", "/v1/corrections", str, headers={"accept": SSSOM}))

    def import_corrections(self, table: str) -> int:
        """Make the corrections of an SSSOM table, all or none; how many."""
        return self._ask(importing(table)).corrections

    def keep(self, source: str, kept: bool = True) -> None:
        """Keep a source awake whoever asks for it, or let it rest again."""
        self._ask(keeping(source, kept))

    def sense(self, source: str, after: int = 0, wait: float = 0.0) -> Sense:
        """What a source is told; with `wait`, once its version is above `after`, for so many seconds."""
        return self._ask(sensing(source, after, wait))

    def demand(self, source: str) -> DemandShown:
        """What an announced source is asked for, as exact filters on its own names."""
        return self._ask(Asked("GET", source_path(source, "demand"), DemandShown))


class AsyncSources:
    """The same for asyncio."""

    def __init__(self, connection: _SendsLater) -> None:
        self._connection = connection

    async def _ask(self, asked: Asked[T]) -> T:
        return asked.read(await self._connection.request(asked.method, asked.path, asked.body, asked.headers))

    async def announce(self, announcement: Announcement | Mapping[str, Any]) -> AnnouncementHeld:
        """Announce what a source can produce, until its lease is over; again to renew it."""
        return await self._ask(announcing(announcement))

    async def revoke(self, source: str) -> None:
        """Let an announcement hold no longer."""
        await self._ask(Asked("DELETE", source_path(source, "announcement"), None))

    async def list(self, containing: str = "", after: str = "", limit: int = 100) -> SourcesPage:
        """Sources by name, some at a time."""
        return await self._ask(listing(containing, after, limit))

    async def show(self, source: str) -> SourceShown:
        """Everything that is known about a source."""
        return await self._ask(Asked("GET", source_path(source), SourceShown))

    async def vocabulary(self, containing: str = "", limit: int = 1_000) -> tuple[WordShown, ...]:
        """The names of attributes that the stream uses."""
        return await self._ask(wording(containing, limit))

    async def questions(self, limit: int = 10) -> tuple[UsefulQuestion, ...]:
        """The attributes whose confirmation would change most deliveries."""
        return await self._ask(asking(limit))

    async def correct(
        self, attribute: str, means: str = "", *, unit: str = "", source: str = "", model: str = ""
    ) -> CorrectionShown:
        """Say once what an attribute of a source, of a model, or of everybody means."""
        return await self._ask(correcting(attribute, means, unit, source, model))

    async def take_back(self, number: int) -> None:
        """Take a correction back."""
        await self._ask(Asked("DELETE", f"/v1/corrections/{number}", None))

    async def corrections(self) -> tuple[CorrectionShown, ...]:
        """Every correction that holds."""
        return await self._ask(Asked("GET", "/v1/corrections", tuple[CorrectionShown, ...]))

    async def export_corrections(self) -> str:
        """Every correction, as an SSSOM table."""
        return await self._ask(Asked("GET", "/v1/corrections", str, headers={"accept": SSSOM}))

    async def import_corrections(self, table: str) -> int:
        """Make the corrections of an SSSOM table, all or none; how many."""
        return (await self._ask(importing(table))).corrections

    async def keep(self, source: str, kept: bool = True) -> None:
        """Keep a source awake whoever asks for it, or let it rest again."""
        await self._ask(keeping(source, kept))

    async def sense(self, source: str, after: int = 0, wait: float = 0.0) -> Sense:
        """What a source is told; with `wait`, once its version is above `after`, for so many seconds."""
        return await self._ask(sensing(source, after, wait))

    async def demand(self, source: str) -> DemandShown:
        """What an announced source is asked for, as exact filters on its own names."""
        return await self._ask(Asked("GET", source_path(source, "demand"), DemandShown))
