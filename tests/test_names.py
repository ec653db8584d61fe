"""One word names one thing, and names that were given up stay gone.

The left column is what a thing was called once; whoever brings one back is told what it is called now.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (ROOT / "src" / "likewise", ROOT / "experiments" / "src" / "likewise_experiments")
FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for source in SOURCES
    for path in source.rglob("*.py")
}

# A word that was given up, where it must not be, and what is said now.
GONE = [
    (r"\bMeaning\(|class Meaning\b", "matching|semantics|broker", "Interpretation"),
    (r"\bSteps\b", "broker", "EventTrace"),
    (r"\b_?Gate\b", "server|topk", "Door; SharedCondition"),
    (r"\bCourier\b", "server", "LoopBridge"),
    (r"\bPrepared\b", "semantics", "AskedSide"),
    (r"\brelearn\b", "", "forget_relatedness"),
    (r"\bbroker\.settle\(|\bdef settle\(", "src/likewise/broker/", "wait_until_matched"),
    (r"\basker\b", "server", "tenant_asking"),
    (r"DESIGN\.md|SPEC\.md|HOUSE\.md", "", "a page in docs/"),
]
# Modules that were given up, with their names now.
MODULES = {
    "arrivals": "match_events",
    "initial": "earlier_events",
    "replaying": "history",
    "readings": "parser",
    "murty": "ranked_mappings",
    "recipients": "packed_sets",
    "steps": "event_trace",
    "courier": "loop_bridge",
    "early": "match_before_commit",
    "prepared": "asked_side",
    "asked": "asked_predicates",
    "routing": "engines",
    "gate": "door",
    "asking": "questions",
}


@pytest.mark.parametrize(("word", "where", "now"), GONE, ids=[each[0] for each in GONE])
def test_a_name_that_was_given_up_stays_gone(word: str, where: str, now: str) -> None:
    """No file says it where it meant something else."""
    found = [name for name, text in FILES.items() if re.search(where, name) and re.search(word, text)]
    assert not found, f"say {now}: {found}"


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_was_given_up_stays_gone(name: str) -> None:
    """No module has its old name."""
    assert not [path for path in FILES if path.endswith(f"/{name}.py")], f"it is {MODULES[name]} now"


def test_a_public_class_name_means_one_thing() -> None:
    """Two public classes of one name would make a search for it ambiguous."""
    defined: dict[str, set[str]] = defaultdict(set)
    for path, text in FILES.items():
        if path.startswith("src/"):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    defined[node.name].add(path)
    assert {name: sorted(paths) for name, paths in defined.items() if len(paths) > 1} == {}


def test_the_formatter_formats_every_file() -> None:
    """No file keeps a layout of its own."""
    marker = "# fmt" + ":"
    assert [path for path, text in FILES.items() if marker in text] == []


def test_the_index_of_terms_names_modules_that_exist() -> None:
    """docs/contributing/project-layout.md leads from a term of the field to a module."""
    page = (ROOT / "docs" / "contributing" / "project-layout.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| `([\w/]+)` \|$", page.split("## Index of terms")[1], re.M)
    assert len(rows) >= 120
    source = ROOT / "src" / "likewise"
    missing = [row for row in rows if not (source / f"{row[1]}.py").exists() and not (source / row[1]).is_dir()]
    assert missing == []


LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}


def malformed_log_events(text: str) -> list[str]:
    """Return the log calls of a module that are not a snake_case name with fields.

    The client logs through `logging`, which knows no fields: there they follow the name as `field=%s`.
    """
    malformed = []
    event = re.compile(
        r"[a-z0-9]+(_[a-z0-9]+)+( \w+=%s)*" if "logging.getLogger(" in text else r"[a-z0-9]+(_[a-z0-9]+)+"
    )
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS):
            continue
        if not re.search(r"\blog(ger|ging)?$|_log$|_LOG$", ast.unparse(node.func.value)):
            continue
        first = node.args[0] if node.args else None
        names = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
        values = [each.value if isinstance(each, ast.Constant) else None for each in names]
        fields = sum(value.count("%s") for value in values if isinstance(value, str))
        if len(node.args) != 1 + fields or not all(isinstance(each, str) and event.fullmatch(each) for each in values):
            malformed.append(ast.unparse(node))
    return malformed


def test_log_events_are_snake_case_names_with_fields() -> None:
    """So that whoever sees a line finds the code by the event's name, and a program reads the fields."""
    assert {name: lines for name, text in FILES.items() if (lines := malformed_log_events(text))} == {}
    assert sum(text.count("log.warning(") for text in FILES.values()) > 20


@pytest.mark.parametrize(
    "call",
    [
        '_log.warning("the target failed")',
        '_log.warning("targetFailed", target=1)',
        '_log.error(f"target_{name}_failed")',
        'self._log.info("target_failed", why)',
        "_log.exception(message)",
        '_log.warning("a_is_b" if a == b else "no", b=1)',
        '_log.info("target_failed target=%s", target)',
    ],
)
def test_a_log_line_of_another_form_is_found(call: str) -> None:
    """The check sees sentences, other spellings, computed names and values that are no fields."""
    assert len(malformed_log_events(call)) == 1


def test_numbers_stay_numbers_in_the_broker() -> None:
    """Matchers name things by text; one file of the broker turns numbers into text and back."""
    turned = re.compile(r"int\([^()]*\.(subscription_id|event_id)\)|str\([^()]*\.(number|position)\)")
    found = [name for name, text in FILES.items() if "likewise/broker/" in name and turned.search(text)]
    assert found == ["src/likewise/broker/tenants/numbered_matcher.py"]


def test_replay_means_deliveries_given_again() -> None:
    """Only the broker's queries and its clients replay."""
    found = [path for path, text in FILES.items() if re.search(r"\bdef replay\(", text)]
    assert sorted({path.split("/")[2] for path in found}) == ["broker", "client"]
    assert all("queries/replay" in path or "client" in path for path in found)


def test_pages_that_the_code_names_are_there() -> None:
    """A docstring that sends its reader to a page names one in this repository."""
    pages = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.md") if ".venv" not in path.parts]
    for name, text in FILES.items():
        for page in re.findall(r"[\w./-]+\.md\b", text):
            assert any(each == page or each.endswith(f"/{page}") for each in pages), f"{name} names {page}"
