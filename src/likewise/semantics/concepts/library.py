"""Inventories on disk: the shipped one and the vocabularies that the user added."""

from __future__ import annotations

import hashlib
import lzma
import os
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import ArtefactMissing
from likewise.semantics.concepts.encyclopaedia.entries import (
    DomainEntry,
    domain_files,
    inventory_concepts,
    is_domain,
    read_entries,
)
from likewise.semantics.concepts.encyclopaedia.lexicon import CustomaryRow, Lexicon, customary_rows
from likewise.semantics.concepts.inventory import Concept, Inventory
from likewise.semantics.concepts.name_agreement import VocabularyNames
from likewise.semantics.concepts.rows import read_rows

CORE: Final = "concepts-core.csv"
COMPILED: Final = "encyclopaedia.msgpack.xz"  # built by tools/compile_encyclopaedia.py
VOCABULARIES: Final = "concepts-vocabularies.csv.xz"
_NAMES: Final = "\nname,"  # begins the rows of names, which stand last: they are read when words are first compared


def concepts_folder() -> Path:
    """Return the folder of added vocabularies: LIKEWISE_CONCEPTS, else the user's data folder."""
    import platformdirs  # which a small profile does without

    chosen = os.environ.get("LIKEWISE_CONCEPTS")
    return Path(chosen) if chosen else platformdirs.user_data_path("likewise") / "concepts"


def added_vocabularies() -> list[Path]:
    """Return the files of the added vocabularies, sorted by name."""
    return sorted(concepts_folder().glob("*.csv"))


@lru_cache(maxsize=1)
def shipped_concepts() -> tuple[Concept, ...]:
    """What ships: the hand-written core first, so that it wins, then the encyclopaedia, then public vocabularies."""
    return (
        *core_inventory().concepts,
        *compiled_encyclopaedia().concepts,
        *read_rows(_vocabularies().partition(_NAMES)[0], "vocabularies"),
    )


@lru_cache(maxsize=1)
def shipped_entries() -> tuple[DomainEntry, ...]:
    """The entries of the encyclopaedia that ships, the general domain's first."""
    return tuple(entry for name, text in domain_files() for entry in read_entries(text, name))


class CompiledEncyclopaedia(msgspec.Struct, array_like=True):
    """What a start needs of the encyclopaedia: its concepts, the encoded lexicon, and the units of bare numbers."""

    concepts: tuple[Concept, ...]
    lexicon: bytes
    customary: tuple[CustomaryRow, ...]


def compile_encyclopaedia() -> bytes:
    """Return the domains that ship as the file that `COMPILED` names."""
    entries = shipped_entries()
    concepts = tuple(inventory_concepts(entries))
    compiled = CompiledEncyclopaedia(
        concepts, Lexicon(entries, core_inventory().means).encode(), tuple(customary_rows(entries))
    )
    return lzma.compress(msgspec.msgpack.encode(compiled))


@lru_cache(maxsize=1)
def compiled_encyclopaedia() -> CompiledEncyclopaedia:
    """Read the compiled encyclopaedia that ships."""
    return msgspec.msgpack.decode(lzma.decompress(_data(COMPILED)), type=CompiledEncyclopaedia)


@lru_cache(maxsize=1)
def shipped_names() -> tuple[Concept, ...]:
    """Return the names of public vocabularies."""
    concepts, sign, names = _vocabularies().partition(_NAMES)
    return tuple(read_rows(concepts.partition("\n")[0] + sign + names, "vocabularies")) if sign else ()


def _vocabularies() -> str:
    return lzma.decompress(_data(VOCABULARIES)).decode()


@lru_cache(maxsize=1)
def core_inventory() -> Inventory:
    """Return the inventory of the hand-written core alone, against which vocabularies are built."""
    return Inventory(read_rows(_data(CORE).decode(), "core"))


def inventory_checksum() -> str:
    """Return the checksum of the current inventory. Equal concepts have equal checksums.

    >>> len(inventory_checksum())
    32
    """
    encoded = msgspec.json.encode(load_inventory().concepts, order="deterministic")
    return hashlib.sha256(encoded).hexdigest()[:32]


def load_inventory() -> Inventory:
    """Return the current inventory: added vocabularies first, so that a user's label wins, then the shipped ones.

    >>> "carbon dioxide" in load_inventory().kinds
    True
    """
    return _inventory(tuple((path, path.stat().st_mtime_ns) for path in added_vocabularies()))


@lru_cache(maxsize=4)
def vocabulary_names(inventory: Inventory) -> VocabularyNames:
    """Return the index of the names in an inventory and in public vocabularies.

    >>> vocabulary_names(load_inventory()).agreement("entering", "leaving") < -0.9
    True
    """
    return VocabularyNames((*(c for c in inventory.concepts if c.sort == "name"), *shipped_names()))


@lru_cache(maxsize=4)
def _inventory(added: tuple[tuple[Path, int], ...]) -> Inventory:
    mine = [c for path, _ in added for c in added_concepts(path)]
    return Inventory((*mine, *shipped_concepts()))


def added_concepts(path: Path) -> list[Concept]:
    """The concepts of a file that a user has added: rows of an inventory, or a domain of the encyclopaedia."""
    text = path.read_text("utf-8")
    return inventory_concepts(read_entries(text, path.stem)) if is_domain(text) else read_rows(text, path.stem)


def load_lexicon() -> Lexicon:
    """What names are looked up by, now: a user's domains first, then the encyclopaedia that ships."""
    return _lexicon(tuple((path, path.stat().st_mtime_ns) for path in added_vocabularies()))


@lru_cache(maxsize=4)
def _lexicon(added: tuple[tuple[Path, int], ...]) -> Lexicon:
    mine = _added_entries(added)
    return (
        Lexicon((*mine, *shipped_entries()), core_inventory().means)
        if mine
        else Lexicon.decode(compiled_encyclopaedia().lexicon)
    )


def customary_table() -> dict[str, CustomaryRow]:
    """Return the units and ranges of bare numbers, by the words of names: a user's domains first."""
    return _customary(tuple((path, path.stat().st_mtime_ns) for path in added_vocabularies()))


@lru_cache(maxsize=4)
def _customary(added: tuple[tuple[Path, int], ...]) -> dict[str, CustomaryRow]:
    table = {row[0]: row for row in compiled_encyclopaedia().customary}
    return table | {row[0]: row for row in customary_rows(_added_entries(added))}


def _added_entries(added: tuple[tuple[Path, int], ...]) -> list[DomainEntry]:
    """Return the entries of the domains that a user has added."""
    texts = [(path, path.read_text("utf-8")) for path, _ in added]
    return [entry for path, text in texts if is_domain(text) for entry in read_entries(text, path.stem)]


def _data(name: str) -> bytes:
    try:
        return (resources.files("likewise") / "data" / name).read_bytes()
    except FileNotFoundError:
        raise ArtefactMissing(f"the package lacks its data file {name}; install it again") from None
