"""Eclipse's interoperability suites (paho.mqtt.testing) against our listener and Mosquitto, side by side.

    git clone https://github.com/eclipse/paho.mqtt.testing
    python -m tests.server.mqtt.conformance --suite paho.mqtt.testing/interoperability

Nothing of the suites is here; the folder is given. Each case runs in a process of its own, with a limit, because some
wait for ever where an answer does not come; the two brokers run at the same time, and a case meets each alone. What
we do not pass must be in EXCEPTIONS with its reason, or the exit code is 1. It takes about ten minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.processes import listening_broker

LIMIT: Final = 120  # seconds a case may take
SUITES: Final = {"client_test5": "MQTT 5", "client_test": "MQTT 3.1.1"}
_NOBODY: Final = "wants a topic that nobody may subscribe to; we refuse by token, not by topic"
EXCEPTIONS: Final[dict[str, str]] = {
    "client_test5.test_subscribe_failure": _NOBODY,
    "client_test.test_subscribe_failure": _NOBODY,
    "client_test5.test_server_topic_alias": "wants the server to use aliases of topics, which it may; we send none",
    "client_test5.test_flow_control2": "goes on writing after it was told 0x93 and closed, and fails at that",
    "client_test5.test_server_keep_alive": "wants 60 s for whoever asks for 120, which a server may say; we take 120",
}
_DRIVER: Final = """
import sys, unittest
sys.path.insert(0, sys.argv[1])
import importlib
suite = importlib.import_module(sys.argv[2])
suite.host, suite.port, suite.topic_prefix = "127.0.0.1", int(sys.argv[4]), ""
suite.topics = ("TopicA", "TopicA/B", "Topic/C", "TopicA/C", "/TopicA")
suite.wildtopics = ("TopicA/+", "+/C", "#", "/#", "/+", "+/+", "TopicA/#")
suite.nosubscribe_topics = ("test/nosubscribe",)
suite.logging.getLogger().setLevel(suite.logging.ERROR)
unittest.main(suite, argv=["suite", "Test." + sys.argv[3]])
"""


class Case(NamedTuple):
    """A case of a suite."""

    suite: str
    name: str

    @property
    def known(self) -> str:
        """How EXCEPTIONS names it."""
        return f"{self.suite}.{self.name}"


class Outcome(NamedTuple):
    """How a case ended; `said` is the last line of what it printed, if it failed."""

    passed: bool
    said: str = ""


def cases(folder: Path) -> list[Case]:
    """The cases of both suites, in their order."""
    found = []
    for suite in SUITES:
        text = (folder / f"{suite}.py").read_text(encoding="utf-8")
        found += [Case(suite, name) for name in re.findall(r"^    def (test\w+)\(self\)", text, re.MULTILINE)]
    return found


def run_case(folder: Path, case: Case, port: int) -> Outcome:
    """Run one case against whoever listens on a port."""
    command = [sys.executable, "-c", _DRIVER, str(folder), case.suite, case.name, str(port)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(False, f"waited {LIMIT} s for ever")
    if ended.returncode == 0:
        return Outcome(True)
    lines = [line for line in (ended.stdout + ended.stderr).splitlines() if re.match(r"\w*(Error|Exception)\b", line)]
    return Outcome(False, (lines or ["it failed"])[0][:160])


@contextmanager
def mosquitto() -> Iterator[int]:
    """A Mosquitto; its port."""
    with tempfile.TemporaryDirectory() as folder:
        running = Mosquitto(Path(folder))
        running.start()
        try:
            yield running.port
        finally:
            running.stop()


@contextmanager
def likewise() -> Iterator[int]:
    """A broker of ours that listens for MQTT, in a process of its own; its port."""
    with listening_broker() as running:
        yield running.port


def run_all(folder: Path, wanted: list[Case], broker: Callable[[], object]) -> list[Outcome]:
    """All cases against one broker, one after the other."""
    with broker() as port:  # type: ignore[attr-defined]
        outcomes = []
        for case in wanted:
            outcomes.append(run_case(folder, case, port))
            mark = "passed" if outcomes[-1].passed else f"failed: {outcomes[-1].said}"
            print(f"{broker.__name__:<10} {case.known}: {mark}", file=sys.stderr, flush=True)
        return outcomes


def table(wanted: list[Case], ours: list[Outcome], theirs: list[Outcome]) -> str:
    """Both sides as a table of Markdown."""
    rows = ["| case | Likewise | Mosquitto | |", "|---|---|---|---|"]
    for case, mine, other in zip(wanted, ours, theirs, strict=True):
        marks = ["passed" if each.passed else "failed" for each in (mine, other)]
        why = EXCEPTIONS.get(case.known, mine.said) if not mine.passed else ""
        rows.append(f"| {SUITES[case.suite]}: {case.name} | {marks[0]} | {marks[1]} | {why.replace('|', '/')} |")
    for suite, version in SUITES.items():
        counts = [
            sum(each.passed for case, each in zip(wanted, side, strict=True) if case.suite == suite)
            for side in (ours, theirs)
        ]
        of = sum(case.suite == suite for case in wanted)
        rows.append(f"| {version}: all {of} | {counts[0]} | {counts[1]} | |")
    return "\n".join(rows)


def main() -> int:
    """Run from the command line."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--suite", type=Path, required=True, help="the folder `interoperability` of the suites")
    arguments.add_argument("--only", default="", help="cases whose name has this in it")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    wanted = [case for case in cases(given.suite) if given.only in case.known]
    with ThreadPoolExecutor(2) as both:
        running = [both.submit(run_all, given.suite, wanted, each) for each in (likewise, mosquitto)]
        ours, theirs = (each.result() for each in running)
    unexplained = [
        case.known for case, mine in zip(wanted, ours, strict=True) if not mine.passed and case.known not in EXCEPTIONS
    ]
    if given.json:
        said = [
            {"case": case.known, "likewise": mine.passed, "mosquitto": other.passed, "said": mine.said}
            for case, mine, other in zip(wanted, ours, theirs, strict=True)
        ]
        print(json.dumps(said))
    else:
        print(table(wanted, ours, theirs))
    if unexplained:
        print(f"failed and not explained: {', '.join(unexplained)}", file=sys.stderr)
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main())
