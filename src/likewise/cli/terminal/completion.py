"""Completion of names from a running broker: subscribers, subscriptions, sources and targets.

A shell waits for the answer, so a broker that is not there, or takes long, completes nothing.
"""

from __future__ import annotations

from typing import Any, Final

import typer

from likewise.cli.terminal.options import BrokerOptions
from likewise.errors import LikewiseError

TIMEOUT_S: Final = 1.0  # a shell is blocked meanwhile
LIMIT: Final = 1_000  # names that are offered at most


def complete_subscribers(ctx: typer.Context) -> list[str]:
    """Return the ids of the broker's subscribers."""
    return sorted({str(each["id"]) for each in _fetch(ctx, "/v1/subscribers")})


def complete_subscriptions(ctx: typer.Context) -> list[str]:
    """Return the names of the broker's subscriptions, of one subscriber where the command names one."""
    owner = ctx.params.get("owner")
    listed = _fetch(ctx, "/v1/subscriptions")
    return sorted({str(each["id"]) for each in listed if owner in (None, each["subscriber"])})


def complete_targets(ctx: typer.Context) -> list[str]:
    """Return the names of the broker's targets."""
    return sorted({str(each["id"]) for each in _fetch(ctx, "/v1/targets")})


def complete_sources(ctx: typer.Context) -> list[str]:
    """Return the names of the sources in the broker's catalogue."""
    return [str(each["source"]) for each in _fetch(ctx, f"/v1/sources?limit={LIMIT}", "sources")]


def _fetch(ctx: typer.Context, path: str, field: str | None = None) -> list[dict[str, Any]]:
    import httpx

    from likewise.client.endpoint import Endpoint

    given = {name: ctx.params.get(name) for name in BrokerOptions.__struct_fields__}
    try:
        address, options = BrokerOptions(**given).broker()
        http = Endpoint(address, **options).http_options() | {"timeout": TIMEOUT_S}
        with httpx.Client(**http) as client:
            content = client.get(path).raise_for_status().json()
    except (LikewiseError, OSError, httpx.HTTPError, ValueError):
        return []
    return list(content if field is None else content[field])[:LIMIT]
