"""Where inventories are found: the one that ships, and the vocabularies a user has added to it."""

from __future__ import annotations

import hashlib
import lzma
import os
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from likewise.errors import ArtefactMissing
from likewise.semantics.concepts.inventory import Concept, Inventory
from likewise.semantics.concepts.name_agreement import VocabularyNames
from likewise.semantics.concepts.rows import read_rows

CORE: Final = "concepts-core.csv"
VOCABULARIES: Final = "concepts-vocabularies.csv.xz"
_NAMES: Final = "\nname,"  # begins the rows of names, which stand last: they are read when words are first compared


def concepts_folder() -> Path:
    """Where added vocabularies live: the folder in LIKEWISE_CONCEPTS, else the user's data folder."""
    chosen = os.environ.get("LIKEWISE_CONCEPTS")
    return Path(chosen) if chosen else platformdirs.user_data_path("likewise") / "concepts"


def added_vocabularies() -> list[Path]:
    """The files of the vocabularies that were added, in order of name."""
    return sorted(concepts_folder().glob("*.csv"))


@lru_cache(maxsize=1)
def shipped_concepts() -> tuple[Concept, ...]:
    """What ships: the hand-written core first, so that it wins, then what public vocabularies add."""
    return (*core_inventory().concepts, *read_rows(_vocabularies().partition(_NAMES)[0], "vocabularies"))


@lru_cache(maxsize=1)
def shipped_names() -> tuple[Concept, ...]:
    """The names of public vocabularies."""
    concepts, sign, names = _vocabularies().partition(_NAMES)
    return tuple(read_rows(concepts.partition("\n")[0] + sign + names, "vocabularies")) if sign else ()


def _vocabularies() -> str:
    return lzma.decompress(_data(VOCABULARIES)).decode()


@lru_cache(maxsize=1)
def core_inventory() -> Inventory:
    """The hand-written core alone: what vocabularies are built beside."""
    return Inventory(read_rows(_data(CORE).decode(), "core"))


def inventory_checksum() -> str:
    """The checksum of the inventory as it is now: the same where the same concepts are known.

    >>> len(inventory_checksum())
    32
    """
    said = msgspec.json.encode(load_inventory().concepts, order="deterministic")
    return hashlib.sha256(said).hexdigest()[:32]


def load_inventory() -> Inventory:
    """The inventory as it is now: what was added first, so that a user's word wins, then what ships.

    >>> "carbon dioxide" in load_inventory().kinds
    True
    """
    return _inventory(tuple((path, path.stat().st_mtime_ns) for path in added_vocabularies()))


@lru_cache(maxsize=4)
def vocabulary_names(inventory: Inventory) -> VocabularyNames:
    """The names in an inventory and those of public vocabularies, by their words.

    >>> vocabulary_names(load_inventory()).agreement("entering", "leaving") < -0.9
    True
    """
    return VocabularyNames((*(c for c in inventory.concepts if c.sort == "name"), *shipped_names()))


@lru_cache(maxsize=4)
def _inventory(added: tuple[tuple[Path, int], ...]) -> Inventory:
    mine = [c for path, _ in added for c in read_rows(path.read_text("utf-8"), path.stem)]
    return Inventory((*mine, *shipped_concepts()))


def _data(name: str) -> bytes:
    try:
        return (resources.files("likewise") / "data" / name).read_bytes()
    except FileNotFoundError:
        raise ArtefactMissing(f"the package lacks its data file {name}; install it again") from None
