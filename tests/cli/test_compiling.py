"""While kernels are compiled somebody who waits is told so: one line, and on a terminal the seconds."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any
from unittest.mock import MagicMock

import numba
import pytest

from likewise import extras
from likewise.broker.broker import Broker
from likewise.broker.config import MatchingSettings
from likewise.cli.terminal import compiling, output
from likewise.errors import MissingDependency, Unavailable
from likewise.kernels import cache as compiled_ahead
from likewise.language import parse

Output = pytest.CaptureFixture[str]


class Terminal(io.StringIO):
    """What a terminal is given."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, and nobody is patient."""
    monkeypatch.setattr(compiled_ahead, "is_compiled_ahead", lambda native=False, **asked: False)
    monkeypatch.setattr(compiling, "AFTER", 0.0)


@pytest.mark.usefixtures("cold")
def test_a_command_that_compiles_says_so_in_one_line(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long it takes usually is in it; a pipe gets no seconds."""
    said, remark = threading.Event(), output.print_note

    def note(text: str) -> None:
        remark(text)
        said.set()

    monkeypatch.setattr(output, "print_note", note)
    with compiling.report_compilation():
        while not said.is_set():  # whenever the listener is there, one of these tells it
            numba.njit(lambda x: x + 1)(1)
    assert capsys.readouterr().err == compiling.SOME + "\n"


@pytest.mark.usefixtures("cold")
def test_nothing_is_said_where_nothing_is_compiled(capsys: Output) -> None:
    """However long it takes."""
    with compiling.report_compilation():
        threading.Event().wait(0.5)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("cold")
def test_a_terminal_sees_the_seconds_before_a_broker_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted on one line, which is empty again afterwards."""
    screen, said = Terminal(), list[str]()
    monkeypatch.setattr(sys, "stderr", screen)
    source = "import time; time.sleep(3)"
    run: Any = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: run([sys.executable, "-c", source], **options))
    assert compiling.compile_ahead(MatchingSettings(), said.append)
    assert said == [compiling.WORDS]
    assert screen.getvalue().startswith("\r1 s")
    assert screen.getvalue().endswith("\r\x1b[K")


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A broker in memory with a subscriber."""
    with Broker(None) as opened:
        opened.register(opened.tenant("default"), "ann")
        yield opened


def subscribe(broker: Broker, text: str) -> Future[object]:
    """Start a subscription; its result once it is on disk."""
    result: Future[object] = Future()
    broker.start_subscribe(broker.tenant("default"), "ann", [parse(text, id="s")], True, result.set_result)
    return result


@pytest.mark.parametrize(("native", "matching"), [(True, MatchingSettings()), (False, MatchingSettings(compile=False))])
def test_nothing_is_compiled_beside_a_broker_that_needs_none(
    native: bool, matching: MatchingSettings, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_ahead, "is_compiled_ahead", lambda native_asked=False, **asked: native)
    monkeypatch.setattr(subprocess, "Popen", MagicMock(side_effect=AssertionError))
    with compiling.compile_meanwhile(matching, broker, print):
        pass


class BesideBroker:
    """Processes that stand in for those that compile: each sleeps until it is ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
        self.commands: list[list[str]] = []
        self.processes: list[Any] = []
        run: Any = subprocess.Popen

        def start(command: list[str], **options: Any) -> Any:
            self.commands.append(command)
            self.processes.append(run([sys.executable, "-c", source], **options))
            return self.processes[-1]

        monkeypatch.setattr(subprocess, "Popen", start)


def test_code_for_this_processor_is_compiled_beside_a_broker_and_ends_with_it(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process has the lowest priority by itself (`--native`); it is not there any more when the broker ends."""
    monkeypatch.setattr(compiled_ahead, "is_compiled_ahead", lambda native=False, **asked: not native)
    beside, notes = BesideBroker(monkeypatch, "import time; time.sleep(600)"), list[str]()
    with compiling.compile_meanwhile(MatchingSettings(space="city"), broker, notes.append):
        assert beside.processes[0].poll() is None
        assert subscribe(broker, "{x exists} top 2 within 3 events by value(x)").result(60)
    assert beside.processes[0].returncode == -signal.SIGKILL
    assert beside.commands == [[sys.executable, "-m", "likewise.matching.warm_up", "--space", "city", "--native"]]
    assert notes == []


@pytest.mark.usefixtures("cold")
def test_a_ranking_waits_for_its_kernels_and_conditions_do_not(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line before and after it are printed; matching goes on meanwhile."""
    beside, notes = BesideBroker(monkeypatch, "import sys; sys.stdin.read()"), list[str]()
    read, write = os.pipe()
    monkeypatch.setattr(compiling, "_warm_up_command", lambda matching: [])
    run: Any = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: run(command, stdin=read, **options))
    with compiling.compile_meanwhile(MatchingSettings(), broker, notes.append):
        ranking = subscribe(broker, "{x exists} top 2 within 3 events by value(x)")
        assert subscribe(broker, "{x > 1}").result(60)
        assert not ranking.done()
        os.close(write)
        assert ranking.result(60)
    os.close(read)
    assert len(beside.processes) == 1
    assert notes[0] == compiling.LATER
    assert notes[1].startswith("They were compiled in ")


@pytest.mark.usefixtures("cold")
def test_a_ranking_that_waits_is_answered_when_the_broker_stops(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on without its kernels, or is refused where the broker is closed already."""
    BesideBroker(monkeypatch, "import time; time.sleep(600)")
    with compiling.compile_meanwhile(MatchingSettings(), broker, MagicMock()):
        ranking = subscribe(broker, "{x exists} top 2 within 3 events by value(x)")
        broker.close()
    assert isinstance(ranking.result(60), Unavailable)


@pytest.mark.usefixtures("cold")
def test_an_error_inside_leaves_nothing_running() -> None:
    """Who waits is let go, and the thread that would tell ends."""
    interrupt = MagicMock(side_effect=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt), compiling.report_compilation():
        interrupt()
    assert not [thread for thread in threading.enumerate() if thread.name == "likewise-patience"]


@pytest.mark.usefixtures("cold")
def test_what_cannot_be_compiled_because_it_is_not_installed_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything starts to compile; the process that compiles would print a traceback."""
    monkeypatch.setattr(extras, "missing", lambda extra: ("numba",))
    said: list[str] = []
    with pytest.raises(MissingDependency, match=r"needs \(numba\) is missing.*likewise\[match\].*profile 'small'"):
        compiling.compile_ahead(MatchingSettings(), said.append)
    assert said == []
    assert compiling.compile_ahead(MatchingSettings(profile="small"), said.append)
