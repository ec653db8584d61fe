"""Kernels are compiled before a broker listens, kept in one folder, and a stop meanwhile is prompt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from likewise.cli.terminal import compiling
from likewise.kernels import cache as compiled_ahead
from likewise.kernels import cache as fingerprint
from likewise.kernels import targets
from likewise.kernels.cache import kernels_folder, portable_folders

SEEN = """
import gc
import numba
from numba.core.dispatcher import Dispatcher
from likewise.matching.warm_up import warm_up

def compiled():
    return {(each.py_func.__qualname__, str(s)) for each in gc.get_objects() if isinstance(each, Dispatcher)
            for s in each.signatures}

warm_up()
ahead = compiled()
assert len(ahead) > 20, len(ahead)

from likewise.formats.arrow.event_batch import EventBatch
from likewise.language import parse
from likewise.matching.matcher import Matcher
from likewise.testing import generators
from likewise.testing.generators import SeededChoice

kinds = ("exact", "approximate", "top", "pattern", "interest")
choice = SeededChoice(5)
m = Matcher()
for n in range(400):
    m.add(generators.subscription(choice, kinds[n % 5], f"s{n}"), at=0)
for n in range(1100):
    m.add(parse(f"{{x~ > {n}}}", id=f"r{n}"), at=0)
events = [generators.event(choice, frozenset(kinds), f"e{n}", n) for n in range(60)]
for n, event in enumerate(events[:20]):
    m.match(event, at=n)
for n in range(0, 400, 3):
    m.remove(f"s{n}")
m.match_batch(events[20:40], at=list(range(20, 40)))
m.match_batch(EventBatch.from_events(events[40:]), at=list(range(40, 60)))
m.advance(10**9)
m.withdraw("e30")
for n in range(1, 60, 7):
    m.explain(events[n], f"s{n}" if f"s{n}" in m else "s1", at=10**9)
later = compiled() - ahead
print(len(ahead), sorted(later))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of kernels of this test."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    kernels_folder.cache_clear()
    yield tmp_path / "kernels"
    kernels_folder.cache_clear()


