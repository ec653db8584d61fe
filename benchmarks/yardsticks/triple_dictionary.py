"""The yardstick of a Python programmer: a dictionary for each of the seven kinds of triple patterns."""

from __future__ import annotations

from collections.abc import Sequence

Parts = tuple[str, str, str]


class TripleDictionary:
    """Seven dictionaries, by the constants a pattern has; a triple looks into all of them."""

    def __init__(self) -> None:
        self.s: dict[str, list[int]] = {}
        self.p: dict[str, list[int]] = {}
        self.o: dict[str, list[int]] = {}
        self.sp: dict[tuple[str, str], list[int]] = {}
        self.so: dict[tuple[str, str], list[int]] = {}
        self.po: dict[tuple[str, str], list[int]] = {}
        self.spo: dict[Parts, list[int]] = {}

    def place(self, s: str, p: str, o: str) -> tuple[dict, object]:  # type: ignore[type-arg]
        """The dictionary and the key of a pattern; '' is a variable."""
        match bool(s), bool(p), bool(o):
            case True, False, False:
                return self.s, s
            case False, True, False:
                return self.p, p
            case False, False, True:
                return self.o, o
            case True, True, False:
                return self.sp, (s, p)
            case True, False, True:
                return self.so, (s, o)
            case False, True, True:
                return self.po, (p, o)
            case _:
                return self.spo, (s, p, o)

    def insert(self, s: str, p: str, o: str, number: int) -> None:
        held, key = self.place(s, p, o)
        held.setdefault(key, []).append(number)

    def remove(self, s: str, p: str, o: str, number: int) -> None:
        held, key = self.place(s, p, o)
        held[key].remove(number)
        if not held[key]:
            del held[key]

    def match_all(self, triples: Sequence[Parts]) -> int:
        """How many patterns the triples meet, each triple's list made; everything bound to local names first."""
        by_s, by_p, by_o = self.s.get, self.p.get, self.o.get
        by_sp, by_so, by_po, by_spo = self.sp.get, self.so.get, self.po.get, self.spo.get
        total = 0
        for triple in triples:
            s, p, o = triple
            found: list[int] = []
            if (hit := by_s(s)) is not None:
                found += hit
            if (hit := by_p(p)) is not None:
                found += hit
            if (hit := by_o(o)) is not None:
                found += hit
            if (hit := by_sp((s, p))) is not None:
                found += hit
            if (hit := by_so((s, o))) is not None:
                found += hit
            if (hit := by_po((p, o))) is not None:
                found += hit
            if (hit := by_spo(triple)) is not None:
                found += hit
            total += len(found)
        return total
