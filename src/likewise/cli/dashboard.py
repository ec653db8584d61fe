"""`likewise dashboard`: look at a broker in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise import defaults
from likewise.cli.terminal.options import BrokerOptions, with_option_groups
from likewise.errors import InputError


@with_option_groups
def dashboard(
    broker: BrokerOptions,
    host: Annotated[str, typer.Option("--host", help="Where the dashboard listens.")] = defaults.HOST,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The dashboard's port.")] = (
        defaults.DASHBOARD_PORT
    ),
    tiles: Annotated[
        str,
        typer.Option("--tiles", metavar="URL", help="Where pictures for the map come from; without it none is loaded."),
    ] = "",
    credit: Annotated[str, typer.Option("--tiles-credit", metavar="TEXT", help="Whom the map thanks for them.")] = "",
) -> None:
    """Serve the dashboard of a broker; it needs the extra `dashboard`.

    Each viewer enters a token of their own where the broker wants one.

    Example: `likewise dashboard --address http://127.0.0.1:8787`

    The map is drawn without any other server; `--tiles https://HOST/{z}/{x}/{y}.png` lays a ground below it.
    """
    from likewise.cli.terminal import output
    from likewise.dashboard.app import serve_dashboard

    if tiles and not (
        tiles.startswith(("https://", "http://")) and all(part in tiles for part in ("{z}", "{x}", "{y}"))
    ):
        raise InputError(f"the address of tiles is like https://HOST/{{z}}/{{x}}/{{y}}.png; found {tiles[:80]!r}")
    address, options = broker.broker()
    output.print_line(f"The dashboard of {address} is at http://{host}:{port} (Ctrl-C ends it)")
    serve_dashboard(address, host, port, options.get("ca"), tiles, credit)
