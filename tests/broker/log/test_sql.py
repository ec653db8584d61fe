"""The room of the store is the only one that speaks SQL."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "src" / "likewise"
ELSEWHERE = [
    path
    for room in ("broker", "server", "cli", "client", "dashboard")
    for path in sorted((PACKAGE / room).rglob("*.py"))
    if (PACKAGE / "broker" / "log") not in path.parents
]
STATEMENT = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE|PRAGMA)\b")


@pytest.mark.parametrize("path", ELSEWHERE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_outside_the_store_speaks_sql(path: Path) -> None:
    """Neither a statement nor SQLite itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    assert [text for text in texts if STATEMENT.search(text)] == []
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    imported |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert "sqlite3" not in imported


def test_the_seam_of_the_store_does_not_name_sqlite() -> None:
    """Whoever is handed tables, entries or a log cannot come to depend on what keeps them."""
    for name in ("event_log", "commits"):
        assert "sqlite3" not in (PACKAGE / "broker" / "log" / f"{name}.py").read_text(encoding="utf-8")
