"""What every test may use: the hypothesis profiles, and the folder of shared data where there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# `ci` finds what a short search finds and repeats itself exactly; `deep` is for long runs:
# HYPOTHESIS_PROFILE=deep make pytest
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("deep", max_examples=3_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Brokers that tests start compile what they need when they need it; `make pytest` has compiled everything before.
os.environ.setdefault("LIKEWISE_MATCHING_COMPILE", "false")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data sets: `LIKEWISE_SHARED`, else `../shared` beside the repository."""
    folder = Path(os.environ.get("LIKEWISE_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"there is no shared data in {folder}; name its folder in LIKEWISE_SHARED")
    return folder


# Fixtures whose tests stay with one worker: one Spark session for all, and never two browsers at a time.
TOGETHER = {"spark": "spark", "browser": "chromium"}


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under xdist (`--dist loadgroup`) a file stays with one worker, and tests that share something heavy do too."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            shared = [TOGETHER[name] for name in getattr(item, "fixturenames", ()) if name in TOGETHER]
            item.add_marker(pytest.mark.xdist_group(shared[0] if shared else str(item.path)))
