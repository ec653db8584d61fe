"""Short names of sources for people: as many last levels as tell a source from all others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

_STEP: Final = re.compile(r"[/:]")
_WORD: Final = re.compile(r"[^\W\d_]")


class ShortNames:
    """The short names of some sources.

    >>> names = ShortNames(["zigbee2mqtt/kitchen/climate", "zigbee2mqtt/cellar/climate", "tasmota:pump", "evcc/site"])
    >>> [names.of(each) for each in ("zigbee2mqtt/kitchen/climate", "tasmota:pump", "evcc/site")]
    ['kitchen/climate', 'pump', 'site']
    """

    def __init__(self, sources: Iterable[str]) -> None:
        self._counts = Counter(end for source in sources for end in _ends(source))

    def of(self, source: str) -> str:
        """Return the shortest end of a source's name that no other has, and that holds a letter; else all of it."""
        for end in _ends(source):
            if self._counts[end] <= 1 and _WORD.search(end):
                return end
        return source


def _ends(source: str) -> list[str]:
    """Return the ends of a name that begin at a level, the shortest first; none of an address, such as a URN."""
    if "://" in source or source.startswith("urn:") or source.endswith(("/", ":")):
        return []
    return [source[step.end() :] for step in _STEP.finditer(source)][::-1]
