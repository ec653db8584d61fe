"""What is in deploy/ fits the product: its ports, settings, figures, commands and files are the ones there are."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
import typer
import yaml

from likewise import __version__, defaults
from likewise.broker.config import Config, read_config
from likewise.cli.main import app
from tests.documentation.test_commands import resolve
from tools import image_steps, make_grafana

PROJECT = Path(__file__).resolve().parents[2]
DEPLOY = PROJECT / "deploy"
METRIC = re.compile(r"\blikewise_[a-z_]+\b")


def composed() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def known_metrics() -> set[str]:
    rows = re.findall(r"(?m)^\| `(likewise_\w+)` \| (\w+)", (PROJECT / "docs/reference/metrics.md").read_text())
    names = {name for name, _ in rows}
    return names | {f"{name}_bucket" for name, kind in rows if kind == "histogram"}


def accepts(arguments: list[str]) -> None:
    """The command line takes these arguments; nothing is run."""
    command, rest = resolve(typer.main.get_command(app), arguments)
    assert not hasattr(command, "commands"), arguments
    command.make_context(arguments[0], rest)


def test_the_image_is_made_of_files_that_are_there_and_starts_what_there_is() -> None:
    """Each COPY has its file, each lock its hashes, and ENTRYPOINT with CMD is a command line that is taken."""
    found = list(image_steps.steps((DEPLOY / "Dockerfile").read_text()))
    for name, said in found:
        if name == "COPY":
            assert all((PROJECT / source).exists() for source in said.split()[:-1]), said
        if name == "RUN" and ".lock" in said:
            assert "--require-hashes" in said
    commands = [json.loads(said) for name, said in found if name in ("ENTRYPOINT", "CMD")]
    assert commands[0] == ["likewise"]
    accepts(commands[1])
    assert ("USER", "likewise") in found
    exposed = dict(found)["EXPOSE"].split()
    assert {str(defaults.PORT), str(defaults.DASHBOARD_PORT)} <= set(exposed)


def test_only_what_the_image_copies_is_sent_to_the_engine() -> None:
    """Everything else is ignored, and nothing that is copied is."""
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = [
        said.split()[:-1] for name, said in image_steps.steps((DEPLOY / "Dockerfile").read_text()) if name == "COPY"
    ]
    assert ignored[0] == "*"
    assert kept == {source for sources in copied for source in sources}


def test_composed_services_name_files_and_commands_that_are_there() -> None:
    """Volumes that are files exist, our commands are taken, ports are this machine's alone."""
    services = composed()["services"]
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
        for volume in service.get("volumes", ()):
            if volume.startswith("./"):
                assert (DEPLOY / volume.split(":")[0]).exists(), volume
        if service["image"].startswith("likewise:"):
            assert service["image"] == f"likewise:{__version__}"
            accepts(service["command"])
    named = {volume.split(":")[0] for s in services.values() for volume in s.get("volumes", ()) if volume[0] != "."}
    assert named == set(composed()["volumes"])


def test_the_configuration_is_one_the_broker_takes() -> None:
    """It bridges from the service named in compose.yaml and knows the name it is called by."""
    config = read_config(DEPLOY / "likewise.toml", {})
    assert "broker" in config.server.hosts
    assert config.mqtt.bridge[0].url.startswith("mqtt://mosquitto")


def test_pictures_and_alerts_ask_for_figures_that_there_are() -> None:
    """Every name in Grafana's page and in the rules is in the reference of metrics."""
    page = (DEPLOY / "grafana/dashboards/likewise.json").read_text()
    rules = (DEPLOY / "prometheus/alerts.yml").read_text()
    expressions = [target["expr"] for panel in json.loads(page)["panels"] for target in panel["targets"]]
    expressions += [rule["expr"] for group in yaml.safe_load(rules)["groups"] for rule in group["rules"]]
    asked = {name for expression in expressions for name in METRIC.findall(expression)}
    assert len(asked) > 15
    assert asked <= known_metrics(), asked - known_metrics()


