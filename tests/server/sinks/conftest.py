"""Every broker of these tests keeps the rules of its locks, or is refused."""

from __future__ import annotations

import pytest

from likewise.broker import locks


@pytest.fixture(autouse=True, scope="package")
def checked_locks() -> object:
    before, locks.CHECKED = locks.CHECKED, True
    yield
    locks.CHECKED = before
