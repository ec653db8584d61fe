"""The picture of an explanation: tuples against predicates as a heat map, and the chosen mapping as links.

Both are plain HTML and SVG with text in them, so that they scale, print and can be read aloud.
"""

from __future__ import annotations

from html import escape
from typing import Final

from likewise.dashboard.answers import Grid

MOST_TUPLES: Final = 30  # rows drawn; the best ones are kept
_ROW, _LEFT, _RIGHT, _GAP = 34, 250, 250, 120


def _order(grid: Grid) -> list[int]:
    """The tuples drawn, in their order; of many, those that come nearest to some predicate."""
    best = [
        max((grid.attribute[p][t] for p in range(len(grid.predicates))), default=0) for t in range(len(grid.tuples))
    ]
    chosen = set(grid.chosen)
    kept = sorted(range(len(best)), key=lambda t: (t not in chosen, -best[t]))[:MOST_TUPLES]
    return sorted(kept)


def heat_map(grid: Grid) -> str:
    """An HTML table: one row a tuple, one column a predicate, each cell as dark as the two are similar.

    >>> '0.50' in heat_map(Grid(("t > 1",), ("t: 3",), ((0.5,),), ((1.0,),), (0,), 0.5))
    True
    """
    heads = "".join(f'<th scope="col"><code>{escape(text)}</code></th>' for text in grid.predicates)
    rows = []
    for item in _order(grid):
        cells = "".join(_cell(grid, predicate, item) for predicate in range(len(grid.predicates)))
        rows.append(f'<tr><th scope="row">{escape(grid.tuples[item])}</th>{cells}</tr>')
    left_out = len(grid.tuples) - len(rows)
    note = f"<caption>{left_out} further tuples come less near.</caption>" if left_out else ""
    return (
        f'<div class="lw-scroll"><table class="lw-heat">{note}<thead><tr><td></td>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(grid: Grid, predicate: int, item: int) -> str:
    attribute, value = grid.attribute[predicate][item], grid.value[predicate][item]
    both = grid.similarity(predicate, item)
    chosen = grid.chosen[predicate] == item
    why = f"attribute {attribute:.2f} × value {value:.2f}" + (" (chosen)" if chosen else "")
    mark = '<span class="lw-mark" aria-label="chosen">✓</span>' if chosen else ""
    # A related attribute whose value does not hold is shown hatched: it came near.
    near = " lw-near" if both == 0 and attribute >= 0.05 else ""
    shown = attribute if near else both
    return (
        f'<td class="lw-cell{" lw-chosen" if chosen else ""}{near}" style="--v:{shown:.3f}" title="{escape(why)}">'
        f"{f'({attribute:.2f})' if near else f'{both:.2f}' if both >= 0.005 else '·'}{mark}</td>"
    )


def mapping_picture(grid: Grid) -> str:
    """An SVG: predicates on the left, tuples on the right, a link for each pair as thick as it is similar.

    >>> mapping_picture(Grid(("t > 1",), ("t: 3",), ((0.5,),), ((1.0,),), (0,), 0.5)).count("<path")
    1
    """
    shown = [t for t in _order(grid) if any(grid.attribute[p][t] > 0.05 for p in range(len(grid.predicates)))][:14]
    rows = max(len(grid.predicates), len(shown), 1)
    height, width = rows * _ROW + 12, _LEFT + _GAP + _RIGHT
    left = [_middle(i, len(grid.predicates), rows) for i in range(len(grid.predicates))]
    right = [_middle(i, len(shown), rows) for i in range(len(shown))]
    drawn = []
    for predicate, y in enumerate(left):
        for place, item in enumerate(shown):
            both, chosen = grid.similarity(predicate, item), grid.chosen[predicate] == item
            if both > 0.05 or chosen:
                drawn.append(_link(y, right[place], both, chosen))
    drawn += [_box(0, y, _LEFT, text, "lw-asked") for y, text in zip(left, grid.predicates, strict=True)]
    drawn += [_box(_LEFT + _GAP, y, _RIGHT, grid.tuples[t], "lw-seen") for y, t in zip(right, shown, strict=True)]
    return (
        f'<svg class="lw-map" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(_told(grid))}">'
        f"{''.join(drawn)}</svg>"
    )


def _told(grid: Grid) -> str:
    pairs = [
        f"{grid.predicates[p]} is answered by {grid.tuples[t]}" for p, t in enumerate(grid.chosen) if t is not None
    ]
    return "; ".join(pairs) or "no mapping was found"


def _middle(index: int, count: int, rows: int) -> float:
    return 6 + (rows - count) * _ROW / 2 + index * _ROW + _ROW / 2


def _link(y: float, z: float, both: float, chosen: bool) -> str:
    a, b = _LEFT, _LEFT + _GAP
    bend = _GAP / 2
    return (
        f'<path class="lw-link{" lw-chosen" if chosen else ""}" d="M{a} {y} C{a + bend} {y} {b - bend} {z} {b} {z}" '
        f'stroke-width="{1 + 6 * both:.1f}"><title>{both:.2f}</title></path>'
    )


def _box(x: float, y: float, width: float, text: str, kind: str) -> str:
    short = text if len(text) <= 34 else text[:33] + "…"
    return (
        f'<g class="{kind}"><rect x="{x}" y="{y - 13}" width="{width}" height="26" rx="6"/>'
        f'<text x="{x + 9}" y="{y + 4}">{escape(short)}<title>{escape(text)}</title></text></g>'
    )