def test_after_warming_up_matching_compiles_nothing_more() -> None:
    """Every kind, one by one and in batches, with removals, time passing, and explanations."""
    done = subprocess.run([sys.executable, "-c", SEEN], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("[]"), done.stdout


FIRST = """
import gc
from numba.core.dispatcher import Dispatcher
from likewise.matching import warm_up

def compiled():
    return {(each.py_func.__qualname__, str(s)) for each in gc.get_objects() if isinstance(each, Dispatcher)
            for s in each.signatures}

for parts in warm_up.SHARES["first"]:
    for part in parts:
        warm_up.warm_up(part=part)
ahead = compiled()
assert not any("step" == name or "survivors" == name for name, _ in ahead)  # of rankings and interests

import likewise as lw
from likewise.demo import DEMO_SUBSCRIPTIONS, City

matcher = lw.Matcher()
for each in DEMO_SUBSCRIPTIONS:
    subscription = lw.parse(each.text, id=each.id)
    if subscription.top is None:
        matcher.add(subscription, at=0)
matcher.add(lw.parse("{no2 > 40, city = Galway}", id="exact"), at=0)
matcher.add(lw.parse("{smoke~ = true} for 1 min once until false", id="alert"), at=0)
events = [lw.event(report.payload, id=report.id) for report in City(seed=1, run="1").between(0, 60)]
for event in events[:30]:
    matcher.match(event, at=0)
matcher.match_batch(events[30:90], at=[0] * len(events[30:90]))
matcher.explain(events[0], "heat", at=0)
print(len(ahead), sorted(compiled() - ahead))
"""


def test_the_first_stage_has_every_kernel_of_conditions_and_alerts() -> None:
    """What the demo's city needs, but for its ranking, compiles nothing more after it."""
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("[]"), done.stdout


def test_the_first_stage_is_marked_apart(folder: Path) -> None:
    """It is enough for conditions, and not for everything; once everything is compiled, so is the first stage."""
    compiled_ahead.mark_compiled("first")
    assert compiled_ahead.is_compiled_ahead(stage="first")
    assert not compiled_ahead.is_compiled_ahead()
    for mark in folder.iterdir():
        mark.unlink()
    compiled_ahead.mark_compiled()
    assert compiled_ahead.is_compiled_ahead(stage="first")


def test_what_compiles_beside_a_broker_has_a_lower_priority() -> None:
    """Also in a session of its own, which Linux may weigh as a group."""
    code = """
import os
from pathlib import Path
from likewise.matching.warm_up import lower_priority
lower_priority(7)
group = Path("/proc/self/autogroup")
print(os.nice(0) >= 7, group.read_text().split()[-1] if group.exists() else 7)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, start_new_session=True
    )
    assert done.stdout.split() == ["True", "7"]


def test_the_mark_holds_for_the_kernels_as_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another source, or a folder that was emptied, and it is to be done again; what nobody uses is removed in time."""
    assert not compiled_ahead.is_compiled_ahead()
    compiled_ahead.mark_compiled()
    assert compiled_ahead.is_compiled_ahead()
    monkeypatch.setattr(compiled_ahead, "fingerprint", lambda module: "other")
    assert not compiled_ahead.is_compiled_ahead()
    (first,) = folder.iterdir()
    compiled_ahead.mark_compiled()
    assert len(list(folder.iterdir())) == 2
    os.utime(first, (0, 0))
    compiled_ahead.mark_compiled()
    assert len(list(folder.iterdir())) == 1
    assert not first.exists()


def test_portable_kernels_are_enough_and_are_no_code_for_this_processor(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel whose kernels fit in part is completed once; without it the mark holds no longer."""
    level = tmp_path / "wheel" / targets.levels()[0]
    level.mkdir(0o700, parents=True)
    for wheel, expected in ((tmp_path / "wheel", True), ("", False)):
        monkeypatch.setenv(compiled_ahead.PORTABLE, str(wheel))
        portable_folders.cache_clear()
        if wheel:
            compiled_ahead.mark_compiled()
        assert compiled_ahead.is_compiled_ahead() is expected
        assert not compiled_ahead.is_compiled_ahead(native=True)
    portable_folders.cache_clear()


def test_every_file_with_a_kernel_is_known_by_its_decorator() -> None:
    """No file asks numba directly, so that every kernel is kept in the one folder and named by its sources."""
    root = fingerprint.ROOT
    direct = [path for path in sorted(root.rglob("*.py")) if "numba" in path.read_text() and _imports_numba(path)]
    assert [path.relative_to(root).as_posix() for path in direct] == [
        "kernels/compile.py",
        "kernels/content.py",
        "kernels/intrinsics.py",
        "kernels/targets.py",
    ]


def _imports_numba(path: Path) -> bool:
    lines = (line.strip() for line in path.read_text().splitlines())
    return any(line.startswith(("import numba", "from numba")) for line in lines)


def test_without_a_place_to_write_kernels_are_kept_for_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "kernels"))
    kernels_folder.cache_clear()
    try:
        assert kernels_folder().is_dir()
        assert tmp_path not in kernels_folder().parents
    finally:
        kernels_folder.cache_clear()


def test_the_user_s_cache_is_the_folder_unless_said_otherwise(tmp_path: Path) -> None:
    """`make` and `likewise` share it, since it is set in code."""
    said = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    code = "from likewise.kernels.cache import kernels_folder; print(kernels_folder())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**said, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(tmp_path / "likewise" / "kernels")
    assert "NUMBA_CACHE_DIR" not in (Path(__file__).parents[2] / "Makefile").read_text()


def test_kernels_with_checked_bounds_are_kept_apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels_folder() == folder
    for value, expected in (("1", folder / "bounds-checked"), ("0", folder), ("", folder)):
        monkeypatch.setenv("NUMBA_BOUNDSCHECK", value)
        kernels_folder.cache_clear()
        assert kernels_folder() == expected


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_while_kernels_compile_is_prompt_and_no_error(tmp_path: Path, number: signal.Signals) -> None:
    """A line says what is being done before "Listening"; then nothing is left behind, and the exit code is 0."""
    told = {**os.environ, "LIKEWISE_MATCHING_COMPILE": "true", "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    told["LIKEWISE_KERNELS"] = ""  # with portable kernels nothing waits
    with subprocess.Popen(
        [sys.executable, "-m", "likewise", "serve", "--ephemeral", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=told,
    ) as broker:
        assert broker.stderr is not None
        assert broker.stderr.readline().strip() == compiling.WORDS
        broker.send_signal(number)
        shown, problems = broker.communicate(timeout=60)
    assert (broker.returncode, shown, problems) == (0, "", "")
    assert not list((tmp_path / "kernels").glob("ready-*"))
