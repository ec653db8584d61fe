"""Splitter of identifiers into words: `TempC_SHT`, `air_temp_f`, `batteryLevel`, `co2Level`.

Cuts stand between letters and anything else, before a capital that follows a small letter, before the
last capital of a run that a small letter follows (`RHAverage`), and between a longer word and digits
(`temp1`). One or two letters and the digits after them stay together, because that is how formulas and
sizes are written (`co2`, `pm10`, `o3`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from likewise.defaults import NAME_CACHE_ENTRIES

CHEMICAL_SYMBOLS: Final = 2  # letters that keep the digits after them: co2, pm10
SHORTEST_PIECE: Final = 3  # of a word written without any sign of where its words meet
LONGEST_SEGMENTED: Final = 40  # longer runs are no joined words; keeps the search short


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def split_identifier(text: str) -> tuple[str, ...]:
    """Split an identifier or a phrase into its words, in order, as written.

    >>> split_identifier("TempC_SHT"), split_identifier("wind_avg_km_h"), split_identifier("batteryLevel")
    (('Temp', 'C', 'SHT'), ('wind', 'avg', 'km', 'h'), ('battery', 'Level'))
    >>> split_identifier("RHAverage2"), split_identifier("CO2Level")
    (('RH', 'Average', '2'), ('CO2', 'Level'))
    >>> split_identifier("pm2.5"), split_identifier("room 112")
    (('pm2', '5'), ('room', '112'))
    """
    out: list[str] = []
    word = ""
    for at, character in enumerate(text):
        if not character.isalnum():
            word = _close(word, out)
            continue
        before = text[at - 1] if at else ""
        after = text[at + 1] if at + 1 < len(text) else ""
        if word and _cut(word, before, character, after):
            word = _close(word, out)
        word += character
    _close(word, out)
    return tuple(out)


def _close(word: str, out: list[str]) -> str:
    if word:
        out.append(word)
    return ""


def _cut(word: str, before: str, character: str, after: str) -> bool:
    """Return whether a new word begins at a character that follows `before` inside `word`."""
    if character.isdigit() != before.isdigit():
        return before.isdigit() or len(word) > CHEMICAL_SYMBOLS
    if character.isupper():
        return before.islower() or (before.isupper() and after.islower())
    return False


def segment_word(word: str, cost: Callable[[str], float | None]) -> tuple[str, ...]:
    """Split a word without boundaries (`airtemp`) into known pieces at the lowest total cost; () if impossible.

    `cost` is None for an unknown piece. Pieces have at least three letters.

    >>> known = {"air": 3.0, "temp": 4.0, "airt": 9.0, "emp": 9.0}
    >>> segment_word("airtemp", known.get), segment_word("qqqqqq", known.get)
    (('air', 'temp'), ())
    """
    n = len(word)
    if not 2 * SHORTEST_PIECE <= n <= LONGEST_SEGMENTED:
        return ()
    best: list[tuple[float, tuple[str, ...]] | None] = [None] * (n + 1)
    best[0] = (0.0, ())
    for end in range(SHORTEST_PIECE, n + 1):
        for start in range(end - SHORTEST_PIECE + 1):
            reached = best[start]
            if reached is None:
                continue
            price = cost(word[start:end])
            if price is not None:
                total = reached[0] + price
                current = best[end]
                if current is None or total < current[0]:
                    best[end] = (total, (*reached[1], word[start:end]))
    cheapest = best[n]
    return cheapest[1] if cheapest is not None else ()
