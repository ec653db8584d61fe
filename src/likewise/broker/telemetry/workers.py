"""Which process does what: shown to administrators, counted for Prometheus, and changed while it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Final

import msgspec
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

from likewise.api.workers import PoolSettings, PoolStatus, WorkerStatus
from likewise.broker.pool.autoscaling import Autoscaler, ScalingSettings
from likewise.broker.pool.topology import FlatTopology, TreeTopology
from likewise.broker.pool.worker import resource_usage
from likewise.errors import InputError, StateError

SERVES: Final = "MessageReceiver, Coordinator, DeliveryService"
ALONE: Final = "MessageReceiver, Coordinator, Matcher, DeliveryService"


def pool_status(staff: FlatTopology | None, elastic: Autoscaler | None) -> PoolStatus:
    """All processes of a broker.

    >>> pool_status(None, None).processes[0].role
    'MessageReceiver, Coordinator, Matcher, DeliveryService'
    """
    own = _shown_itself(ALONE if staff is None else SERVES)
    said = ScalingSettings() if elastic is None else elastic.settings
    rules = msgspec.to_builtins(said)
    if staff is None:
        return PoolStatus("none", **rules, processes=[own])
    return PoolStatus(
        staff.architecture,
        **rules,
        processes=[own, *_workers(staff)],
        splits=staff.splits,
        merges=staff.merges,
        deaths=staff.pool.failover.deaths,
        under_way=staff.under_way,
        ready=_ready(staff),
    )


def _shown_itself(role: str) -> WorkerStatus:
    own = resource_usage()
    return WorkerStatus(0, role, os.getpid(), cpu_seconds=round(own.cpu, 3), resident=own.resident, shared=own.shared)


def _ready(staff: FlatTopology) -> WorkerStatus | None:
    spare = staff.pool.standby.process
    if spare is None:
        return None
    return WorkerStatus(
        0,
        "Matcher, kept ready",
        spare.process.pid,
        alive=spare.alive,
        waiting=spare.waiting,
        cpu_seconds=round(spare.used.cpu, 3),
        resident=spare.used.resident,
        shared=spare.used.shared,
    )


def _workers(staff: FlatTopology) -> Iterator[WorkerStatus]:
    tree = staff if isinstance(staff, TreeTopology) else None
    now = time.monotonic()
    for worker in list(staff.pool.workers.values()):
        held = [share for share in list(staff.pool.shares.values()) if worker in share.hosts]
        leaf = tree is None or tree.is_leaf(worker.number)
        parent = 0 if tree is None else tree.parents.get(worker.number, 0)
        yield WorkerStatus(
            worker.number,
            "ChildMatcher" if parent else "RootMatcher" if tree is not None else "Matcher",
            worker.process.pid,
            parent,
            leaf,
            worker.alive,
            sum(len(share.subscriptions) for share in held),
            sum(len(share.subscriptions) for share in held if share.stateful),
            worker.matched,
            worker.waiting,
            round(worker.used.cpu, 3),
            round(worker.busy / max(1e-3, now - worker.started), 4),
            worker.used.resident,
            worker.used.shared,
        )


def update_pool(elastic: Autoscaler | None, wanted: PoolSettings) -> None:
    """Let other settings decide from now on."""
    if elastic is None:
        raise StateError("this broker matches in one process; start it with `[matching] workers` to divide it")
    said = {name: value for name in wanted.__struct_fields__ if (value := getattr(wanted, name)) is not None}
    try:
        known = msgspec.to_builtins(elastic.settings) | said
        elastic.settings = msgspec.convert(known, ScalingSettings)
    except msgspec.ValidationError as error:
        raise InputError(f"these settings cannot be used: {error}") from None


class WorkerMetrics(Collector):
    """Figures of each worker, read when the page is."""

    def __init__(self, staff: FlatTopology) -> None:
        self._topology = staff

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """How many there are, and what each holds and uses."""
        staff, found = self._topology, list(_workers(self._topology))
        for name, text, value in (
            ("workers", "Processes that match for the broker", len(found)),
            ("workers_ready", "Processes kept ready to take a worker's place", int(_ready(staff) is not None)),
            ("worker_splits", "Workers that split since the start", staff.splits),
            ("worker_merges", "Workers that merged since the start", staff.merges),
            ("worker_deaths", "Workers that died and were started again", staff.pool.failover.deaths),
        ):
            yield GaugeMetricFamily(f"likewise_{name}", text, value)
        for name, text in (
            ("subscriptions", "Subscriptions a worker holds"),
            ("waiting", "Requests a worker has not answered"),
            ("stretches", "Stretches of events a worker has matched"),
            ("busy", "Share of the processor that matching took of a worker since its start"),
            ("resident", "Bytes of memory of a worker"),
            ("shared", "Bytes of memory a worker shares with others"),
        ):
            gauge = GaugeMetricFamily(f"likewise_worker_{name}", text, labels=["worker"])
            for each in found:
                gauge.add_metric([f"{each.number}"], float(getattr(each, name)))
            yield gauge
