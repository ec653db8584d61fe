"""The picture of an explanation: tuples against predicates as a heat map, and the chosen mapping as links.

Both are plain HTML and SVG with text in them, so that they scale, print and can be read aloud.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from likewise.api.queries import Grid

MOST_TUPLES: Final = 30  # rows drawn; the best ones are kept
DEEP: Final = 0.8  # from this similarity on, a cell is so strongly coloured that its text changes colour
LONGEST: Final = 34  # characters shown in a box of the mapping
_ROW, _GAP = 34, 80
_LETTER, _MARGIN = 7.2, 20  # the width of a letter, and what a box has beside its text


def _order(grid: Grid) -> list[int]:
    """Return the indices of the tuples to draw, in their order; of many, those nearest to some predicate."""
    best = [
        max((grid.attribute[p][t] for p in range(len(grid.predicates))), default=0) for t in range(len(grid.tuples))
    ]
    chosen = set(grid.chosen)
    shown = sorted(range(len(best)), key=lambda t: (t not in chosen, -best[t]))[:MOST_TUPLES]
    return sorted(shown)


def heat_map(grid: Grid) -> str:
    """Return an HTML table: a row a tuple, a column a predicate, each cell as blue as the two are similar.

    >>> '0.50' in heat_map(Grid(("t > 1",), ("t: 3",), ((0.5,),), ((1.0,),), (0,), 0.5))
    True
    """
    heads = "".join(f'<th scope="col"><code>{escape(text)}</code></th>' for text in grid.predicates)
    rows = []
    for item in _order(grid):
        cells = "".join(_cell(grid, predicate, item) for predicate in range(len(grid.predicates)))
        rows.append(f'<tr><th scope="row">{escape(grid.tuples[item])}</th>{cells}</tr>')
    drawn = "".join(rows).replace('tabindex="-1"', 'tabindex="0"', 1)  # where the tab key comes in
    left_out = len(grid.tuples) - len(rows)
    note = f"<caption>{left_out} further readings come less near.</caption>" if left_out else ""
    return (
        f'<div class="lw-scroll"><table class="lw-heat">{note}<thead><tr><td></td>{heads}</tr></thead>'
        f"<tbody>{drawn}</tbody></table></div>"
    )


def _cell(grid: Grid, predicate: int, item: int) -> str:
    chosen = grid.chosen[predicate] == item
    attribute, both = grid.attribute[predicate][item], grid.similarity(predicate, item)
    mark = '<span class="lw-mark" aria-hidden="true">✓</span>' if chosen else ""
    # A related attribute whose value does not hold is shown hatched: it came near.
    near = " lw-near" if both == 0 and attribute >= 0.05 else ""
    shown = attribute if near else both
    deep = " lw-deep" if not near and shown >= DEEP else ""
    label = escape(cell_text(grid, predicate, item))
    return (
        f'<td class="lw-cell{" lw-chosen" if chosen else ""}{near}{deep}" style="--v:{shown:.3f}">'
        f'<button type="button" data-cell="{predicate},{item}" tabindex="-1" title="{label}" aria-label="{label}">'
        f"{f'({attribute:.2f})' if near else f'{both:.2f}' if both >= 0.005 else '·'}{mark}</button></td>"
    )


def cell_text(grid: Grid, predicate: int, item: int) -> str:
    """Describe a cell in words.

    >>> cell_text(Grid(("t > 1",), ("t: 3",), ((0.5,),), ((1.0,),), (0,), 0.5), 0, 0)
    't > 1 against t: 3: name 0.50 × value 1.00 (taken)'
    """
    attribute, value = grid.attribute[predicate][item], grid.value[predicate][item]
    chosen = " (taken)" if grid.chosen[predicate] == item else ""
    what = f"{grid.predicates[predicate]} against {grid.tuples[item]}"
    return f"{what}: name {attribute:.2f} × value {value:.2f}{chosen}"


# One stop of the tab key for the whole map; arrows, Home and End move within, as in any grid.
MOVE_BY_ARROWS: Final = """(e) => {
  const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[e.key];
  const cell = e.target.closest('[data-cell]');
  if (!cell || !(step || e.key === 'Home' || e.key === 'End')) return;
  e.preventDefault();
  const all = [...cell.closest('tbody').rows].map(row => [...row.querySelectorAll('[data-cell]')]);
  let row = all.findIndex(cells => cells.includes(cell)), column = all[row].indexOf(cell);
  if (step) { row += step[0]; column += step[1]; }
  else { row = e.key === 'Home' ? 0 : all.length - 1; }
  const next = all[row] && all[row][column];
  if (!next) return;
  cell.tabIndex = -1; next.tabIndex = 0; next.focus();
}"""
CHOOSE: Final = "(e) => { const cell = e.target.closest('[data-cell]'); if (cell) emit(cell.dataset.cell); }"


def mapping_picture(grid: Grid) -> str:
    """Return an SVG: predicates left, tuples right, and a link for each pair, as thick as it is similar.

    >>> mapping_picture(Grid(("t > 1",), ("t: 3",), ((0.5,),), ((1.0,),), (0,), 0.5)).count("<path")
    1
    """
    shown = [t for t in _order(grid) if any(grid.attribute[p][t] > 0.05 for p in range(len(grid.predicates)))][:14]
    rows = max(len(grid.predicates), len(shown), 1)
    predicate_width, tuple_width = _width(grid.predicates), _width([grid.tuples[t] for t in shown])
    height, width = rows * _ROW + 12, predicate_width + _GAP + tuple_width
    left = [_middle(i, len(grid.predicates), rows) for i in range(len(grid.predicates))]
    right = [_middle(i, len(shown), rows) for i in range(len(shown))]
    drawn = []
    for predicate, y in enumerate(left):
        for place, item in enumerate(shown):
            both, chosen = grid.similarity(predicate, item), grid.chosen[predicate] == item
            if both > 0.05 or chosen:
                drawn.append(_link(predicate_width, y, right[place], both, chosen))
    drawn += [_box(0, y, predicate_width, text, "lw-asked") for y, text in zip(left, grid.predicates, strict=True)]
    drawn += [
        _box(predicate_width + _GAP, y, tuple_width, grid.tuples[t], "lw-seen")
        for y, t in zip(right, shown, strict=True)
    ]
    return (
        f'<svg class="lw-map" width="{width}" viewBox="-1 0 {width + 2} {height}" role="img" '
        f'aria-label="{escape(_mapping_label(grid))}">'
        f"{''.join(drawn)}</svg>"
    )


def _mapping_label(grid: Grid) -> str:
    pairs = [
        f"{grid.predicates[p]} is answered by {grid.tuples[t]}" for p, t in enumerate(grid.chosen) if t is not None
    ]
    return "; ".join(pairs) or "no mapping was found"


def _middle(index: int, count: int, rows: int) -> float:
    return 6 + (rows - count) * _ROW / 2 + index * _ROW + _ROW / 2


def _width(texts: Sequence[str]) -> int:
    """Return the width of boxes that contain some texts."""
    return _MARGIN + round(_LETTER * min(LONGEST, max(map(len, texts), default=0)))


def _link(a: float, y: float, z: float, both: float, chosen: bool) -> str:
    b = a + _GAP
    bend = _GAP / 2
    return (
        f'<path class="lw-link{" lw-chosen" if chosen else ""}" d="M{a} {y} C{a + bend} {y} {b - bend} {z} {b} {z}" '
        f'stroke-width="{1 + 6 * both:.1f}"><title>{both:.2f}</title></path>'
    )


def _box(x: float, y: float, width: float, text: str, kind: str) -> str:
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return (
        f'<g class="{kind}"><rect x="{x}" y="{y - 13}" width="{width}" height="26" rx="6"/>'
        f'<text x="{x + 9}" y="{y + 4}">{escape(short)}<title>{escape(text)}</title></text></g>'
    )
