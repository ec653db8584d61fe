"""The small programs of tools/ do what they say."""

from __future__ import annotations

from pathlib import Path

from tools import draw_functions


def test_the_same_tree_draws_the_same_functions() -> None:
    """Functions come in the order of their files, each with its promise and the file it lives in."""
    known = list(draw_functions.functions(draw_functions.SOURCE))
    assert known == list(draw_functions.functions(draw_functions.SOURCE))
    assert len(known) > 10 * draw_functions.COUNT
    assert all((draw_functions.SOURCE / each.home).is_file() and each.promise for each in known)


def test_only_public_functions_with_a_promise_are_drawn(tmp_path: Path) -> None:
    """Private ones, and those that say nothing, cannot be placed by what they promise."""
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "one.py").write_text(
        'def said():\n    """Says it.\n\n    More."""\n\ndef unsaid(): ...\n\ndef _own():\n    """Own."""\n\n'
        'class Bed:\n    def make(self):\n        """Make it."""\n'
    )
    assert list(draw_functions.functions(tmp_path)) == [
        ("said", "Says it.", "room/one.py"),
        ("Bed.make", "Make it.", "room/one.py"),
    ]
    assert list(draw_functions.rooms(tmp_path)) == ["   1  room/"]
