"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, MqttSettings, ServerSettings
from likewise.cli.main import COMMANDS
from likewise.defaults import TARGET_RETRY_AFTER_SECONDS, TARGET_RETRY_SECONDS
from likewise.server.sinks.sender import TargetSenders
from tests.server.mqtt.broker.conftest import PATIENCE, devices

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)\s#]+)(#[^)]*)?\)")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT / "docs"))


@pytest.mark.parametrize("page", [page for page in PAGES if ">>>" in page.read_text(encoding="utf-8")], ids=named)
def test_the_code_of_the_page_runs(page: Path) -> None:
    """Each `>>>` example gives what stands below it."""
    source = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(source, {}, named(page), str(page), 0)
    assert test.examples
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append).failed
    assert failed == 0, "".join(said)


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """Every relative link names a file that is there."""
    for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_make_target_the_pages_name_is_there() -> None:
    """Whoever types what a page says finds that `make` knows it."""
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in (*PAGES, *ROOT.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"(?:`|^\s*|[A-Z_]+=\S+ )make ([a-z-]+)(?=[`\s;])", text, re.MULTILINE):
            if re.search(rf"`[^`\n]*make {target}|^make {target}", text, re.MULTILINE):
                assert target in known, f"{page.name} names make {target}"


def test_every_page_is_in_the_index() -> None:
    """A reader who starts at the index can reach every page; the index itself names only pages that are there."""
    listed = set()
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.splitlines():
                entry = re.sub(r"^.*<(.+)>$", r"\1", line.strip())
                if entry and not entry.startswith(":"):
                    listed |= set(page.parent.glob(entry if entry.endswith(".md") else f"{entry}.md"))
    missing = set(PAGES) - listed - {ROOT / "docs" / "index.md"}
    assert not missing, f"no table of contents names {sorted(map(named, missing))}"


def test_the_first_page_has_an_entry_for_each_reader_and_the_same_name_in_the_contents() -> None:
    """Devices, Python, Kafka or Spark, and the papers."""
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- \*\*(I [^*]+)\.\*\*", text, re.MULTILINE)
    captions = re.findall(r"^:caption: (I .+)$", text, re.MULTILINE)
    assert entries == captions == ["I have devices", "I write Python", "I have Kafka or Spark", "I read the papers"]


def test_the_reference_of_commands_has_every_command() -> None:
    """Old names are left out."""
    text = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^## `likewise ([a-z-]+)`", text, re.MULTILINE))
    assert shown == {name for name, entry in COMMANDS.items() if not entry.hidden}


def test_the_guide_of_targets_names_the_pauses_between_attempts() -> None:
    """The first, the longest, and the longest that a receiver may ask for, as the sender takes them."""
    text = (ROOT / "docs" / "guides" / "targets.md").read_text(encoding="utf-8")
    [(first, longest)] = re.findall(r"Pauses between attempts double from (\d+) s to at most (\d+) s", text)
    assert (float(first), float(longest)) == TARGET_RETRY_SECONDS
    assert inspect.signature(TargetSenders).parameters["pauses"].default is TARGET_RETRY_SECONDS
    assert TARGET_RETRY_AFTER_SECONDS == 3600
    assert "`Retry-After` is followed, up to an hour" in text


def test_the_page_of_metrics_has_every_metric(tmp_path: Path) -> None:
    """Of a broker with devices, a lake and a worker: what a part of it registers later is not forgotten."""
    broker = Broker(
        tmp_path, Config(server=ServerSettings(port=0), mqtt=MqttSettings(port=0), matching=MatchingSettings(workers=1))
    )
    broker.metrics.watch_lake(lambda tenant: 0, lambda: 0)
    with devices(broker=broker) as home:
        home.client("device")
        page = httpx.get(f"{home.url}/metrics", timeout=PATIENCE).text
    names = {line.split()[2] for line in page.splitlines() if line.startswith("# TYPE ")}
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    assert {"likewise_mqtt_pending", "likewise_connections_open", "likewise_workers"} <= names
    assert [name for name in sorted(names) if not name.endswith("_created") and f"`{name}`" not in text] == []


def test_the_generated_reference_is_up_to_date() -> None:
    """The pages that list errors, settings and metrics say what the code has."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_reference.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr + "run: python tools/make_reference.py"
