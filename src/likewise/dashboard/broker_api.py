"""The broker as the dashboard reaches it: over HTTP, with the viewer's own token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import quote

import httpx
import msgspec

from likewise.api.edge_frames import EdgeStatus
from likewise.api.history import EventCounts, StoredEvents, TimeSeries, Trace
from likewise.api.live_views import Activity, Arrival, BoardEntry
from likewise.api.mobile import AlertDetails
from likewise.api.operations import ConnectionStatus, DeadLetterDetails, TenantStats
from likewise.api.queries import BacktestResult, Grid, JudgementReceipt
from likewise.api.semantics import RelatednessEvidence, RelatedTerm
from likewise.api.sinks import TargetDetails, TargetSettings
from likewise.api.sources import AttributeSummary, CorrectionDetails, ReviewQuestion, SourceDetails, SourcesPage
from likewise.api.subscribers import SubscriberDetails
from likewise.api.subscriptions import SubscriptionDetails
from likewise.api.workers import PoolStatus
from likewise.client.endpoint import Endpoint, plain_reason
from likewise.client.sources import source_path
from likewise.client.targets import target_path
from likewise.errors import LikewiseError, NotAllowed, NotAuthenticated, Unavailable
from likewise.formats.json.results import explanation_from_json
from likewise.model import Explanation

T = TypeVar("T")
SAVING = 180.0  # seconds that holding a subscription may take: it is tried on the events that came before


class RequestRefused(LikewiseError):
    """The broker refused a request; the message is its own."""

    code = "refused"


class BrokerApi:
    """The calls the dashboard makes. Each raises an error of the tree that says what to do."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        ca: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        endpoint = Endpoint(url, token, patience=0, ca=ca)
        self.url = endpoint.address
        self._client = httpx.AsyncClient(**endpoint.http_options() | {"timeout": 20, "transport": transport})
        self._token = token

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _call(self, method: str, path: str, **options: object) -> bytes:
        try:
            response = await self._client.request(method, path, **options)  # type: ignore[arg-type]
        except httpx.HTTPError as error:
            raise Unavailable(f"the broker at {self.url} does not answer: {plain_reason(error)}") from error
        if response.status_code == 401:
            raise NotAuthenticated(
                "this broker does not know your token, or no longer: enter another"
                if self._token
                else "this broker wants a token: enter yours"
            )
        if response.status_code == 403:
            raise NotAllowed(str(_problem(response.content).get("scope", "another scope")))
        if response.is_error:
            raise RequestRefused(str(_problem(response.content).get("detail") or f"status {response.status_code}"))
        return response.content

    async def _get(self, kind: type[T], path: str, **query: object) -> T:
        return msgspec.json.decode(await self._call("GET", path, params=query), type=kind)

    async def _post(self, kind: type[T], path: str, body: object) -> T:
        return msgspec.json.decode(await self._call("POST", path, content=msgspec.json.encode(body)), type=kind)

    async def activity(self, position: int, sequence: int, limit: int = 100) -> Activity:
        """Return the events and matches after these positions."""
        return await self._get(Activity, "/v1/activity", position=position, sequence=sequence, limit=limit)

    async def event(self, id: str, source: str = "") -> Arrival:
        """Return a stored event."""
        query = {"source": source} if source else {}
        return await self._get(Arrival, f"/v1/events/{quote(id, safe='')}", **query)

    async def subscriptions(self) -> list[SubscriptionDetails]:
        """Return every subscription of the tenant."""
        return await self._get(list[SubscriptionDetails], "/v1/subscriptions")

    async def subscribers(self) -> list[SubscriberDetails]:
        """Return every subscriber with its queue."""
        return await self._get(list[SubscriberDetails], "/v1/subscribers")

    async def save(self, subscriber: str, id: str, text: str) -> SubscriptionDetails:
        """Hold a subscription, registering its subscriber if that is new."""
        if subscriber not in {known.id for known in await self.subscribers()}:
            await self._call("PUT", f"/v1/subscribers/{quote(subscriber, safe='')}")
        path, plain = _subscription_path(subscriber, id), {"Content-Type": "text/plain"}
        answer = await self._call("PUT", path, content=text.encode(), headers=plain, timeout=SAVING)
        return msgspec.json.decode(answer, type=SubscriptionDetails)

    async def delete(self, subscriber: str, id: str) -> None:
        """End a subscription."""
        await self._call("DELETE", _subscription_path(subscriber, id))

    async def backtest(self, text: str, events: int = 1000, shown: int = 20) -> BacktestResult:
        """Return what a subscription would have matched among the newest stored events."""
        return await self._post(BacktestResult, "/v1/backtest", {"text": text, "events": events, "shown": shown})

    async def explain(self, event: dict[str, object], text: str, mappings: int = 0) -> Explanation:
        """Explain why an event matches a subscription, given as text, or why not; with the best `mappings`."""
        body = msgspec.json.encode({"event": event, "text": text, "mappings": mappings})
        return explanation_from_json(await self._call("POST", "/v1/explain", content=body))

    async def explain_stored(
        self, event: dict[str, object], subscriber: str, id: str, mappings: int = 0
    ) -> Explanation:
        """Explain the same for a stored subscription, with its window."""
        body: dict[str, object] = {"subscriber": subscriber, "subscription": id, "event_id": event.get("id")}
        body["mappings"] = mappings
        if event.get("source"):
            body["source"] = event["source"]
        return explanation_from_json(await self._call("POST", "/v1/explain", content=msgspec.json.encode(body)))

    async def grid(self, event: dict[str, object], text: str) -> Grid | None:
        """Return the similarity of every predicate and every tuple."""
        document = await self._post(dict[str, Grid | None], "/v1/grid", {"event": event, "subscription": text})
        return document["grid"]

    async def feedback(self, event: dict[str, object], subscriber: str, id: str, relevant: bool) -> JudgementReceipt:
        """Send the judgement of a match or a near miss."""
        body = {"subscriber": subscriber, "subscription": id, "event": event, "relevant": relevant}
        return await self._post(JudgementReceipt, "/v1/feedback", body)

    async def nearest(self, term: str, themes: Sequence[str], k: int = 15) -> list[RelatedTerm]:
        """Return the terms nearest to a term under some themes."""
        return await self._get(list[RelatedTerm], "/v1/nearest", term=term, k=k, themes=list(themes))

    async def evidence(self, a: str, b: str, themes: Sequence[str], other: Sequence[str]) -> RelatednessEvidence:
        """Return the evidence for the relatedness of two terms."""
        return await self._get(
            RelatednessEvidence, "/v1/evidence", a=a, b=b, themes=list(themes), other_themes=list(other)
        )

    async def board(self, subscriber: str, id: str) -> list[BoardEntry]:
        """Return the k best events of a window now."""
        return await self._get(list[BoardEntry], f"{_subscription_path(subscriber, id)}/board")

    async def keys(self, subscriber: str, id: str, limit: int) -> AlertDetails:
        """Return the state of each key of an alert."""
        return await self._get(AlertDetails, f"{_subscription_path(subscriber, id)}/keys", limit=limit)

    async def targets(self) -> list[TargetDetails]:
        """Return every target with its state."""
        return await self._get(list[TargetDetails], "/v1/targets")

    async def set_target(
        self, subscriber: str, subscription: str, id: str, target: TargetSettings, more: dict[str, object]
    ) -> TargetDetails:
        """Let matches of a subscription go somewhere."""
        body = msgspec.json.encode({**msgspec.to_builtins(target), **more})
        answer = await self._call("PUT", target_path(subscriber, subscription, id), content=body)
        return msgspec.json.decode(answer, type=TargetDetails)

    async def remove_target(self, shown: TargetDetails) -> None:
        """Remove a target."""
        await self._call("DELETE", target_path(shown.subscriber, shown.subscription, shown.id))

    async def retry_target(self, shown: TargetDetails) -> None:
        """Retry the dead letters of a target."""
        await self._call("POST", target_path(shown.subscriber, shown.subscription, shown.id, "retry"))

    async def sources(self, containing: str, limit: int) -> SourcesPage:
        """Return the sources whose name contains a text."""
        return await self._get(SourcesPage, "/v1/sources", containing=containing, limit=limit)

    async def source(self, source: str) -> SourceDetails:
        """Return one source, with the meaning of each of its attributes."""
        return await self._get(SourceDetails, source_path(source))

    async def vocabulary(self, limit: int = 500) -> list[AttributeSummary]:
        """Return the attributes that the stream uses."""
        return await self._get(list[AttributeSummary], "/v1/vocabulary", limit=limit)

    async def useful_questions(self, limit: int = 5) -> list[ReviewQuestion]:
        """Return the questions whose answers would change most deliveries."""
        return await self._get(list[ReviewQuestion], "/v1/vocabulary/questions", limit=limit)

    async def correct(
        self, attribute: str, of: str, name: str, means: str, unit: str, denies: Sequence[str] = ()
    ) -> CorrectionDetails:
        """Say what an attribute means, and what it is not."""
        body = {"attribute": attribute, "of": of, "name": name, "means": means, "unit": unit, "denies": list(denies)}
        return await self._post(CorrectionDetails, "/v1/corrections", body)

    async def take_back(self, number: int) -> None:
        """Take a correction back."""
        await self._call("DELETE", f"/v1/corrections/{number}")

    async def dead_letters(self) -> list[DeadLetterDetails]:
        """Return what could not be read or delivered."""
        return await self._get(list[DeadLetterDetails], "/v1/dead-letters", limit=100)

    async def retry(self, number: int) -> None:
        """Retry a dead letter."""
        await self._call("POST", f"/v1/dead-letters/{number}/retry")

    async def forget(self, number: int) -> None:
        """Remove a dead letter."""
        await self._call("DELETE", f"/v1/dead-letters/{number}")

    async def stats(self) -> TenantStats:
        """Return the tenant's counts."""
        return await self._get(TenantStats, "/v1/stats")

    async def connections(self) -> list[ConnectionStatus]:
        """Return the connections that events come from, beside publishers."""
        return await self._get(list[ConnectionStatus], "/v1/connections")

    async def workers(self) -> PoolStatus:
        """Return the processes of the broker and what each does."""
        return await self._get(PoolStatus, "/v1/workers")

    async def edges(self) -> list[EdgeStatus]:
        """Return every broker at the edge that ever connected."""
        return await self._get(list[EdgeStatus], "/v1/edges")

    async def tallies(self, minutes: int = 60, span: int = 1) -> EventCounts:
        """Return counts of the last minutes, and of every subscription."""
        return await self._get(EventCounts, "/v1/tallies", minutes=minutes, span=span)

    async def series(self, source: str, attribute: str, since: int, points: int = 600) -> TimeSeries:
        """Return one reading of a source from a timestamp (µs) on."""
        return await self._get(TimeSeries, "/v1/series", source=source, attribute=attribute, since=since, points=points)

    async def stored_events(self, query: dict[str, object], before: int | None, limit: int) -> StoredEvents:
        """Return the stored events that pass a filter, the newest first."""
        where = {} if before is None else {"before": before}
        return await self._get(StoredEvents, "/v1/events", **query, **where, limit=limit)

    async def trace(self, event: str, source: str, subscriber: str, subscription: str) -> Trace:
        """Return what became of an event for a subscription."""
        about = {"event": event, "source": source, "subscriber": subscriber, "subscription": subscription}
        return await self._get(Trace, "/v1/trace", **about)

    async def metrics(self) -> str:
        """Return the metrics of the whole broker, in Prometheus' text format."""
        return (await self._call("GET", "/metrics")).decode()


def _subscription_path(subscriber: str, id: str) -> str:
    return f"/v1/subscribers/{quote(subscriber, safe='')}/subscriptions/{quote(id, safe='')}"


def _problem(body: bytes) -> dict[str, object]:
    try:
        document = msgspec.json.decode(body)
    except msgspec.MsgspecError:
        return {}
    return document if isinstance(document, dict) else {}
