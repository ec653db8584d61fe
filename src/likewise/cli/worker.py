"""`likewise worker`: a process that matches for a broker; the broker starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def worker(
    socket: Annotated[Path, typer.Option("--socket", metavar="PATH", help="Where the broker waits for it.")],
) -> None:
    """Match for a broker, in a process of its own. Brokers start these themselves: `[matching] workers = 2`.

    Example: `likewise worker --socket /run/likewise/worker-1.sock`
    """
    import signal

    from likewise.broker.pool.worker import serve

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the broker says when to end
    serve(socket)
