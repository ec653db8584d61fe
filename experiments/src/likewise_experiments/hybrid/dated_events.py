"""Dated political events as RDF: lines of actor, action, target and date, as ICEWS publishes them.

Boschee, E. et al.: ICEWS Coded Event Data, Harvard Dataverse, 2015, whose column names are kept (source name, event
text, target name, countries, date). `Citizen (India)` is the name Citizen and the country India; a name that
stands as a country elsewhere in the file is its own country.
"""

from __future__ import annotations

import re
from typing import Final

from likewise.errors import FormatError

NAMESPACE: Final = "http://example.org/icews/"
_WITH_COUNTRY: Final = re.compile(r"(.+) \(([^()]+)\)")


def is_dated_events(name: str) -> bool:
    """Whether a file is of this kind, by its name without `.gz` or `.bz2`.

    >>> is_dated_events("icews_2014_valid.txt"), is_dated_events("events.nt")
    (True, False)
    """
    return name.endswith((".txt", ".tsv"))


def triples_of_dated_events(raw: bytes, name: str = "events") -> bytes:
    """The lines as N-Triples, one subject each.

    >>> print(triples_of_dated_events(b"Citizen (India)\\tThreaten\\tIndia\\t2014-06-20").decode().splitlines()[1])
    <http://example.org/icews/1> <http://example.org/icews/sourceCountry> "India"@en .
    """
    rows = []
    for number, line in enumerate(raw.decode("utf-8").splitlines(), 1):
        parts = line.split("\t")
        if len(parts) != 4:
            raise FormatError(f"{name}, line {number}: expected actor, action, target and date with tabs between them")
        rows.append(parts)
    named = [(_WITH_COUNTRY.fullmatch(source), _WITH_COUNTRY.fullmatch(target)) for source, _, target, _ in rows]
    countries = {hit[2] for pair in named for hit in pair if hit is not None}
    out = []
    for number, ((source, action, target, date), hits) in enumerate(zip(rows, named, strict=True), 1):
        said = [("sourceName", source), ("eventText", action), ("targetName", target), ("eventDate", date)]
        for side, at in (("source", 0), ("target", 2)):
            hit = hits[0 if side == "source" else 1]
            whole = source if at == 0 else target
            place = next(i for i, (name, _) in enumerate(said) if name == f"{side}Name")
            if hit is not None:
                said[place : place + 1] = [(f"{side}Name", hit[1]), (f"{side}Country", hit[2])]
            elif whole in countries:
                said.insert(place + 1, (f"{side}Country", whole))
        out += [f"<{NAMESPACE}{number}> <{NAMESPACE}{key}> {_literal(key, value)} ." for key, value in said]
    return ("\n".join(out) + "\n").encode()


def _literal(key: str, value: str) -> str:
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#date>' if key == "eventDate" else f'"{text}"@en'
