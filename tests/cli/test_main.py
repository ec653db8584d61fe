"""The shell of the command line: the list of commands, errors, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from likewise import errors
from likewise.cli import main
from likewise.cli.terminal import lazy, output


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
    for name, entry in {**main.COMMANDS, **main.EVALUATIONS}.items():
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
    assert set(told) <= {"code", "message", "problem", "line", "column", "expected", "excerpt", "caret", "where"}


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command with 130, silently."""

    def interrupted(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("likewise.cli.terminal.reading.opened", interrupted)
    assert main.run(["match", "--subscriptions", "any.txt"]) == 130


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ParseError("wrong"), 2),
        (errors.DuplicateId("s1"), 2),
        (errors.ArtefactMissing("gone"), 3),
        (errors.MissingDependency("pyspark", "spark"), 3),
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
