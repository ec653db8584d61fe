"""Workers as they are shown and changed: which process does what, and what decides how many there are."""

from __future__ import annotations

from math import isfinite

import msgspec

from likewise.errors import InputError


class WorkerStatus(msgspec.Struct, frozen=True):
    """A process of the broker: the one that serves, or a worker that matches for it.

    `role` is what the source calls it; `parent` is the worker above it in a tree, 0 for the coordinator. `busy` is the
    share of the processor that matching took of it since its start, `resident` and `shared` are bytes of its memory.
    """

    number: int
    role: str
    pid: int
    parent: int = 0
    leaf: bool = True
    alive: bool = True
    subscriptions: int = 0
    remembering: int = 0  # of those, the ones with state
    stretches: int = 0
    waiting: int = 0
    cpu_seconds: float = 0.0
    busy: float = 0.0
    resident: int = 0
    shared: int = 0
    host: str = ""  # the machine, if it is another one


class PoolStatus(msgspec.Struct, frozen=True):
    """All processes of a broker, and what decides how many there are; one alone where nothing is divided.

    `ready` holds nothing yet, and takes the place of a worker that dies, or is the next one that is wanted.
    """

    architecture: str
    policy: str
    minimum: int
    maximum: int
    memory: int
    split_us: float
    merge_us: float
    last: int
    split_busy: float
    merge_busy: float
    span: float
    pause: float
    processes: list[WorkerStatus]
    splits: int = 0
    merges: int = 0
    deaths: int = 0
    under_way: bool = False
    ready: WorkerStatus | None = None


class PoolSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """New settings of the worker pool; a missing field stays as it is."""

    policy: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    memory: int | None = None
    split_us: float | None = None
    merge_us: float | None = None
    last: int | None = None
    split_busy: float | None = None
    merge_busy: float | None = None
    span: float | None = None
    pause: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, float) and not isfinite(value):  # which JSON would say as nothing
                raise InputError(f"`{name}` is a number; found {value}")
