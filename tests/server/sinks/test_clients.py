"""Targets as people and programs set them: the client library, both kinds, and the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from likewise.cli import main
from likewise.client import AsyncSubscriber, BrokerRefused, Publisher, Subscriber, WebhookSettings
from tests.server.conftest import serving
from tests.server.sinks.receiver import Receiver, receiving
from tests.server.sinks.test_interface import CONFIG, until


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(None, CONFIG) as found:
        yield found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


def test_a_client_subscribes_with_a_target(address: str, receiver: Receiver) -> None:
    """Set, listed, changed, retried, removed; `because` comes on the stream, too, where it is asked for."""
    with Publisher(address) as out, Subscriber("ann", address, because=True) as inbox:
        inbox.subscribe("{no2 > 40}", id="bad air", to=WebhookSettings(receiver.url, because=True))
        receiver.answers.append(404)
        for n in (1, 2):
            out.publish({"no2": 45 + n})
        until(lambda: len(receiver.accepted) == 1)
        [shown] = inbox.targets.list("bad air")
        assert (shown.id, shown.state.dead, shown.address) == (
            "webhook",
            1,
            f"http://127.0.0.1:{receiver.server_address[1]}/...",
        )
        assert inbox.targets.retry("bad air", "webhook") == 1
        until(lambda: len(receiver.accepted) == 2)
        until(lambda: not inbox.targets.list("bad air")[0].state.dead)  # the broker has read the answer
        assert inbox.targets.change("bad air", "webhook", form="cloudevents").form == "cloudevents"
        assert inbox.targets.list() == inbox.targets.list("bad air")
        first = inbox.pending()[0]
        assert [(part.attribute, part.value) for part in first.because[0].parts] == [("no2", "46")]
        stream = iter(inbox)
        assert next(stream).because == first.because
        inbox.stop_stream()
        inbox.targets.remove("bad air", "webhook")
        assert inbox.targets.list() == ()
        made = inbox.targets.set("bad air", receiver.url, "another")
        assert made.secret.startswith("whsec_")
        with pytest.raises(BrokerRefused, match="no public address"):
            inbox.targets.set("bad air", "http://10.1.1.1/")
        inbox.unregister()


def test_an_asynchronous_client_does_the_same(address: str, receiver: Receiver) -> None:
    """For asyncio."""

    async def play() -> None:
        async with AsyncSubscriber("bob", address) as inbox:
            await inbox.subscribe("{pm10 > 40}", id="dust", to=receiver.url)
            assert [each.id for each in await inbox.targets.list()] == ["webhook"]
            assert (await inbox.targets.set("dust", receiver.url, "second")).secret
            assert (await inbox.targets.change("dust", "second", timeout=5)).timeout == 5
            assert await inbox.targets.retry("dust", "second") == 0
            await inbox.targets.remove("dust", "second")
            assert len(await inbox.targets.list("dust")) == 1

    asyncio.run(play())
    with Publisher(address) as out:
        out.publish({"pm10": 50})
    until(lambda: receiver.accepted)


def test_the_command_line_sets_and_shows_targets(
    address: str, receiver: Receiver, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A secret from a file is never printed; one that was made is printed once."""
    near = ["--address", address]
    secret, template, headers = tmp_path / "secret", tmp_path / "body.json", tmp_path / "headers"
    secret.write_text("hush hush hush hush\n")
    template.write_text('{"text": "{{o3}}"}')
    headers.write_text("Authorization: Bearer hush\n")
    add = ["subscriptions", "add", "ozone: {o3 > 40}", "--for", "eve", "--to", receiver.url, *near]
    assert main.run(add) == 0
    assert "whsec_" in capsys.readouterr().out
    more = ["--secret-file", str(secret), "--template", str(template), "--header-file", str(headers), "--name", "two"]
    assert main.run(["targets", "set", "ozone", receiver.url, "--for", "eve", *more, *near]) == 0
    assert main.run(["targets", "change", "ozone", "two", "--for", "eve", "--timeout", "5", *near]) == 0
    with Publisher(address) as out:
        out.publish({"o3": 77})
    until(lambda: len(receiver.accepted) == 2)
    bodies = [msgspec.json.decode(each.body) for each in receiver.accepted]
    assert {"text": 77} in bodies
    for words in (["list", "--for", "eve"], ["list", "--json"]):
        assert main.run(["targets", *words, *near]) == 0
    assert main.run(["targets", "retry", "ozone", "two", "--for", "eve", *near]) == 0
    assert main.run(["targets", "remove", "ozone", "two", "--for", "eve", *near]) == 0
    assert main.run(["targets", "remove", "ozone", "two", "--for", "eve", *near]) != 0
    assert main.run(["targets", "set", "ozone", "nothing", "--for", "eve", *near]) != 0
    said = capsys.readouterr()
    assert "last accepted" in said.out
    assert "hush" not in said.out + said.err
    assert "whsec_" not in said.out + said.err
