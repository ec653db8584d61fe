"""The broker as the dashboard reaches it: over HTTP, with the viewer's own token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import quote

import httpx
import msgspec

from likewise.api.live_views import Activity, Arrival, Place
from likewise.api.mobile import AlertShown
from likewise.api.operations import ConnectionShown, LetterShown, Stats
from likewise.api.queries import Backtest, Grid, JudgementTaken
from likewise.api.semantics import Evidence, Near
from likewise.api.sinks import TargetShown, TargetWanted
from likewise.api.sources import CorrectionShown, SourceShown, SourcesPage, UsefulQuestion, WordShown
from likewise.api.subscribers import SubscriberShown
from likewise.api.subscriptions import SubscriptionShown
from likewise.api.workers import WorkersShown
from likewise.client.endpoint import Endpoint, plain_reason
from likewise.client.sources import source_path
from likewise.client.targets import target_path
from likewise.errors import LikewiseError, NotAllowed, NotAuthenticated, Unavailable
from likewise.formats.json.results import explanation_from_json
from likewise.model import Explanation

T = TypeVar("T")
SAVING = 180.0  # seconds that holding a subscription may take: it is tried on the events that came before


class Refused(LikewiseError):
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
            raise NotAllowed(str(_facts(response.content).get("scope", "another scope")))
        if response.is_error:
            raise Refused(str(_facts(response.content).get("detail") or f"status {response.status_code}"))
        return response.content

    async def _get(self, kind: type[T], path: str, **query: object) -> T:
        return msgspec.json.decode(await self._call("GET", path, params=query), type=kind)

    async def get(self, kind: type[T], path: str, **query: object) -> T:
        """The answer to a question of another part of the dashboard."""
        return await self._get(kind, path, **query)

    async def _post(self, kind: type[T], path: str, body: object) -> T:
        return msgspec.json.decode(await self._call("POST", path, content=msgspec.json.encode(body)), type=kind)

    async def activity(self, position: int, sequence: int, limit: int = 100) -> Activity:
        """What is new since."""
        return await self._get(Activity, "/v1/activity", position=position, sequence=sequence, limit=limit)

    async def event(self, id: str, source: str = "") -> Arrival:
        """A stored event."""
        query = {"source": source} if source else {}
        return await self._get(Arrival, f"/v1/events/{quote(id, safe='')}", **query)

    async def subscriptions(self) -> list[SubscriptionShown]:
        """Every subscription of the tenant."""
        return await self._get(list[SubscriptionShown], "/v1/subscriptions")

    async def subscribers(self) -> list[SubscriberShown]:
        """Every subscriber and its queue."""
        return await self._get(list[SubscriberShown], "/v1/subscribers")

    async def save(self, subscriber: str, id: str, text: str) -> SubscriptionShown:
        """Hold a subscription, registering its subscriber if that is new."""
        if subscriber not in {known.id for known in await self.subscribers()}:
            await self._call("PUT", f"/v1/subscribers/{quote(subscriber, safe='')}")
        path = f"/v1/subscribers/{quote(subscriber, safe='')}/subscriptions/{quote(id, safe='')}"
        plain = {"Content-Type": "text/plain"}
        answer = await self._call("PUT", path, content=text.encode(), headers=plain, timeout=SAVING)
        return msgspec.json.decode(answer, type=SubscriptionShown)

    async def delete(self, subscriber: str, id: str) -> None:
        """End a subscription."""
        path = f"/v1/subscribers/{quote(subscriber, safe='')}/subscriptions/{quote(id, safe='')}"
        await self._call("DELETE", path)

    async def backtest(self, text: str, events: int = 1000, shown: int = 20) -> Backtest:
        """What a subscription would have met among the newest stored events."""
        return await self._post(Backtest, "/v1/backtest", {"text": text, "events": events, "shown": shown})

    async def explain(self, event: dict[str, object], text: str) -> Explanation:
        """Why an event meets a subscription, given as text, or why not."""
        body = msgspec.json.encode({"event": event, "text": text})
        return explanation_from_json(await self._call("POST", "/v1/explain", content=body))

    async def explain_held(self, event: dict[str, object], subscriber: str, id: str) -> Explanation:
        """The same for a subscription the broker holds, with its window."""
        asked: dict[str, object] = {"subscriber": subscriber, "subscription": id, "event_id": event.get("id")}
        if event.get("source"):
            asked["source"] = event["source"]
        return explanation_from_json(await self._call("POST", "/v1/explain", content=msgspec.json.encode(asked)))

    async def grid(self, event: dict[str, object], text: str) -> Grid | None:
        """Every predicate against every tuple."""
        found = await self._post(dict[str, Grid | None], "/v1/grid", {"event": event, "subscription": text})
        return found["grid"]

    async def feedback(self, event: dict[str, object], subscriber: str, id: str, relevant: bool) -> JudgementTaken:
        """Judge a match or a near miss."""
        said = {"subscriber": subscriber, "subscription": id, "event": event, "relevant": relevant}
        return await self._post(JudgementTaken, "/v1/feedback", said)

    async def nearest(self, term: str, themes: Sequence[str], k: int = 15) -> list[Near]:
        """The words nearest to a term under some themes."""
        return await self._get(list[Near], "/v1/nearest", term=term, k=k, themes=list(themes))

    async def evidence(self, a: str, b: str, themes: Sequence[str], other: Sequence[str]) -> Evidence:
        """What stands behind the relatedness of two terms."""
        return await self._get(Evidence, "/v1/evidence", a=a, b=b, themes=list(themes), other_themes=list(other))

    async def board(self, subscriber: str, id: str) -> list[Place]:
        """The k best of a window now."""
        path = f"/v1/subscribers/{quote(subscriber, safe='')}/subscriptions/{quote(id, safe='')}/board"
        return await self._get(list[Place], path)

    async def keys(self, subscriber: str, id: str, limit: int) -> AlertShown:
        """Where an alert stands."""
        path = f"/v1/subscribers/{quote(subscriber, safe='')}/subscriptions/{quote(id, safe='')}/keys"
        return await self._get(AlertShown, path, limit=limit)

    async def targets(self) -> list[TargetShown]:
        """Every target, and how it fares."""
        return await self._get(list[TargetShown], "/v1/targets")

    async def set_target(
        self, subscriber: str, subscription: str, id: str, wanted: TargetWanted, more: dict[str, object]
    ) -> TargetShown:
        """Let matches of a subscription go somewhere."""
        said = msgspec.json.encode({**msgspec.to_builtins(wanted), **more})
        answer = await self._call("PUT", target_path(subscriber, subscription, id), content=said)
        return msgspec.json.decode(answer, type=TargetShown)

    async def remove_target(self, shown: TargetShown) -> None:
        """Remove a target."""
        await self._call("DELETE", target_path(shown.subscriber, shown.subscription, shown.id))

    async def retry_target(self, shown: TargetShown) -> None:
        """Try the dead letters of a target again."""
        await self._call("POST", target_path(shown.subscriber, shown.subscription, shown.id, "retry"))

    async def sources(self, containing: str, limit: int) -> SourcesPage:
        """Sources by name."""
        return await self._get(SourcesPage, "/v1/sources", containing=containing, limit=limit)

    async def source(self, source: str) -> SourceShown:
        """One source, with what each attribute of it means."""
        return await self._get(SourceShown, source_path(source))

    async def vocabulary(self, limit: int = 500) -> list[WordShown]:
        """The stream's own words."""
        return await self._get(list[WordShown], "/v1/vocabulary", limit=limit)

    async def useful_questions(self, limit: int = 5) -> list[UsefulQuestion]:
        """The questions whose answers change most."""
        return await self._get(list[UsefulQuestion], "/v1/vocabulary/questions", limit=limit)

    async def correct(self, attribute: str, of: str, name: str, means: str, unit: str) -> CorrectionShown:
        """Say what an attribute means."""
        said = {"attribute": attribute, "of": of, "name": name, "means": means, "unit": unit}
        return await self._post(CorrectionShown, "/v1/corrections", said)

    async def take_back(self, number: int) -> None:
        """Take a correction back."""
        await self._call("DELETE", f"/v1/corrections/{number}")

    async def dead_letters(self) -> list[LetterShown]:
        """What could not be read or delivered."""
        return await self._get(list[LetterShown], "/v1/dead-letters", limit=100)

    async def retry(self, number: int) -> None:
        """Try a dead letter again."""
        await self._call("POST", f"/v1/dead-letters/{number}/retry")

    async def forget(self, number: int) -> None:
        """Remove a dead letter."""
        await self._call("DELETE", f"/v1/dead-letters/{number}")

    async def stats(self) -> Stats:
        """What the tenant has in the broker."""
        return await self._get(Stats, "/v1/stats")

    async def connections(self) -> list[ConnectionShown]:
        """What brings events in beside publishers."""
        return await self._get(list[ConnectionShown], "/v1/connections")

    async def workers(self) -> WorkersShown:
        """Which process of the broker does what."""
        return await self._get(WorkersShown, "/v1/workers")

    async def metrics(self) -> str:
        """The page of figures of the whole broker."""
        return (await self._call("GET", "/metrics")).decode()


def _facts(body: bytes) -> dict[str, object]:
    try:
        found = msgspec.json.decode(body)
    except msgspec.MsgspecError:
        return {}
    return found if isinstance(found, dict) else {}