def test_grafanas_page_is_as_its_maker_writes_it() -> None:
    """`python tools/make_grafana.py` writes what is there; its data source is the one that is provided."""
    written = json.loads((DEPLOY / "grafana/dashboards/likewise.json").read_text())
    assert written == make_grafana.page()
    sources = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/prometheus.yaml").read_text())
    assert sources["datasources"][0]["uid"] == make_grafana.SOURCE["uid"]


def started(unit: Path) -> list[str]:
    """The arguments a unit starts `likewise` with."""
    line = re.search(r"(?m)^ExecStart=/opt/likewise/bin/likewise (.*)$", unit.read_text())
    assert line is not None
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line[1])]


@pytest.mark.parametrize("unit", sorted(DEPLOY.glob("systemd/*.service")), ids=lambda unit: unit.stem)
def test_units_start_commands_that_there_are(unit: Path) -> None:
    """The command line takes what ExecStart says."""
    accepts(started(unit))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
@pytest.mark.parametrize("unit", sorted(DEPLOY.glob("systemd/*.service")), ids=lambda unit: unit.stem)
def test_systemd_takes_the_units(unit: Path, tmp_path: Path) -> None:
    """`systemd-analyze verify` has nothing to say, with a program in the place of ours."""
    changed = unit.read_text().replace("/opt/likewise/bin/likewise", "/bin/true").replace("User=likewise", "User=root")
    (tmp_path / unit.name).write_text(changed)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / unit.name)], capture_output=True, text=True, check=False
    )
    said = [line for line in done.stderr.splitlines() if unit.name in line]
    assert not said, said


@pytest.fixture
def addon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.setenv("LIKEWISE_ADDON_DATA", str(tmp_path))
    spec = importlib.util.spec_from_file_location("addon_start", DEPLOY / "home-assistant/start.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec.loader.exec_module(module)
    return module


class Supervisor(BaseHTTPRequestHandler):
    """Says where MQTT is to who shows the token."""

    def do_GET(self) -> None:
        right = self.path == "/services/mqtt" and self.headers["Authorization"] == "Bearer told"
        data = {"host": "core-mosquitto", "port": 1883, "ssl": False, "username": "addons", "password": 'p"#'}
        body = json.dumps({"result": "ok", "data": data}).encode()
        self.send_response(200 if right else 403)
        self.end_headers()
        self.wfile.write(body if right else b"{}")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_the_add_on_bridges_from_the_supervisors_mqtt(addon: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options and service become a configuration the broker takes; the password is in a file for its owner alone."""
    server = HTTPServer(("127.0.0.1", 0), Supervisor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        monkeypatch.setattr(addon, "SUPERVISOR", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("SUPERVISOR_TOKEN", "told")
        service = addon.mqtt_service()
    finally:
        server.shutdown()
        server.server_close()
    options = yaml.safe_load((DEPLOY / "home-assistant/config.yaml").read_text())["options"]
    config = msgspec.convert(tomllib.loads(addon.configuration(options, service)), Config)
    (bridge,) = config.mqtt.bridge
    assert (bridge.url, bridge.topics, bridge.username) == (
        "mqtt://core-mosquitto:1883",
        tuple(options["topics"]),
        "addons",
    )
    assert bridge.password_file is not None
    assert bridge.password is None
    assert Path(bridge.password_file).read_text() == 'p"#'
    assert os.stat(bridge.password_file).st_mode & 0o077 == 0
    accepts(list(addon.BROKER[1:]))
    accepts(list(addon.DASHBOARD[1:]))


def test_the_add_on_runs_without_mqtt(
    addon: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No service is no bridge, and it is said."""
    monkeypatch.setattr(addon, "SUPERVISOR", "http://127.0.0.1:1")
    assert addon.mqtt_service() is None
    assert "nothing is bridged" in capsys.readouterr().err
    assert msgspec.convert(tomllib.loads(addon.configuration({}, None)), Config).mqtt.bridge == ()


def test_the_add_on_has_the_products_version() -> None:
    """Home Assistant offers an update when it changes."""
    said = yaml.safe_load((DEPLOY / "home-assistant/config.yaml").read_text())
    assert said["version"] == __version__
    assert set(said["options"]) == set(said["schema"])
