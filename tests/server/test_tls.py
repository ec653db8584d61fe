"""TLS: certificates made here, a broker that shows them, and clients that believe them or not."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
import structlog

from likewise.broker.config import Config, ServerSettings
from likewise.cli.main import run
from likewise.client import AsyncSubscriber, Publisher, Subscriber
from likewise.errors import ArtefactMissing, InputError, StateError, Unavailable
from likewise.server.http.server import check_listening
from tests.server.conftest import serving


def make_certificate(folder: Path, name: str, names: str = "DNS:localhost,IP:127.0.0.1") -> tuple[Path, Path]:
    """A certificate for this machine, signed with its own key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl here to make a certificate with")
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            openssl,
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            f"/CN={name}",
            "-addext",
            f"subjectAltName={names}",
            "-keyout",
            str(key),
            "-out",
            str(certificate),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return certificate, key


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"), "broker")


@pytest.fixture(scope="module")
def address(certificate: tuple[Path, Path]) -> Iterator[str]:
    server = ServerSettings(port=0, tls_certificate=str(certificate[0]), tls_key=str(certificate[1]))
    with serving(config=Config(server=server)) as address:
        yield address.replace("http://", "https://")


def test_events_travel_encrypted_to_clients_that_name_the_certificate(
    address: str, certificate: tuple[Path, Path]
) -> None:
    """Requests over https, the stream over wss, both kinds of client."""
    ca = certificate[0]
    with Publisher(address, ca=ca) as out, Subscriber("ann", address, ca=ca) as inbox:
        inbox.subscribe("{no2 > 40}", id="s")
        out.publish({"no2": 45})
        delivery = next(iter(inbox))
        assert delivery.event.tuples[0].value == 45
        inbox.acknowledge(delivery)

    async def follow() -> object:
        async with AsyncSubscriber("bob", address, ca=str(ca)) as inbox:
            await inbox.subscribe("{no2 > 40}", id="s")
            async for delivery in inbox:
                await inbox.acknowledge(delivery)
                return delivery.event.tuples[0].value
        return None

    assert asyncio.run(asyncio.wait_for(follow(), 60)) == 45


def test_a_certificate_that_is_not_believed_is_refused_at_once(
    address: str, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    """Neither without the certificate, nor with another one; and nothing goes in the clear."""
    other, _ = make_certificate(tmp_path, "other")
    for ca in (None, other):
        with Publisher(address, ca=ca, patience=600) as out, pytest.raises(Unavailable, match="not believed"):
            out.publish({"no2": 45})
    with pytest.raises(httpx.TransportError):
        httpx.get(address.replace("https://", "http://") + "/healthz")
    with pytest.raises(InputError, match="not https"):
        Publisher(address.replace("https://", "http://"), ca=certificate[0])
    with pytest.raises(ArtefactMissing):
        Publisher(address, ca=tmp_path / "absent.pem")
    with pytest.raises(InputError, match="no certificate"):
        Publisher(address, ca=certificate[1])


def test_listening_needs_a_certificate_and_the_key_that_fits(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    """Said before anything listens; and encryption alone does not let others in without tokens."""
    mine, key = map(str, certificate)
    _, wrong = make_certificate(tmp_path, "other")
    for server, error in (
        (ServerSettings(tls_certificate=mine), InputError),
        (ServerSettings(tls_certificate=mine, tls_key=str(tmp_path / "absent")), ArtefactMissing),
        (ServerSettings(tls_certificate=mine, tls_key=str(wrong)), InputError),
        (ServerSettings(host="0.0.0.0", tls_certificate=mine, tls_key=key), StateError),
    ):
        with pytest.raises(error):
            check_listening(Config(server=server), tokens=False)
    check_listening(Config(server=ServerSettings(host="0.0.0.0", tls_certificate=mine, tls_key=key)), tokens=True)


@pytest.fixture
def logging_restored() -> Iterator[None]:
    """Commands say for the whole process where it logs to."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.mark.usefixtures("logging_restored")
def test_the_command_line_serves_and_talks_tls(
    certificate: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`serve` with both files, beyond this machine with a token; `publish`, `subscribe` and `admin` with `--ca`."""
    data, (mine, key) = tmp_path / "data", map(str, certificate)
    assert run(["admin", "token", str(data), "--name", "root", "--scope", "admin", "--json"]) == 0
    token = msgspec.json.decode(capsys.readouterr().out)["token"]
    command = [
        sys.executable,
        "-m",
        "likewise",
        "serve",
        "--data",
        str(data),
        "--host",
        "0.0.0.0",
        "--port",
        "0",
        "--json",
    ]
    served = subprocess.Popen(
        [*command, "--tls-certificate", mine, "--tls-key", key],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"LIKEWISE_LOGGING_LEVEL": "debug"},
    )
    try:
        assert served.stdout is not None
        listening = msgspec.json.decode(served.stdout.readline())["listening"]
        assert listening.startswith("https://0.0.0.0:")
        reached = ["--address", listening.replace("0.0.0.0", "localhost"), "--token", token, "--ca", mine]
        with Subscriber("me", reached[1], token=token, ca=mine) as inbox:
            inbox.subscribe("{no2 > 40}", id="s")
        events = tmp_path / "events.jsonl"
        events.write_text('{"v":1,"payload":{"no2":45},"id":"e1","source":"/roof"}\n')
        assert run(["publish", str(events), *reached]) == 0
        assert run(["subscribe", "--id", "me", "--count", "1", "--json", *reached]) == 0
        assert run(["admin", "stats", "--json", *reached]) == 0
        said = capsys.readouterr().out
        assert '"e1"' in said
        assert '"events":1' in said.replace(" ", "")
        assert run(["admin", "stats", "--address", reached[1], "--token", token]) != 0
        assert "not believed" in capsys.readouterr().err
    finally:
        served.send_signal(signal.SIGTERM)
        _, log = served.communicate(timeout=60)
    lines = [msgspec.json.decode(line) for line in log.splitlines() if line.startswith(b"{")]
    steps = [line["event"] for line in lines if line.get("event_id") == "e1"]
    assert steps == ["event_received", "event_matched", "event_delivered"]
    assert all(line["tenant"] == "default" for line in lines if "event_id" in line)
