"""The process `likewise worker`: it serves shards, one request after the other.

It has one thread. It reads a request, answers it, and reads the next: the coordinator has a thread that takes its
answers whatever else it does, so neither waits for the other for ever. Without the coordinator it ends.
"""

from __future__ import annotations

import resource
import socket
import time
from pathlib import Path
from typing import Literal, cast

from likewise.broker.pool.protocol import (
    REQUESTS,
    Completed,
    DropShard,
    InterpretationSettings,
    Operation,
    OperationFailed,
    Reply,
    ResourceUsage,
    Usage,
    WorkerResponse,
    frame,
    receive,
)
from likewise.broker.pool.shard_server import ReceivedAnnotations, ShardServer
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.matching.coercion import as_types
from likewise.matching.matcher import Matcher, system_clock
from likewise.semantics.interpretation import Interpretation


class WorkerShards:
    """The shards of one process, by tenant and number."""

    def __init__(self) -> None:
        self._settings: InterpretationSettings | None = None
        self._servers: dict[tuple[int, int], ShardServer] = {}

    def perform(self, tenant: int, share: int, operation: Operation) -> Reply:
        """Do what is wanted of a share."""
        if isinstance(operation, InterpretationSettings):
            self._settings = operation
            return Completed()
        if isinstance(operation, Usage):
            return resource_usage()
        if isinstance(operation, DropShard):
            self._servers.pop((tenant, share), None)
            return Completed()
        try:
            server = self._servers.get((tenant, share))
            if server is None:
                server = self._servers[tenant, share] = self._make()
        except Exception as error:
            return OperationFailed(str(error), type(error).__name__)
        return server.perform(operation)

    def drain(self) -> None:
        """Do a little of what shares put off."""
        for portion in self._servers.values():
            portion.drain()

    def _make(self) -> ShardServer:
        """Make an empty shard."""
        assert self._settings is not None, "a worker is told first how to take words"
        settings, annotations = self._settings, ReceivedAnnotations()
        profile = cast("Literal['full', 'small']", settings.profile)

        def interpretation() -> Interpretation:
            return Interpretation(
                space=settings.space,
                measure=settings.measure,
                threshold=settings.threshold,
                cache_bytes=settings.cache_bytes,
                types=as_types(settings.types),
                annotations=annotations,
                forget=settings.forget,
                alert_lateness=settings.lateness,
                stale=settings.stale,
            )

        engines = settings.engines

        def load(folder: Path) -> NumberedMatcher:
            return NumberedMatcher(
                Matcher.load(
                    folder, clock=system_clock, interpretation=interpretation(), profile=profile, engines=engines
                )
            )

        made = Matcher(interpretation=interpretation(), clock=system_clock, profile=profile, engines=engines)
        return ShardServer(NumberedMatcher(made), load, annotations)


def resource_usage() -> ResourceUsage:
    """Return the resource usage of this process."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    pages = Path("/proc/self/statm")
    resident = shared = spent.ru_maxrss * 1024
    if pages.exists():
        size = resource.getpagesize()
        fields = pages.read_text().split()
        resident, shared = int(fields[1]) * size, int(fields[2]) * size
    return ResourceUsage(spent.ru_utime + spent.ru_stime, resident, shared)


def serve(path: Path) -> None:
    """Connect to the coordinator, and answer what it asks until it is gone."""
    holdings = WorkerShards()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
        try:
            stream.connect(str(path))
        except OSError:  # the coordinator is gone already
            return
        while (raw := receive(stream)) is not None:
            request = REQUESTS.decode(raw)
            begun = time.process_time()
            reply = holdings.perform(request.tenant, request.share, request.wanted)
            try:
                stream.sendall(frame(WorkerResponse(request.id, reply, time.process_time() - begun)))
            except (BrokenPipeError, ConnectionError):
                return
            holdings.drain()
