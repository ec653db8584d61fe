"""How far the lake has come with a tenant: written in the store before a batch runs, and after it counts.

A batch is planned first: its number, and up to where it goes. A crash after that repeats the same batch, and the lake
itself knows whether it counts already. The figures are positions of followers of the log, under names of their own.
"""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.broker.log.positions import put_positions, read_every_position
from likewise.broker.log.tables import StoreTables


class LakeOffsets(msgspec.Struct, frozen=True):
    """Up to where: deliveries by number, entries of the log where all events are kept, subscriptions told about."""

    deliveries: int = 0
    entries: int = 0
    told: int = 0


class LakeProgress(msgspec.Struct, frozen=True):
    """Of one tenant: the batches that count, what they reach, and the batch that is planned, if one is.

    `every_event_from` is the entry after which all events are kept; -1 if that was never so.
    """

    batches: int = 0
    done: LakeOffsets = LakeOffsets()
    planned: LakeOffsets | None = None
    every_event_from: int = -1


_DONE: Final = ("deliveries", "entries", "told")
_NAMES: Final = ("batches", *_DONE, *(f"planned {name}" for name in _DONE), "planned batches", "every event from")


def read_progress(tables: StoreTables, lake: str) -> dict[int, LakeProgress]:
    """How far a lake of this name has come, by tenant."""
    known = {f"lake {lake} {name}": name for name in _NAMES}
    found: dict[int, dict[str, int]] = {}
    for follower, tenant, position in read_every_position(tables):
        if (name := known.get(follower)) is not None:
            found.setdefault(tenant, {})[name] = position
    return {tenant: _progress(said) for tenant, said in found.items()}


def _progress(said: dict[str, int]) -> LakeProgress:
    done = LakeOffsets(*(said.get(name, 0) for name in _DONE))
    planned = None
    if said.get("planned batches", 0) > said.get("batches", 0):
        planned = LakeOffsets(*(said.get(f"planned {name}", 0) for name in _DONE))
    return LakeProgress(said.get("batches", 0), done, planned, said.get("every event from", 0) - 1)


def write_progress(tables: StoreTables, lake: str, tenant: int, progress: LakeProgress) -> None:
    """Keep how far a lake has come with a tenant; nothing of it ever goes back."""
    reach = progress.done if progress.planned is None else progress.planned
    said = {"batches": progress.batches, "planned batches": progress.batches + (progress.planned is not None)}
    said |= {name: getattr(progress.done, name) for name in _DONE}
    said |= {f"planned {name}": getattr(reach, name) for name in _DONE}
    said["every event from"] = progress.every_event_from + 1
    put_positions(tables, tenant, {f"lake {lake} {name}": value for name, value in said.items()})
