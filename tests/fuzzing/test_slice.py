"""A slice of `make fuzz`: the same inputs, a few of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzzing import inputs
from tests.fuzzing.run import Run, read_json, read_text, stretch, town


def test_no_text_of_the_language_meets_anything_but_errors_of_the_tree() -> None:
    """What is read is printed and read as the same."""
    assert stretch("language", read_text, 1, 0, 1_500) == []


def test_no_document_meets_anything_but_errors_of_the_tree() -> None:
    """As an event, a subscription, a CloudEvent, SenML, or whatever is published."""
    assert stretch("json", read_json, 1, 0, 3_000) == []


def test_no_request_and_no_stream_makes_the_broker_stumble() -> None:
    """No 500, no traceback, and matching goes on."""
    with town() as broker:
        assert stretch("http", broker.request, 1, 0, 400) == []


def test_a_server_error_and_a_traceback_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would say nothing."""
    from likewise.server.http import publishing

    async def broken(*_: object) -> bytes:
        raise ValueError("a mistake")

    monkeypatch.setattr(publishing, "publish_request", broken)
    with town() as broker:
        found = stretch("http", broker.request, 1, 0, 200)
    assert any("500" in each.said for each in found)
    assert stretch("json", lambda seed, number: [][number], 1, 0, 2)[0].said.startswith("IndexError")


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Each input is tried once, whatever number of runs it takes, and follows from its number."""
    tried: list[int] = []
    for wanted in (5, 12):
        run = Run(tmp_path, 7)
        run.go_on("language", lambda seed, number: tried.append(number), wanted, step=4)
    assert tried == list(range(12))
    assert inputs.request(7, 3) == inputs.request(7, 3)
    assert inputs.language(7, 3) == inputs.language(7, 3)
