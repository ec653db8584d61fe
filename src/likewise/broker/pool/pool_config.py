"""Workers as the configuration says: how they are told, how many there are at first, and what bounds them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from likewise.broker.config import Config
from likewise.broker.pool.autoscaler import FlatStaff
from likewise.broker.pool.hierarchy import TreeStaff
from likewise.broker.pool.messages import Told
from likewise.broker.pool.pool import Crew
from likewise.broker.pool.scaling_policy import Elastic, Settings
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import InputError
from likewise.model.time import duration


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def settings_of(config: Config) -> Settings:
    """What decides how many workers there are.

    >>> from likewise.broker.config import Matching
    >>> settings_of(Config(matching=Matching(workers=3))).maximum
    3
    """
    matching, limits = config.matching, config.workers
    if matching.workers == "auto":
        most = limits.maximum if limits.maximum is not None else max(limits.minimum, cores() - 1, 1)
        return _settings(config, matching.policy, limits.minimum, most)
    if limits.maximum is not None and matching.workers > limits.maximum:
        raise InputError(f"[matching] workers is {matching.workers}, more than [workers] maximum, {limits.maximum}")
    return _settings(config, "none", matching.workers, matching.workers)


def _settings(config: Config, policy: str, minimum: int, maximum: int) -> Settings:
    said = config.workers
    return Settings(
        policy,  # type: ignore[arg-type]
        minimum,
        maximum,
        said.memory,
        said.split_us,
        said.merge_us,
        said.last,
        said.split_busy,
        said.merge_busy,
        said.span,
        said.pause,
    )


def begin(config: Config, tenants: Mapping[int, Tenant], data: Path | None = None) -> tuple[FlatStaff, Elastic]:
    """Start the first workers, and hand the tenants over to them; `data` is the broker's folder, if it has one."""
    matching, alerts = config.matching, config.alerts
    crew = Crew(
        Told(
            matching.space,
            matching.measure,
            matching.threshold,
            matching.profile,
            matching.types,
            matching.cache_bytes,
            duration(alerts.forget),
            duration(alerts.lateness),
            duration(alerts.stale),
        ),
        data,
    )
    settings = settings_of(config)
    try:
        tree = matching.architecture == "hierarchical"
        for _ in range(1 if tree else settings.minimum):
            crew.start()
        staff = TreeStaff(crew, tenants) if tree else FlatStaff(crew, tenants, matching.architecture)
        for tenant in tenants.values():
            staff.take(tenant)
    except BaseException:
        crew.close()
        raise
    return staff, Elastic(staff, settings)
