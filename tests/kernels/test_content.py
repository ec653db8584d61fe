"""A stored kernel is used as long as nothing changed that its code depends on, in whatever folder the sources are."""

from __future__ import annotations

import grp
import importlib
import json
import os
import pwd
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher

from likewise.errors import ArtefactError
from likewise.kernels import cache, targets
from likewise.kernels.cache import check_trusted, kernel_modules, kernels_folder, portable_folders
from likewise.kernels.content import _Walk

ROOT = Path(__file__).parents[2]
SOURCES = {
    "layout.py": """
from typing import NamedTuple
WIDTH = 2
STEP = 10
UNREAD = 1
class Columns(NamedTuple):
    low: int
    high: int
""",
    "codes.py": """
from numba.extending import intrinsic
from numba import types
@intrinsic
def seven(context):
    def generate(context, builder, signature, arguments):
        return context.get_constant(types.int64, 700)
    return types.int64(), generate
""",
    "callee.py": """
from likewise.kernels.compile import kernel
@kernel
def scaled(x):
    return 1000 * x
""",
    "caller.py": """
import numpy as np
from likewise.kernels.compile import kernel
from sketch import layout as L
from sketch.callee import scaled
from sketch.codes import seven
from sketch.layout import WIDTH
TABLE = np.array([1, 2, 3])
@kernel
def total(columns):
    '''Return a sum.'''
    return scaled(columns.low) + columns.high + WIDTH + L.STEP + TABLE[1] + seven()
""",
    "__init__.py": "",
}
RUN = """
import json
import numba.core.event as event
compiled = []
class Listener(event.Listener):
    def on_start(self, event):
        name = event.data["dispatcher"].py_func.__name__
        if name in ("scaled", "total"):
            compiled.append(name)
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
from sketch.caller import total
from sketch.layout import Columns
result = int(total(Columns(low=3, high=5)))
print(json.dumps([sorted(compiled), result]))
"""
FIRST = 3000 + 5 + 2 + 10 + 2 + 700


def write(checkout: Path, file: str = "", old: str = "", new: str = "") -> Path:
    """Write the sketch, with one change."""
    (checkout / "sketch").mkdir(parents=True)
    for name, text in SOURCES.items():
        assert name != file or old in text
        (checkout / "sketch" / name).write_text(text.replace(old, new) if name == file else text)
    return checkout


