"""Status of the worker pool: shown to administrators, exported to Prometheus, changed at run time."""

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


def pool_status(topology: FlatTopology | None, elastic: Autoscaler | None) -> PoolStatus:
    """Return the status of all processes of a broker.

    >>> pool_status(None, None).processes[0].role
    'MessageReceiver, Coordinator, Matcher, DeliveryService'
    """
    broker_status = _shown_itself(ALONE if topology is None else SERVES)
    settings = ScalingSettings() if elastic is None else elastic.settings
    rules = msgspec.to_builtins(settings)
    if topology is None:
        return PoolStatus("none", **rules, processes=[broker_status])
    return PoolStatus(
        topology.architecture,
        **rules,
        processes=[broker_status, *_workers(topology)],
        splits=topology.splits,
        merges=topology.merges,
        deaths=topology.pool.failover.deaths,
        under_way=topology.under_way,
        ready=_ready(topology),
    )


def _shown_itself(role: str) -> WorkerStatus:
    usage = resource_usage()
    return WorkerStatus(
        0, role, os.getpid(), cpu_seconds=round(usage.cpu, 3), resident=usage.resident, shared=usage.shared
    )


def _ready(topology: FlatTopology) -> WorkerStatus | None:
    standby = topology.pool.standby.process
    if standby is None:
        return None
    return WorkerStatus(
        0,
        "Matcher, kept ready",
        standby.pid,
        alive=standby.alive,
        waiting=standby.waiting,
        cpu_seconds=round(standby.used.cpu, 3),
        resident=standby.used.resident,
        shared=standby.used.shared,
        host=standby.host,
    )


def _workers(topology: FlatTopology) -> Iterator[WorkerStatus]:
    tree = topology if isinstance(topology, TreeTopology) else None
    now = time.monotonic()
    for worker in list(topology.pool.workers.values()):
        shards = [share for share in list(topology.pool.shares.values()) if worker in share.hosts]
        leaf = tree is None or tree.is_leaf(worker.number)
        parent = 0 if tree is None else tree.parents.get(worker.number, 0)
        yield WorkerStatus(
            worker.number,
            "ChildMatcher" if parent else "RootMatcher" if tree is not None else "Matcher",
            worker.pid,
            parent,
            leaf,
            worker.alive,
            sum(len(share.subscriptions) for share in shards),
            sum(len(share.subscriptions) for share in shards if share.stateful),
            worker.matched,
            worker.waiting,
            round(worker.used.cpu, 3),
            round(worker.busy / max(1e-3, now - worker.started), 4),
            worker.used.resident,
            worker.used.shared,
            worker.host,
        )


def update_pool(elastic: Autoscaler | None, requested: PoolSettings) -> None:
    """Let other settings decide from now on."""
    if elastic is None:
        raise StateError("this broker matches in one process; start it with `[matching] workers` to divide it")
    changes = {name: value for name in requested.__struct_fields__ if (value := getattr(requested, name)) is not None}
    try:
        known = msgspec.to_builtins(elastic.settings) | changes
        elastic.settings = msgspec.convert(known, ScalingSettings)
    except msgspec.ValidationError as error:
        raise InputError(f"these settings cannot be used: {error}") from None


class WorkerMetrics(Collector):
    """Metrics of each worker, read when the page is."""

    def __init__(self, topology: FlatTopology) -> None:
        self._topology = topology

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield how many workers there are, and the load of each."""
        topology, workers = self._topology, list(_workers(self._topology))
        for name, text, value in (
            ("workers", "Processes that match for the broker", len(workers)),
            ("workers_ready", "Processes kept ready to take a worker's place", int(_ready(topology) is not None)),
            ("worker_splits", "Workers that split since the start", topology.splits),
            ("worker_merges", "Workers that merged since the start", topology.merges),
            ("worker_deaths", "Workers that died and were started again", topology.pool.failover.deaths),
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
            for each in workers:
                gauge.add_metric([f"{each.number}"], float(getattr(each, name)))
            yield gauge
