"""The subscriptions of a saved matcher, each read from its line when it is first looked at."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from likewise.errors import ArtefactDamaged
from likewise.model import Subscription

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SubscriptionLine(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """One line of `subscriptions.jsonl`."""

    ordinal: int
    subscription: Subscription
    ends: int | None = None


class StoredLines:
    """The lines of a file, which never changes, by where each begins; `starts` has the end of the last, too."""

    def __init__(self, path: Path, starts: NDArray[np.int64]) -> None:
        self._path = path
        self._starts = starts
        self._read: dict[int, Subscription] = {}
        self._bytes: Any = b""
        if path.stat().st_size:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def subscription(self, line: int) -> Subscription:
        """The subscription of a line; the same one each time."""
        cached = self._read.get(line)
        if cached is None:
            raw = self._bytes[int(self._starts[line]) : int(self._starts[line + 1])]
            try:
                cached = msgspec.json.decode(raw, type=SubscriptionLine).subscription
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ArtefactDamaged(f"{self._path}, line {line + 1}: {error}; restore a copy") from None
            self._read[line] = cached
        return cached


class StoredSubscriptions(MutableMapping[int, Subscription]):
    """Subscriptions by ordinal, as a dict of them, in the order of addition."""

    __slots__ = ("_held", "_lines")

    def __init__(self, lines: StoredLines, places: dict[int, int]) -> None:
        """`places` has the line of each ordinal."""
        self._lines = lines
        self._held: dict[int, int | Subscription] = dict(places)

    def __getitem__(self, ordinal: int) -> Subscription:
        entry = self._held[ordinal]
        if type(entry) is int:
            entry = self._held[ordinal] = self._lines.subscription(entry)
        return entry  # type: ignore[return-value]

    def __setitem__(self, ordinal: int, subscription: Subscription) -> None:
        self._held[ordinal] = subscription

    def __delitem__(self, ordinal: int) -> None:
        del self._held[ordinal]

    def __iter__(self) -> Iterator[int]:
        return iter(self._held)

    def __contains__(self, ordinal: object) -> bool:
        return ordinal in self._held

    def __len__(self) -> int:
        return len(self._held)
