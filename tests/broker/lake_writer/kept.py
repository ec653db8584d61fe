"""What tests of the broker's lake share: a broker that keeps a lake, and what the lake holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from likewise.broker.broker import Broker
from likewise.broker.config import Config, LakeSettings, StoreSettings
from likewise.lake.maintenance import open_lake
from likewise.lake.parts import read_part
from likewise.lake.storage import storage_path


def config(folder: Path | str, **said: Any) -> Config:
    return Config(store=StoreSettings("forever"), lake=LakeSettings(str(folder), every="0.05 s", **said))


def opened(data: Path, folder: Path | str, **said: Any) -> Broker:
    return Broker(data, config(folder, **said))


def rows(folder: Path | str, table: str) -> list[dict[str, Any]]:
    """Every row of a table that counts, with its tenant and day."""
    place = storage_path(folder)
    found = []
    for part in open_lake(place).parts(table):
        for row in read_part(place, part).to_pylist():
            found.append(row | ({"tenant": part.tenant, "day": part.day} if part.day else {}))
    return found


def matches(folder: Path | str) -> Counter[tuple[str, int]]:
    """How often the lake says that an event met a subscription."""
    return Counter((row["event_id"], number) for row in rows(folder, "matches") for number in row["subscriptions"])


def event_ids(folder: Path | str) -> Counter[str]:
    return Counter(row["id"] for row in rows(folder, "events"))
