"""Progress of the lake with a tenant: stored before a batch is written, and after it is committed.

A batch is planned first: its number, and up to where it goes. A crash after that repeats the same batch, and the lake
itself knows whether it counts already. The figures are positions of followers of the log, under names of their own.
"""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.broker.log.positions import put_positions, read_every_position
from likewise.broker.log.tables import StoreTables


class LakeOffsets(msgspec.Struct, frozen=True):
    """Exclusive upper bounds: deliveries, entries of the log where all events are kept, and subscriptions."""

    deliveries: int = 0
    entries: int = 0
    told: int = 0


class LakeProgress(msgspec.Struct, frozen=True):
    """The committed batches of one tenant, what they reach, and the batch that is planned, if one is.

    `every_event_from` is the entry after which all events are kept; -1 if that was never so.
    """

    batches: int = 0
    done: LakeOffsets = LakeOffsets()
    planned: LakeOffsets | None = None
    every_event_from: int = -1


_DONE: Final = ("deliveries", "entries", "told")
_NAMES: Final = ("batches", *_DONE, *(f"planned {name}" for name in _DONE), "planned batches", "every event from")


def read_progress(tables: StoreTables, lake: str) -> dict[int, LakeProgress]:
    """Read how far the lake of a name has come, by tenant."""
    known = {f"lake {lake} {name}": name for name in _NAMES}
    positions: dict[int, dict[str, int]] = {}
    for follower, tenant, position in read_every_position(tables):
        if (name := known.get(follower)) is not None:
            positions.setdefault(tenant, {})[name] = position
    return {tenant: _progress(values) for tenant, values in positions.items()}


def _progress(values: dict[str, int]) -> LakeProgress:
    done = LakeOffsets(*(values.get(name, 0) for name in _DONE))
    planned = None
    if values.get("planned batches", 0) > values.get("batches", 0):
        planned = LakeOffsets(*(values.get(f"planned {name}", 0) for name in _DONE))
    return LakeProgress(values.get("batches", 0), done, planned, values.get("every event from", 0) - 1)


def write_progress(tables: StoreTables, lake: str, tenant: int, progress: LakeProgress) -> None:
    """Keep how far a lake has come with a tenant; nothing of it ever goes back."""
    reach = progress.done if progress.planned is None else progress.planned
    values = {"batches": progress.batches, "planned batches": progress.batches + (progress.planned is not None)}
    values |= {name: getattr(progress.done, name) for name in _DONE}
    values |= {f"planned {name}": getattr(reach, name) for name in _DONE}
    values["every event from"] = progress.every_event_from + 1
    put_positions(tables, tenant, {f"lake {lake} {name}": value for name, value in values.items()})
