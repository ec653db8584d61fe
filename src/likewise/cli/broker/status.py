"""`likewise status`: the state of a broker on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from likewise.cli.broker.alerts import AlertKey, alert_keys
from likewise.cli.broker.queries import fetch
from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, with_option_groups

if TYPE_CHECKING:
    from likewise.api.sinks import TargetDetails
    from likewise.client import Publisher


class BrokerStatus(msgspec.Struct, frozen=True):
    """The state of a broker: what it does now, and what is wrong.

    `events_per_s` is over the last whole minute; `behind` are entries of the log that are not matched yet, `pending`
    deliveries that wait for their subscribers.
    """

    address: str
    ready: bool
    troubles: tuple[str, ...]
    events_per_s: float
    behind: int
    events: int
    subscriptions: int
    pending: int
    dead_letters: int
    firing: tuple[str, ...]
    failing_targets: tuple[str, ...]
    engines: dict[str, str]  # by kind of subscription


@with_option_groups
def status(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """Show a broker on one screen: events a second, what is behind, firing alerts, failing targets, troubles.

    Example: `likewise status`
    """
    with broker.publisher() as client:
        state = read_status(client, broker.broker()[0])
    if as_json:
        output.print_json(state)
        return
    output.print_line(f"{state.address}: {'ready' if state.ready else 'not ready'}")
    rows = [
        ("events", f"{state.events_per_s:.1f} a second in the last minute, {state.events:,} stored"),
        ("matching", "up to date" if not state.behind else f"{state.behind:,} entries behind"),
        ("subscriptions", f"{state.subscriptions:,}, with {state.pending:,} deliveries that wait for a subscriber"),
        ("alerts", _some("firing", state.firing)),
        ("targets", _some("failing", state.failing_targets)),
        ("dead letters", f"{state.dead_letters:,}" + (" (likewise dead-letters)" if state.dead_letters else "")),
        ("engines", ", ".join(f"{kind} {engine}" for kind, engine in state.engines.items())),
        ("troubles", "; ".join(state.troubles) or "none"),
    ]
    for name, text in rows:
        output.print_line(f"  {name:<14}{text}")


def read_status(client: Publisher, address: str) -> BrokerStatus:
    """Return the state of a broker.

    Args:
        client: the connection to it.
        address: its address, as it is shown.

    Raises:
        Forbidden: the token may not see what is asked for.
    """
    from likewise.api.history import EventCounts
    from likewise.api.operations import TenantStats
    from likewise.api.sinks import TargetDetails
    from likewise.errors import LikewiseError

    stats = fetch(client, TenantStats, "/v1/stats")
    counts = fetch(client, EventCounts, "/v1/tallies", minutes=2)
    keys = [each for each in alert_keys(client) if each.is_firing]
    targets = [each for each in fetch(client, list[TargetDetails], "/v1/targets") if _is_failing(each)]
    try:
        readiness = fetch(client, dict[str, Any], "/readyz")
    except LikewiseError as error:  # it answers, and says what keeps it from working
        readiness = {"status": "", "troubles": [str(error)]}
    whole_minute = counts.minutes[-2:-1] or counts.minutes
    return BrokerStatus(
        address=address,
        ready=readiness["status"] == "ready",
        troubles=tuple(readiness["troubles"]),
        events_per_s=sum(each.events for each in whole_minute) * 1e6 / counts.span if counts.span else 0.0,
        behind=stats.log_position - stats.matched_position,
        events=stats.events,
        subscriptions=stats.subscriptions,
        pending=stats.pending,
        dead_letters=stats.dead_letters,
        firing=tuple(map(_firing_text, keys)),
        failing_targets=tuple(map(_failing_text, targets)),
        engines=stats.engines,
    )


def _is_failing(target: TargetDetails) -> bool:
    """Return whether the newest attempt failed, or deliveries were given up."""
    state = target.state
    return state.trying_again_at is not None or state.dead > 0


def _firing_text(each: AlertKey) -> str:
    return (
        f"{each.subscription} ({each.name}: {each.key.words})"
        if each.key.words
        else f"{each.subscription} ({each.name})"
    )


def _failing_text(each: TargetDetails) -> str:
    parts = [f"{each.state.waiting:,} waiting", f"{each.state.dead:,} dead"]
    return f"{each.subscription} to {each.address} ({', '.join(parts)}: {each.state.last_error})"


def _some(what: str, names: tuple[str, ...], shown: int = 5) -> str:
    """Return a count and the first names.

    >>> _some("firing", ()), _some("firing", ("a", "b"), shown=1)
    ('none firing', '2 firing: a, and 1 more')
    """
    if not names:
        return f"none {what}"
    more = f", and {len(names) - shown:,} more" if len(names) > shown else ""
    return f"{len(names):,} {what}: {', '.join(names[:shown])}{more}"
