"""The shell of the command line: the list of commands, errors, exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from likewise import errors
from likewise.cli import main
from likewise.cli.terminal import lazy, output
from likewise_experiments.commands.app import EVALUATIONS


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`likewise --help` names each command."""
    assert main.run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in main.COMMANDS)


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`likewise COMMAND --help` works for each command and shows how it is used."""
    assert main.run([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"likewise {name}" in shown
    assert "Example" in shown


def test_listing_commands_imports_none_of_them() -> None:
    """A command's module is loaded when the command is called, not before."""
    code = "import sys; from likewise.cli.main import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert not {entry.target.partition(":")[0] for entry in main.COMMANDS.values()} & set(loaded) - {
        "likewise.cli.main"
    }


def test_every_entry_leads_to_a_command() -> None:
    """No entry of the list of commands points nowhere."""
    for name, entry in {**main.COMMANDS, **EVALUATIONS}.items():
        assert lazy.load(name, entry.target) is not None


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """`likewise --version` prints the version and leaves."""
    import likewise

    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out == f"likewise {likewise.__version__}\n"


@pytest.mark.parametrize("arguments", [["no-such-command"], ["match"], ["match", "--no-such-option"]])
def test_a_wrong_call_is_bad_input(arguments: list[str]) -> None:
    """An unknown command or option, and a missing one, end with 2."""
    assert main.run(arguments) == 2


def test_a_missing_file_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there is named, without a traceback."""
    assert main.run(["match", "--subscriptions", "nowhere.txt"]) == 2
    assert capsys.readouterr().err == "error: nowhere.txt: No such file or directory\n"


def test_an_error_is_facts_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json an error is an object with its code, and nothing of the machinery shows among its facts."""
    assert main.run(["explain", "--event", "{a: 1}", "--subscription", "{a >", "--json"]) == 2
    told = json.loads(capsys.readouterr().err)["error"]
    assert told["code"] == "syntax"
    assert told["where"] == "the subscription"
    facts = {"code", "message", "problem", "line", "column", "expected", "excerpt", "caret", "where", "correction"}
    assert set(told) <= facts


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command with 130, silently."""

    def interrupted(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("likewise.cli.terminal.text_input.open_input", interrupted)
    assert main.run(["match", "--subscriptions", "any.txt"]) == 130


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ParseError("wrong"), 2),
        (errors.DuplicateId("s1"), 2),
        (errors.ArtefactMissing("gone"), 3),
        (errors.MissingDependency("pyspark", "spark"), 3),
        (errors.Unavailable("away"), 4),
        (FileNotFoundError(2, "No such file", "a"), 2),
    ],
)
def test_errors_have_their_exit_code(error: errors.LikewiseError | OSError, code: int) -> None:
    """What was handed in wrongly is 2, what is missing is 3."""
    assert output.exit_code(error) == code


def test_the_module_runs_like_the_command() -> None:
    """`python -m likewise` is the same command line."""
    done = subprocess.run([sys.executable, "-m", "likewise", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("likewise ")


def every_command(command: Any, name: str = "") -> Iterator[str]:
    """Each command that can be typed, groups and what they hold."""
    yield name
    for each, entry in getattr(command, "commands", {}).items():
        lazy_ones = getattr(command, "lazy", {})
        loaded = lazy.load(each, lazy_ones[each].target) if each in lazy_ones else entry
        yield from every_command(loaded, f"{name} {each}".strip())


def test_no_help_speaks_of_types(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What an option takes is said in words, not as `<str>` or `<float range> [0<=x<=1]`."""
    monkeypatch.setenv("COLUMNS", "120")
    found = list(every_command(typer.main.get_command(main.app)))
    assert {"subscriptions add", "admin stats", "eval vendor", "context use"} <= set(found)
    for name in found:
        assert main.run([*name.split(), "--help"]) == 0
        shown = capsys.readouterr().out
        assert not re.search(r"<(str|bool|int|float|path)\b|\[x[<>]|<=x|\[\[", shown), f"{name}:\n{shown}"


@pytest.mark.parametrize(
    ("typed", "offered"), [("likewise subsc", "subscriptions"), ("likewise publish --keep", "--keep-going")]
)
def test_the_shell_completes_commands_and_their_options(typed: str, offered: str) -> None:
    """Also options of commands that are loaded when they are called."""
    asked = {"_LIKEWISE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "likewise"], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert offered in done.stdout.split()


@pytest.mark.parametrize("machine", [[], ["--json"]])
def test_a_reader_that_stops_reading_is_no_error(tmp_path: Path, machine: list[str]) -> None:
    """`likewise match ... | head -1` ends with 0 and says nothing."""
    (tmp_path / "wanted.txt").write_text("a: {n > 0}\n")
    (tmp_path / "events.txt").write_text("{n: 1}\n" * 5000)
    command = [sys.executable, "-m", "likewise", "match", "-s", "wanted.txt", "-e", "events.txt", *machine]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 0


def test_no_option_is_declared_twice() -> None:
    """Options that commands share stand in one place: `likewise.cli.terminal.options`."""
    declared: dict[str, list[str]] = {}
    for path in Path(main.__file__).parent.rglob("*.py"):
        for option in set(re.findall(r'typer\.Option\(\s*"(--[a-z-]+)"', path.read_text(encoding="utf-8"))):
            declared.setdefault(option, []).append(path.name)
    shared = {"--json", "--space", "--context", "--keep-going"}
    assert all(declared[option] == ["options.py"] for option in shared), declared


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["explian"], "explain"),
        (["mach"], "match"),
        (["subscriptions", "lst"], "list"),
        (["eval", "vendro"], "vendor"),
        (["space", "bild"], "build"),
        (["bench", "exat"], "exact"),
        (["demo", "--ctiy"], "--city"),
    ],
)
def test_a_name_that_is_almost_one_is_corrected(
    typed: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command, an option or a benchmark: the exit code is that of bad input, and the message has the name."""
    assert main.run(typed) == output.BAD_INPUT
    assert meant in capsys.readouterr().err
