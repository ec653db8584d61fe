"""How far a count is, for people and for logs."""

from __future__ import annotations

import threading
from io import StringIO

import pytest
from rich.console import Console

from likewise_experiments.progress import LINE_SECONDS, counting, watching


def test_without_a_terminal_lines_come_now_and_then_with_the_time_left() -> None:
    """One at the start, not more often than the pause, one at the end; done work does not count as speed."""
    now, said = [0.0], StringIO()
    with counting("cells", 40, Console(file=said, width=200), done=10, clock=lambda: now[0]) as tell:
        tell(11)
        now[0] = LINE_SECONDS
        tell(20)
        now[0] = LINE_SECONDS + 1
        tell(21)
        tell(40)
    assert said.getvalue().splitlines() == [
        "cells: 10 of 40",
        "cells: 20 of 40, 15 s, about 30 s left",
        "cells: 40 of 40, 16 s",
    ]


def test_the_last_count_is_said_once() -> None:
    """Also if its line came a moment ago."""
    now, said = [0.0], StringIO()
    with counting("cells", 2, Console(file=said, width=200), clock=lambda: now[0]) as tell:
        now[0] = LINE_SECONDS
        tell(2)
    assert said.getvalue().splitlines() == ["cells: 0 of 2", "cells: 2 of 2, 15 s"]


def test_a_terminal_has_a_bar() -> None:
    """It says how many are done, and is gone afterwards."""
    said = StringIO()
    with counting("cells", 4, Console(file=said, force_terminal=True, width=120)) as tell:
        tell(3)
    assert "cells" in said.getvalue()


def test_a_watcher_ends_with_its_block_and_tells_the_last_count() -> None:
    """Also when the block fails; then nothing more is told."""
    told: list[int] = []
    with watching(lambda: 7, told.append):
        pass
    assert told[-1] == 7
    with pytest.raises(RuntimeError), watching(lambda: 8, told.append):
        raise RuntimeError
    assert told[-1] == 7
    assert not any(thread.name == "progress" for thread in threading.enumerate())