def run(checkout: Path, folder: Path, **settings: str) -> tuple[list[str], int]:
    """Return the functions that a process compiles, and what the kernel computes."""
    path = os.pathsep.join([str(checkout), str(ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder), "LIKEWISE_KERNELS": "", **settings}
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    compiled, result = json.loads(done.stdout)
    return compiled, result


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the kernels of the sketch."""
    folder = tmp_path_factory.mktemp("stored") / "kernels"
    assert run(write(tmp_path_factory.mktemp("first")), folder) == (["scaled", "total"], FIRST)
    return folder


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("", "", ""),
        ("caller.py", "Return a sum.", "Return another word for it."),
        ("caller.py", "import numpy", "# a comment\n\nimport numpy"),
        ("layout.py", "UNREAD = 1", "UNREAD = 2"),
    ],
    ids=["another path and date", "a docstring", "a comment and lines", "a constant that it does not read"],
)
def test_what_a_kernel_cannot_see_compiles_nothing(stored: Path, tmp_path: Path, file: str, old: str, new: str) -> None:
    assert run(write(tmp_path, file, old, new), stored) == ([], FIRST)


@pytest.mark.parametrize(
    ("file", "old", "new", "compiled", "result"),
    [
        ("callee.py", "1000 * x", "2000 * x", ["scaled", "total"], FIRST + 3000),
        ("callee.py", "@kernel", "from likewise.kernels.compile import nogil_kernel\n@nogil_kernel", None, FIRST),
        ("layout.py", "WIDTH = 2", "WIDTH = 3", ["total"], FIRST + 1),
        ("layout.py", "WIDTH = 2", "WIDTH = 2.0", ["total"], FIRST),
        ("layout.py", "STEP = 10", "STEP = 11", ["total"], FIRST + 1),
        ("caller.py", "[1, 2, 3]", "[1, 4, 3]", ["total"], FIRST + 2),
        ("layout.py", "    low: int\n    high: int", "    high: int\n    low: int", ["total"], FIRST),
        ("codes.py", "700", "800", ["total"], FIRST + 100),
    ],
    ids=["callee", "option of a callee", "constant", "type of a constant", "constant by its module", "array",
         "layout of a named tuple", "intrinsic"],
)  # fmt: skip
def test_what_a_kernel_depends_on_compiles_it_anew(
    stored: Path, tmp_path: Path, file: str, old: str, new: str, compiled: list[str] | None, result: int
) -> None:
    """And the code that was there stays right for who has the sources it was compiled from."""
    assert run(write(tmp_path / "changed", file, old, new), stored) == (compiled or ["scaled", "total"], result)
    assert run(write(tmp_path / "first"), stored) == ([], FIRST)


def test_code_for_another_processor_or_with_other_checks_is_apart(stored: Path, tmp_path: Path) -> None:
    checkout = write(tmp_path)
    for settings in ({"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, {"NUMBA_OPT": "1"}):
        assert run(checkout, stored, **settings) == (["scaled", "total"], FIRST)
    assert run(checkout, stored, NUMBA_BOUNDSCHECK="1") == (["scaled", "total"], FIRST)


def test_portable_kernels_are_used_without_compiling(tmp_path: Path) -> None:
    """Compiled for a level, they run on every processor that meets it, from any folder."""
    level, *_ = targets.levels()
    wheel, checkout = tmp_path / "wheel", write(tmp_path / "checkout")
    run(checkout, wheel / level, NUMBA_CPU_NAME=level, NUMBA_CPU_FEATURES="")
    assert run(checkout, tmp_path / "empty", LIKEWISE_KERNELS=str(wheel)) == ([], FIRST)
    assert not list((tmp_path / "empty").iterdir())


def test_a_processor_below_the_level_loads_no_kernel_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.PORTABLE, str(tmp_path))
    monkeypatch.setattr(targets, "triple", lambda: "x86_64-unknown-linux-gnu")
    for level in targets.LEVELS["x86_64"]:
        (tmp_path / level).mkdir()
    v3, v2 = targets.LEVELS["x86_64"].values()
    for features, expected in ((v3, ["x86-64-v3", "x86-64-v2"]), (v3 - {"avx2"}, ["x86-64-v2"]), (v2 - {"popcnt"}, [])):
        monkeypatch.setattr(targets, "host_features", lambda features=features: features)
        portable_folders.cache_clear()
        assert [level for level, _ in portable_folders()] == expected
    portable_folders.cache_clear()


def test_a_damaged_kernel_is_compiled_anew(tmp_path: Path) -> None:
    checkout, folder = write(tmp_path / "checkout"), tmp_path / "kernels"
    run(checkout, folder)
    for path in folder.glob("*.kernel"):
        path.write_bytes(path.read_bytes()[:-9])
    assert run(checkout, folder) == (["scaled", "total"], FIRST)
    assert run(checkout, folder) == ([], FIRST)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no mode of a folder")
def test_kernels_that_others_can_write_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, a file, a folder of portable kernels: their code would run as the user."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setenv(cache.PORTABLE, str(tmp_path / "wheel"))
    (tmp_path / "kernels").mkdir(0o700)
    level = tmp_path / "wheel" / targets.levels()[0]
    level.mkdir(parents=True)
    file = tmp_path / "a.kernel"
    file.touch()
    for mode in (0o777, 0o775, 0o757):
        for each in (tmp_path / "kernels", level, file):
            each.chmod(mode)
        kernels_folder.cache_clear()
        portable_folders.cache_clear()
        for look in (kernels_folder, portable_folders, lambda: check_trusted(file, file.stat())):
            with pytest.raises(ArtefactError, match=r"others can write the compiled kernels in .*: chmod -R go-w"):
                look()
    kernels_folder.cache_clear()
    portable_folders.cache_clear()


def test_a_group_that_holds_the_user_alone_may_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where new files are writable by the user's own group; a group with others may not, nor any group of root."""
    user, groups = SimpleNamespace(pw_uid=1000, pw_name="ann"), {7: ("ann", []), 8: ("ann", ["bob"]), 9: ("staff", [])}
    monkeypatch.setattr(pwd, "getpwuid", lambda number: user)
    monkeypatch.setattr(
        grp, "getgrgid", lambda number: SimpleNamespace(gr_name=groups[number][0], gr_mem=groups[number][1])
    )
    cache._is_own_group.cache_clear()
    assert [cache._is_own_group(number) for number in groups] == [True, False, False]
    user.pw_uid = 0
    cache._is_own_group.cache_clear()
    assert not cache._is_own_group(7)
    cache._is_own_group.cache_clear()


def test_a_new_folder_of_kernels_is_the_user_s_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    before = os.umask(0o002)
    kernels_folder.cache_clear()
    try:
        assert kernels_folder().stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)
        kernels_folder.cache_clear()


def test_every_kernel_of_the_package_is_described_in_full() -> None:
    """No global of an unknown kind: a change in a module that a kernel merely imports compiles nothing."""
    described: dict[str, Any] = {}
    for name in kernel_modules():
        for each in vars(importlib.import_module(name)).values():
            if isinstance(each, Dispatcher):
                function = each.py_func
                described[f"{function.__module__}.{function.__qualname__}"] = _Walk(name).describe(each)
    assert len(described) > 100
    assert [name for name, text in described.items() if "'unknown'" in repr(text)] == []
