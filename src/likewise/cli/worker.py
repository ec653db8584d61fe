"""`likewise worker`: a process that matches for a broker, on its machine or on another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def worker(
    socket: Annotated[
        Path | None, typer.Option("--socket", metavar="PATH", help="Where a broker on this machine waits for it.")
    ] = None,
    connect: Annotated[
        str | None,
        typer.Option("--connect", metavar="URL", help="A broker on another machine: tls://HOST:PORT."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="The token it shows there; else LIKEWISE_WORKER_TOKEN."),
    ] = None,
    authority: Annotated[
        Path | None,
        typer.Option(
            "--authority", metavar="FILE", help="The certificate that signed the broker's, if not a known one."
        ),
    ] = None,
    processes: Annotated[
        int, typer.Option("--processes", metavar="N", min=1, max=256, help="How many workers this machine offers.")
    ] = 1,
) -> None:
    """Match for a broker. It starts those on its own machine itself; other machines connect to `[workers] listen`.

    Example: `likewise worker --connect tls://hub.example.org:8790 --token-file worker.token`
    """
    import signal

    if (socket is None) == (connect is None):
        raise typer.BadParameter("give --connect with the broker's address, or --socket", param_hint="--connect")
    if connect is None:
        from likewise.broker.pool.worker import serve

        assert socket is not None
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the broker says when to end
        serve(socket)
        return
    from likewise.broker.config import LoggingSettings
    from likewise.broker.pool.dialling import run
    from likewise.broker.telemetry.logging import log_to_stderr
    from likewise.errors import InputError

    token = os.environ.get("LIKEWISE_WORKER_TOKEN", "") if token_file is None else token_file.read_text("utf-8").strip()
    if not token:
        raise InputError("a worker shows a token: give --token-file, or LIKEWISE_WORKER_TOKEN")
    log_to_stderr(LoggingSettings())
    run(connect, token, authority, processes)
