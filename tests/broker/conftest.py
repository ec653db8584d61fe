"""Every broker of these tests keeps the rules of its locks, or is refused."""

from __future__ import annotations

import pytest

from likewise.broker import locks


@pytest.fixture(autouse=True)
def checked_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "CHECKED", True)
