"""The synchronous client is the twin of the asyncio one."""

from __future__ import annotations

import inspect

from likewise.client import asynchronous, synchronous
from tools import make_sync_client


def test_the_generated_file_is_current() -> None:
    """After a change of the asyncio client, `python -m tools.make_sync_client` was run."""
    source = make_sync_client.SOURCE.read_text(encoding="utf-8")
    assert make_sync_client.TWIN.read_text(encoding="utf-8") == make_sync_client.generate(source)


def test_nothing_of_the_twin_waits_for_an_event_loop() -> None:
    """Every class has a twin with the same public members, and no coroutine is left among them."""
    classes = {
        name: each
        for name, each in vars(asynchronous).items()
        if name.startswith("Async") and each.__module__ == asynchronous.__name__
    }
    assert len(classes) == 5
    for name, each in classes.items():
        twin = getattr(synchronous, name.removeprefix("Async"))
        public = {member for member in vars(each) if not member.startswith("_")}
        assert public == {member for member in vars(twin) if not member.startswith("_")}
        assert not any(map(inspect.iscoroutinefunction, vars(twin).values()))
        assert not any(map(inspect.isasyncgenfunction, vars(twin).values()))
