"""The built index of the bitmap engine as arrays and questions, to be kept on disk and taken up again.

Blocks are kept as they are; the tail becomes one more block when it is taken up. Codes mean what the questions say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.matching.bitmap.block import Block, Rows
from likewise.matching.bitmap.code_book import Asked, CodeBook
from likewise.model.predicate import Predicate

if TYPE_CHECKING:
    from likewise.matching.bitmap.layout import BlockShape

TYPES: Final[dict[str, type]] = {"str": str, "bool": bool, "float": float}


class BuiltIndex(NamedTuple):
    """Built index of an engine: arrays by name, and the meaning of its codes as JSON."""

    arrays: dict[str, NDArray[Any]]
    questions: bytes


class SavedCode(msgspec.Struct, array_like=True):
    """One question as it is written."""

    code: int
    attribute: int
    asked: Asked
    key: Any
    uses: int


def write_book(book: CodeBook) -> bytes:
    """Return what the codes of a book stand for."""
    noted = []
    for code, (attribute, entry, key), uses in book.questions():
        match entry:
            case "attribute":
                key = attribute.name
            case "different":
                key = (key[0].__name__, key[1])
            case "unindexed":
                key = msgspec.json.encode(key).decode()
        noted.append(SavedCode(code, attribute.code, entry, key, uses))
    return msgspec.json.encode(noted)


def read_book(questions: bytes, book: CodeBook) -> None:
    """Let an empty book know what `write_book` wrote.

    >>> one, other = CodeBook(), CodeBook()
    >>> code = one.text(one.attribute("city"), "=", "Galway")
    >>> read_book(write_book(one), other)
    >>> other.text(other.attribute("city"), "=", "galway") == code
    True
    """
    noted = msgspec.json.decode(questions, type=list[SavedCode])
    book.restore(1 + max((each.code for each in noted), default=-1), _read(noted))


def _read(noted: list[SavedCode]) -> Iterator[tuple[int, int, Asked, Any, int]]:
    for each in noted:
        key = each.key
        match each.asked:
            case "axis" | "text":
                key = tuple(key)
            case "different":
                key = (TYPES[key[0]], key[1])
            case "unindexed":
                key = msgspec.json.decode(key, type=Predicate)
        yield each.code, each.attribute, each.asked, key, each.uses


def write_blocks(blocks: list[Block], tail: Rows) -> dict[str, NDArray[Any]]:
    """The arrays of blocks, and the rows of a tail."""
    arrays: dict[str, NDArray[Any]] = {f"tail.{name}": column for name, column in tail._asdict().items()}
    arrays["blocks"] = np.array([len(blocks)], np.int64)
    for number, block in enumerate(blocks):
        for name, array in block.to_arrays().items():
            arrays[f"{number}.{name}"] = array
    return arrays


def read_blocks(arrays: Mapping[str, NDArray[Any]], owner: NDArray[np.int32], shape: BlockShape) -> list[Block]:
    """The blocks of what `write_blocks` wrote, with the tail as the last of them."""
    parts: dict[str, dict[str, NDArray[Any]]] = {}
    for name, array in arrays.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = array
    blocks = [Block.from_arrays(parts[str(number)], shape) for number in range(int(arrays["blocks"][0]))]
    tail = Rows(**parts["tail"])
    if len(tail.ordinals):
        blocks.append(Block(tail, owner, shape))
    return blocks
