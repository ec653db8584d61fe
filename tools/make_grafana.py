"""Write deploy/grafana/dashboards/likewise.json: Grafana's page about a broker.

`python tools/make_grafana.py [--check]`. A panel is a title, a unit and expressions over /metrics; the rest of the file
is what Grafana wants to hear. The tests look whether every figure named here is one that a broker has.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

PLACE = Path(__file__).resolve().parents[1] / "deploy/grafana/dashboards/likewise.json"
SOURCE = {"type": "prometheus", "uid": "likewise-prometheus"}
TENANT = 'tenant=~"$tenant"'


class Panel(NamedTuple):
    """One picture: expressions with the names of their lines."""

    title: str
    unit: str
    lines: tuple[tuple[str, str], ...]
    kind: str = "timeseries"
    width: int = 8
    height: int = 8
    about: str = ""


def rate(name: str, by: str = "tenant") -> str:
    """How often something happened a second."""
    return f"sum by ({by}) (rate(likewise_{name}_total{{{TENANT}}}[$__rate_interval]))"


def quantile(share: float, name: str) -> str:
    """A quantile of a histogram."""
    return f"histogram_quantile({share}, sum by (le) (rate(likewise_{name}_bucket{{{TENANT}}}[$__rate_interval])))"


def now(name: str) -> str:
    """What is held now."""
    return f"sum by (tenant) (likewise_{name}{{{TENANT}}})"


PANELS = (
    Panel(
        "Behind",
        "short",
        (("likewise_log_position - likewise_matched_position", "entries"),),
        "stat",
        6,
        4,
        "Entries of the log that are not matched yet.",
    ),
    Panel(
        "Troubles",
        "short",
        (("likewise_troubles", "troubles"),),
        "stat",
        6,
        4,
        "What does not work now and is tried again; /readyz says what.",
    ),
    Panel("Subscriptions", "short", ((now("subscriptions"), "{{tenant}}"),), "stat", 6, 4),
    Panel("Subscribers", "short", ((now("subscribers"), "{{tenant}}"),), "stat", 6, 4),
    Panel(
        "Events a second",
        "eps",
        ((rate("events_received"), "received, {{tenant}}"), (rate("events_matched"), "matched, {{tenant}}")),
    ),
    Panel(
        "Deliveries a second",
        "eps",
        ((rate("deliveries_stored"), "stored, {{tenant}}"), (rate("deliveries_sent"), "sent, {{tenant}}")),
    ),
    Panel(
        "Not acknowledged yet",
        "short",
        ((now("deliveries_pending"), "{{tenant}}"),),
        about="A line that keeps rising is a subscriber that does not keep up.",
    ),
    Panel(
        "From request to acknowledgement",
        "s",
        ((quantile(0.5, "publish_seconds"), "half within"), (quantile(0.99, "publish_seconds"), "99 % within")),
        about="Acknowledged means on disk: a slow disk shows here.",
    ),
    Panel(
        "From arrival to stored deliveries",
        "s",
        ((quantile(0.5, "matching_seconds"), "half within"), (quantile(0.99, "matching_seconds"), "99 % within")),
    ),
    Panel("What waits to be matched", "short", ((now("entries_waiting"), "{{tenant}}"),)),
    Panel("Refused, by code", "reqps", ((rate("requests_refused", "tenant, code"), "{{code}}, {{tenant}}"),)),
    Panel("Dead letters a second", "eps", ((rate("dead_letters"), "{{tenant}}"),)),
    Panel(
        "Targets",
        "short",
        (
            (now("targets_waiting"), "waiting, {{tenant}}"),
            (rate("targets_sent"), "sent a second, {{tenant}}"),
            (rate("targets_failed"), "failed a second, {{tenant}}"),
        ),
    ),
    Panel(
        "Known vocabulary",
        "percentunit",
        (
            (
                f"sum by (cache) (rate(likewise_cache_hits_total{{{TENANT}}}[5m])) / "
                f"(sum by (cache) (rate(likewise_cache_hits_total{{{TENANT}}}[5m])) + "
                f"sum by (cache) (rate(likewise_cache_misses_total{{{TENANT}}}[5m])))",
                "{{cache}}",
            ),
        ),
        about="The share of look-ups that found what they wanted; near 1 once a stream has been seen for a while.",
    ),
    Panel("Processor time an entry", "s", ((f"max by (tenant) (likewise_entry_seconds{{{TENANT}}})", "{{tenant}}"),)),
)


def page() -> dict[str, Any]:
    """The whole file."""
    panels, x, y, row = [], 0, 0, 0
    for number, panel in enumerate(PANELS, 1):
        if x + panel.width > 24:
            x, y, row = 0, y + row, 0
        panels.append(
            {
                "id": number,
                "type": panel.kind,
                "title": panel.title,
                "description": panel.about,
                "datasource": SOURCE,
                "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
                "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
                "targets": [
                    {"refId": chr(65 + i), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
                    for i, (expression, legend) in enumerate(panel.lines)
                ],
            }
        )
        x, row = x + panel.width, max(row, panel.height)
    tenant = {
        "name": "tenant",
        "label": "Tenant",
        "type": "query",
        "datasource": SOURCE,
        "includeAll": True,
        "multi": True,
        "query": "label_values(likewise_events_received_total, tenant)",
        "refresh": 2,
        "current": {"text": "All", "value": "$__all"},
    }
    return {
        "uid": "likewise",
        "title": "Likewise",
        "tags": ["likewise"],
        "schemaVersion": 41,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [tenant]},
        "panels": panels,
    }


def main() -> int:
    """Write the file, or with --check say whether it is as it should be."""
    text = json.dumps(page(), indent=1) + "\n"
    if "--check" in sys.argv[1:]:
        return int(PLACE.read_text(encoding="utf-8") != text)
    PLACE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
