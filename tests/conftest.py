"""What every test may use: the hypothesis profiles, and the folder of shared data where there is one."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# `ci` finds what a short search finds and repeats itself exactly; `deep` is for long runs:
# HYPOTHESIS_PROFILE=deep make pytest
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("deep", max_examples=3_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Brokers that tests start compile what they need when they need it; `make pytest` has compiled everything before.
os.environ.setdefault("LIKEWISE_MATCHING_COMPILE", "false")

# What a shell starts in the background ignores Ctrl-C, and so would every process that a test starts to stop it so.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent

# Where Python may not write bytecode beside the sources, pytest would rewrite the asserts of every file at each start,
# which takes longer than all imports: it keeps them in its own cache folder.
if sys.dont_write_bytecode:
    sys.pycache_prefix = str(ROOT / ".pytest_cache" / "bytecode")
    sys.dont_write_bytecode = False


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data sets: `LIKEWISE_SHARED`, else `../shared` beside the repository."""
    folder = Path(os.environ.get("LIKEWISE_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"there is no shared data in {folder}; name its folder in LIKEWISE_SHARED")
    return folder


# Tests that stay with one worker: one Spark session for all, and never two browsers at a time.
TOGETHER = {
    "tests/spark/": "spark",
    "tests/experiments/thematic/test_experiment.py": "spark",
    "tests/experiments/report/test_thematic_part.py": "spark",
    "tests/experiments/report/test_page.py": "chromium",
    "tests/server/http/test_server.py": "chromium",
    "tests/server/http/mobile/": "chromium",
    "tests/dashboard/": "chromium",
}


def together(nodeid: str) -> str:
    """What a test is handed to a worker with: its file, or what shares something heavy with it."""
    file = nodeid.partition("::")[0]
    return next((name for start, name in TOGETHER.items() if file.startswith(start)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Under xdist a file stays with one worker, in its order. (xdist's own groups are lost on pytest 9.)"""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return together(nodeid)

    return Together(config, log)
