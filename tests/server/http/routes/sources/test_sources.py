"""The catalogue over HTTP, through the client library and on the command line."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.broker.log.tokens import make_token
from likewise.cli.main import app
from likewise.client import BrokerRefused, Publisher, Subscriber
from likewise.client.asynchronous import AsyncPublisher, AsyncSources
from likewise.client.synchronous import Sources
from tests.server.conftest import serving

ROOF = {
    "source": "roof/1",
    "model": "X",
    "place": "the roof",
    "attributes": [{"name": "temp1", "unit": "°C", "low": -40, "high": 85}],
}


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(None, Config(server=ServerSettings(port=0))) as running:
        yield running


@pytest.fixture
def client(broker: Broker) -> Iterator[Publisher]:
    with serving(broker=broker) as address, Publisher(address) as publisher:
        yield publisher


def test_a_source_announces_itself_is_seen_corrected_and_revoked(broker: Broker, client: Publisher) -> None:
    """All of it by the client library."""
    held = client.sources.announce(ROOF)
    assert (held.source, held.renewed, client.sources.announce(ROOF).renewed) == ("roof/1", False, True)
    client.publish_all([lw.event({"temp1": t, "mode": "eco"}, source="roof/1") for t in (20, 22)])
    broker.learning.wait_until_learnt()
    [listed] = client.sources.list().sources
    assert (listed.source, listed.model, listed.events, listed.count, listed.attributes) == ("roof/1", "X", 2, 2, ())
    assert client.sources.list("cellar").sources == ()
    shown = client.sources.show("roof/1")
    assert [(each.attribute, each.last, each.announced) for each in shown.attributes] == [
        ("temp1", 22, True),
        ("mode", "eco", False),
    ]
    said = client.sources.correct("temp1", "supply air temperature", model="x", unit="celsius")
    assert (said.of, said.name, said.unit) == ("model", "x", "degC")
    taken = client.sources.show("roof/1").attributes[0].understood
    assert (taken.means, taken.probability, taken.correction) == ("supply air temperature", 1.0, said.number)
    assert [each.number for each in client.sources.corrections()] == [said.number]
    words = client.sources.vocabulary("mod")
    assert [(each.attribute, each.values) for each in words] == [("mode", ("eco",))]
    client.sources.take_back(said.number)
    assert client.sources.corrections() == ()
    client.sources.revoke("roof/1")
    with pytest.raises(BrokerRefused, match="announced nothing"):
        client.sources.revoke("roof/1")


def test_pages_of_sources_follow_each_other(broker: Broker, client: Publisher) -> None:
    """By name, each once."""
    client.publish_all([lw.event({"t": n}, source=f"s{n:02}") for n in range(25)])
    broker.learning.wait_until_learnt()
    found, after = [], ""
    for _ in range(4):
        page = client.sources.list(after=after, limit=10)
        assert page.total == 25
        found += [each.source for each in page.sources]
        after = page.after
        if not after:
            break
    assert found == [f"s{n:02}" for n in range(25)]


def test_corrections_go_out_and_come_in_as_sssom(client: Publisher) -> None:
    """The same ones; a bad table changes nothing."""
    client.sources.correct("temp1", "supply air temperature", model="X", unit="degC")
    client.sources.correct("t", "soil temperature", source="roof/1")
    table = client.sources.export_corrections()
    assert "skos:exactMatch" in table
    before = {(c.attribute, c.of, c.name, c.means, c.unit) for c in client.sources.corrections()}
    for each in client.sources.corrections():
        client.sources.take_back(each.number)
    with pytest.raises(BrokerRefused, match=r"line \d+"):
        client.sources.import_corrections(table.replace("skos:exactMatch", "skos:broadMatch"))
    assert client.sources.corrections() == ()
    assert client.sources.import_corrections(table) == 2
    assert {(c.attribute, c.of, c.name, c.means, c.unit) for c in client.sources.corrections()} == before


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"attributes": [{"name": "t", "unit": "frobs"}]}, "is not known"),
        ({"attributes": [{"name": "t", "low": 2, "high": 1}]}, "reversed"),
        ({"attributes": [{"name": f"a{n}"} for n in range(300)]}, "allowed are 256"),
        ({"attributes": [{"name": "t"}], "lease": 1e12}, "must end"),
        ({"attributes": [{"name": "t"}], "lease": None}, "schema"),
        ({"attributes": [{"name": "t"}], "source": "other"}, "address names"),
        ({"attributes": "t"}, "schema"),
        (["t"], "JSON object"),
    ],
)
def test_a_bad_announcement_is_refused_over_http(client: Publisher, said: object, words: str) -> None:
    """With words, and nothing is held."""
    with pytest.raises(BrokerRefused) as refused:
        client.request(
            "PUT", "/v1/sources/roof/announcement", msgspec.json.encode(said), {"content-type": "application/json"}
        )
    assert words.split(" are ")[0] in str(refused.value)
    assert client.sources.list().total == 0


def test_who_may_announce_look_and_correct(broker: Broker) -> None:
    """A source's own token speaks for it alone; a bound one sees nobody's sources."""
    roof = broker.store.commit(lambda c: make_token(c, "roof", "default", ["publish:roof"], broker.clock()))
    ann = broker.store.commit(lambda c: make_token(c, "ann", "default", ["subscribe:ann"], broker.clock()))
    free = broker.store.commit(lambda c: make_token(c, "all", "default", ["subscribe"], broker.clock()))
    with serving(broker=broker) as address:
        with Publisher(address, token=roof) as client:
            client.sources.announce(ROOF)
            with pytest.raises(BrokerRefused, match="publish:street"):
                client.sources.announce({**ROOF, "source": "street"})
        with Publisher(address, token=ann) as client:
            for asked in (client.sources.list, client.sources.vocabulary, client.sources.corrections):
                with pytest.raises(BrokerRefused, match="subscribe"):
                    asked()
            with pytest.raises(BrokerRefused, match="subscribe"):
                client.sources.correct("t", "temperature")
        with Publisher(address, token=free) as client:
            assert client.sources.list().total == 1
            assert client.sources.correct("t", "temperature").by == "all"


def test_a_controllable_source_is_told_and_shown_what_it_is_asked_for(broker: Broker, client: Publisher) -> None:
    """It waits for the next word; who cannot be told is refused."""
    client.sources.announce({**ROOF, "controllable": True, "interval": 60})
    broker.learning.wait_until_learnt()
    first = client.sources.sense("roof/1", wait=30)
    assert (first.on, first.reason) == (False, "nobody asks for it")
    with Subscriber("ann", client.address) as ann:
        ann.subscribe("{temperature~ > 25 degC}", "warm")
    told = client.sources.sense("roof/1", first.version, wait=30)
    assert (told.on, told.wanted, told.interval) == (True, 1, 60)
    shown = msgspec.json.decode(client.request("GET", "/v1/sources/roof%2F1/demand").content)
    assert [(each["id"], each["text"]) for each in shown["filters"]] == [("warm", "{temp1 > 25 degC}")]
    assert client.sources.show("roof/1").wanted == 1
    client.sources.announce({**ROOF, "source": "cellar"})
    with pytest.raises(BrokerRefused, match="controllable"):
        client.sources.sense("cellar")


def test_asyncio_programs_have_every_method_that_plain_ones_have() -> None:
    """With the same parameters."""

    def offered(of: type) -> dict[str, list[str]]:
        own = inspect.getmembers(of, inspect.isfunction)
        return {name: list(inspect.signature(each).parameters) for name, each in own if not name.startswith("_")}

    assert offered(Sources) == offered(AsyncSources)


def test_asyncio_programs_have_the_same(broker: Broker) -> None:
    """Announce, look, correct, take back, revoke."""

    async def use(address: str) -> None:
        async with AsyncPublisher(address) as client:
            await client.sources.announce(ROOF)
            assert (await client.sources.list()).total == 1
            said = await client.sources.correct("temp1", "air temperature", source="roof/1")
            assert (await client.sources.show("roof/1")).attributes[0].understood.basis == "corrected"
            table = await client.sources.export_corrections()
            await client.sources.take_back(said.number)
            assert await client.sources.corrections() == ()
            assert await client.sources.import_corrections(table) == 1
            assert [each.means for each in await client.sources.corrections()] == ["air temperature"]
            await client.sources.keep("roof/1")
            assert (await client.sources.show("roof/1")).kept
            await client.sources.keep("roof/1", False)
            assert not (await client.sources.show("roof/1")).kept
            assert (await client.sources.demand("roof/1")).filters == ()
            assert await client.sources.questions() == ()
            await client.sources.revoke("roof/1")
            assert await client.sources.vocabulary() == ()

    with serving(broker=broker) as address:
        asyncio.run(use(address))


def test_the_command_line_lists_shows_and_corrects(broker: Broker, client: Publisher, tmp_path: Path) -> None:
    """In words, and as JSON."""

    def run(*arguments: str) -> str:
        told = CliRunner().invoke(app, [*arguments, "--address", client.address])
        assert told.exit_code == 0, told.output
        return told.stdout

    said = tmp_path / "roof.json"
    said.write_bytes(msgspec.json.encode(ROOF))
    assert "No source yet" in run("sources", "list")
    assert "Announced roof/1" in run("sources", "announce", str(said))
    client.publish(lw.event({"temp1": 21.5}, source="roof/1"))
    broker.learning.wait_until_learnt()
    assert "roof/1" in run("sources", "list")
    assert "temperature" in run("sources", "show", "roof/1")
    assert msgspec.json.decode(run("sources", "show", "roof/1", "--json"))["events"] == 1
    assert "21.5" in run("sources", "show", "roof/1")
    assert "temp1" in run("vocabulary", "list")
    assert "is supply air temperature" in run(
        "vocabulary", "correct", "temp1", "supply air temperature", "--model", "X"
    )
    assert "supply air temperature" in run("vocabulary", "corrections")
    table = tmp_path / "out.tsv"
    run("vocabulary", "export", str(table))
    [number] = [each.number for each in client.sources.corrections()]
    assert "no longer" in run("vocabulary", "undo", str(number))
    assert "1 corrections" in run("vocabulary", "import", str(table))
    assert "No question" in run("vocabulary", "questions")
    assert "kept awake" in run("sources", "keep", "roof/1")
    assert client.sources.show("roof/1").kept
    assert "nothing any more" in run("sources", "revoke", "roof/1")
