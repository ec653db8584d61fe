"""Figures from a page of metrics in Prometheus' text format."""

from __future__ import annotations

import re
from typing import Final

import msgspec

_LINE: Final = re.compile(r"^(\w+)(?:\{([^}]*)\})? (\S+)$")
_BOUND: Final = re.compile(r'le="([^"]+)"')


class Figures(msgspec.Struct, frozen=True):
    """The plain figures by name, and each histogram's cumulative counts by upper bound."""

    plain: dict[str, float]
    histograms: dict[str, list[tuple[float, float]]]

    def quantile(self, name: str, share: float, before: Figures | None = None) -> float | None:
        """The upper bound, in seconds, under which a share of the observations lies; those since `before`, if given.

        >>> page = 'x_bucket{le="0.1"} 9\\nx_bucket{le="1.0"} 10\\nx_bucket{le="+Inf"} 10\\n'
        >>> read_figures(page).quantile("x", 0.5), read_figures(page).quantile("x", 0.99)
        (0.1, 1.0)
        """
        counts = self.histograms.get(name, [])
        if before is not None and name in before.histograms:
            counts = [(b, n - m) for (b, n), (_, m) in zip(counts, before.histograms[name], strict=True)]
        if not counts or counts[-1][1] <= 0:
            return None
        wanted = share * counts[-1][1]
        return next(bound for bound, number in counts if number >= wanted)


def read_figures(page: str) -> Figures:
    """The figures of a page.

    >>> read_figures("# HELP a b\\na_total 3.0\\n").plain
    {'a_total': 3.0}
    """
    plain: dict[str, float] = {}
    histograms: dict[str, list[tuple[float, float]]] = {}
    for line in page.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        name, labels, number = found.groups()
        bound = _BOUND.search(labels or "")
        if bound is not None and name.endswith("_bucket"):
            histograms.setdefault(name.removesuffix("_bucket"), []).append((float(bound[1]), float(number)))
        elif not labels:
            plain[name] = float(number)
    return Figures(plain, histograms)
