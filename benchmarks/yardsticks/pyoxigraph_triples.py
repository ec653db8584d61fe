"""The yardstick of an RDF database: triple patterns against a stream, with pyoxigraph, in both ways it allows.

`PatternStore` keeps the patterns as quads, with one term for every variable and the subscription's number as the
graph, and looks each triple up in seven ways. `TripleStore` keeps the triples and asks every pattern of all of
them at once, which a stream does not allow, but which is the faster way where all triples are there already.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph as ox

Parts = tuple[str, str, str]
ANY = ox.NamedNode("urn:any")


def node(term: str) -> ox.NamedNode:
    return ox.NamedNode(term[1:-1])


class PatternStore:
    def __init__(self) -> None:
        self.store = ox.Store()

    def quad(self, s: str, p: str, o: str, number: int) -> ox.Quad:
        parts = [node(x) if x else ANY for x in (s, p, o)]
        return ox.Quad(parts[0], parts[1], parts[2], ox.NamedNode(f"urn:{number}"))

    def extend(self, patterns: Sequence[Parts]) -> None:
        self.store.bulk_extend(self.quad(*pattern, number) for number, pattern in enumerate(patterns))

    def insert(self, s: str, p: str, o: str, number: int) -> None:
        self.store.add(self.quad(s, p, o, number))

    def remove(self, s: str, p: str, o: str, number: int) -> None:
        self.store.remove(self.quad(s, p, o, number))

    def match_all(self, triples: Sequence[Parts]) -> int:
        """How many patterns the triples meet, each with its number."""
        ask = self.store.quads_for_pattern
        total = 0
        for triple in triples:
            s, p, o = map(node, triple)
            found: list[int] = []
            for x, y, z in (
                (s, ANY, ANY),
                (ANY, p, ANY),
                (ANY, ANY, o),
                (s, p, ANY),
                (s, ANY, o),
                (ANY, p, o),
                (s, p, o),
            ):
                found += [int(quad.graph_name.value[4:]) for quad in ask(x, y, z)]  # type: ignore[union-attr]
            total += len(found)
        return total


class TripleStore:
    def __init__(self) -> None:
        self.store = ox.Store()

    def match_all(self, triples: Sequence[Parts], patterns: Sequence[Parts]) -> int:
        """Load the triples in bulk, then ask every pattern; how many triples meet them."""
        text = "".join([f"{s} {p} {o} .\n" for s, p, o in triples])
        self.store.bulk_load(text.encode(), format=ox.RdfFormat.N_TRIPLES)
        total = 0
        for s, p, o in patterns:
            parts = [node(x) if x else None for x in (s, p, o)]
            found = [quad for quad in self.store.quads_for_pattern(parts[0], parts[1], parts[2])]  # noqa: C416
            total += len(found)
        return total
