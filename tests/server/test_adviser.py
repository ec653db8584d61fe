"""The adviser: asked once, within a rate, of choices only; slow, wrong and hostile answers change nothing."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from likewise.api.sources import UncertainAttribute
from likewise.broker.broker import Broker
from likewise.broker.config import AdviserSettings
from likewise.broker.tenants.normalized_sources import NormalizedSources
from likewise.matching.common_names.table import read_names
from likewise.server.adviser import Advice, AdviserQuestion, AdviserTask, ChatAdviser
from likewise.server.gateway import Gateway

QUESTION = AdviserQuestion("hz", "", ("50.01",), ("frequency", "humidity"))
ASKED = UncertainAttribute("x9", "box", "AX-2", 50.01, "", (("frequency", 0.4), ("humidity", 0.3)), "not probable")


class Scripted(ThreadingHTTPServer):
    """Answers what it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answer = b"{}"
        self.pause = 0.0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                time.sleep(server.pause)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(server.answer)

            def log_message(self, *arguments: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    def says(self, text: str) -> None:
        self.answer = json.dumps({"choices": [{"message": {"content": text}}]}).encode()


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    server = Scripted()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(10)


def settings(server: Scripted, **more: Any) -> AdviserSettings:
    return AdviserSettings(f"http://127.0.0.1:{server.server_address[1]}/v1", timeout=1.0, **more)


def test_a_model_is_sent_the_choices_and_a_few_values_and_nothing_else(scripted: Scripted) -> None:
    scripted.says('Sure! {"choice": "frequency", "probability": 0.9}')
    assert ChatAdviser(settings(scripted))(QUESTION) == Advice("frequency", 0.9)
    [body] = scripted.asked
    assert json.loads(body["messages"][1]["content"]) == {
        "attribute": "hz", "unit": "", "values": ["50.01"], "choices": ["frequency", "humidity"]
    }  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"not json",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": "no braces"}}]}',
        b'{"choices": [{"message": {"content": "{\\"choice\\": 7}"}}]}',
        b"[" * 100_000,
    ],
)
def test_a_malformed_answer_is_an_error_and_no_advice(scripted: Scripted, answer: bytes) -> None:
    scripted.answer = answer
    with pytest.raises((ValueError, OSError, RecursionError)):
        ChatAdviser(settings(scripted))(QUESTION)


def test_a_slow_answer_is_not_waited_for(scripted: Scripted) -> None:
    scripted.pause = 3.0
    with pytest.raises(OSError, match="timed out"):
        ChatAdviser(settings(scripted))(QUESTION)


def advised(said: Advice | Exception, rounds: int = 3, **more: Any) -> tuple[Broker, list[AdviserQuestion]]:
    """What a broker holds after some rounds with an adviser that always says the same, a function of Python's."""
    asked: list[AdviserQuestion] = []

    def advise(question: AdviserQuestion) -> Advice:
        asked.append(question)
        if isinstance(said, Exception):
            raise said
        return said

    async def run(broker: Broker) -> None:
        tenant = broker.tenant("default")
        tenant.normalized = NormalizedSources("norm/")
        tenant.normalized.note_uncertain(ASKED)
        gateway = Gateway(broker)
        task = AdviserTask(gateway, tenant, read_names(None), AdviserSettings("http://x", **more), advise)
        for _ in range(rounds):
            try:
                await task.ask_next()
            except OSError:
                continue

    with Broker(None) as broker:
        asyncio.run(run(broker))
    return broker, asked


def test_advice_stands_under_needs_review_and_is_asked_for_once() -> None:
    broker, asked = advised(Advice("frequency", 0.9))
    tenant = broker.tenant("default")
    assert tenant.normalized is not None
    [question] = tenant.normalized.uncertain()
    assert (question.advice, question.advised) == ("frequency", 0.9)
    assert tenant.sources.corrections == {}
    assert len(asked) == 1
    assert asked[0].choices == ("frequency", "humidity")


def test_advice_that_is_sure_enough_is_in_force_with_its_origin() -> None:
    broker, _ = advised(Advice("frequency", 0.99), in_force=0.9)
    [correction] = broker.tenant("default").sources.corrections.values()
    assert (correction.attribute, correction.of, correction.name) == ("x9", "model", "AX-2")
    assert (correction.means, correction.by) == ("frequency", "adviser default 0.95")


@pytest.mark.parametrize("said", [Advice("door", 0.99), Advice(None, 1.0), Advice("frequency", 7.0)])
def test_an_answer_that_is_none_of_the_choices_changes_nothing(said: Advice) -> None:
    broker, asked = advised(said, in_force=0.5)
    assert broker.tenant("default").sources.corrections == {}
    assert len(asked) == 1


def test_failures_change_nothing_and_the_rate_bounds_them() -> None:
    broker, asked = advised(OSError("gone"), rounds=10, per_hour=4)
    assert broker.tenant("default").sources.corrections == {}
    assert len(asked) == 4
