"""How far a long count is: a bar on a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

LINE_SECONDS: Final = 15.0  # between two lines where there is no terminal
LOOK_SECONDS: Final = 0.5  # between two looks at what others have done


@contextmanager
def counting(
    what: str,
    total: int,
    console: Console | None,
    *,
    done: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[int], None]]:
    """Hands out a function to say how many of `total` are done; `done` were before this run.

    A bar with the time left on a terminal; else a line every fifteen seconds and one at the end; nothing without a
    console.

    >>> with counting("cells", 3, None) as tell:
    ...     tell(1)
    """
    if console is None:
        yield lambda _: None
    elif console.is_terminal:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=True, speed_estimate_period=600) as bar:
            task = bar.add_task(what, total=total, completed=done)
            yield lambda n: bar.update(task, completed=n)
    else:
        lines = _Lines(what, total, console, done, clock)
        yield lines.tell
        lines.close()


class _Lines:
    """Plain lines, not more often than `LINE_SECONDS`."""

    def __init__(self, what: str, total: int, console: Console, done: int, clock: Callable[[], float]) -> None:
        self._what, self._total, self._console, self._clock = what, total, console, clock
        self._before = self._done = done
        self._begun = self._said = clock()
        self.say()

    def tell(self, done: int) -> None:
        """Note how many are done, and say it if it is time to."""
        self._done = done
        if self._clock() - self._said >= LINE_SECONDS:
            self.say()

    def close(self) -> None:
        """Say the last count, unless it was said."""
        if self._done != self._told:
            self.say()

    def say(self) -> None:
        """One line."""
        self._said, self._told = self._clock(), self._done
        seconds, made = self._said - self._begun, self._done - self._before
        text = f"{self._what}: {self._done:,} of {self._total:,}"
        if made and seconds > 0:
            text += f", {duration(seconds)}"
            if self._done < self._total:
                text += f", about {duration(seconds / made * (self._total - self._done))} left"
        self._console.print(text, soft_wrap=True)


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(5.2), duration(200), duration(8000)
    ('5 s', '3 min', '2 h 13 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def watching(look: Callable[[], int], tell: Callable[[int], None]) -> Iterator[None]:
    """Looks how many are done, again and again, while the block runs elsewhere."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            tell(look())

    watcher = threading.Thread(target=watch, name="progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    tell(look())
