"""Runs the cells of a notebook in order, and compares what they show with what is stored below them.

python tools/run_notebook.py docs/notebooks/first-steps.ipynb           # exit code 1 if a cell fails or differs
python tools/run_notebook.py docs/notebooks/first-steps.ipynb --write   # store what the cells show

A cell is plain Python; `await` may stand at its top level. What it prints and the value of its last line are shown. A
cell with the tag `varies` may show something else each time (times, ids): it must run, and no more.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import inspect
import io
import json
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

MACHINE = re.compile(r"/(?:home|root|tmp|work|Users)/|[A-Z]:\\Users")  # paths that say where it was run
Cell = dict[str, Any]


def run_cell(source: str, names: dict[str, Any], run: Callable[[Any], Any]) -> list[Cell]:
    """The outputs of one cell: what it prints, and what its last line is."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if last is not None:
        tree.body.pop()
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        wholes: list[tuple[ast.Module | ast.Expression, str]] = [(tree, "exec")]
        if isinstance(last, ast.Expr):
            wholes.append((ast.Expression(last.value), "eval"))
        for whole, mode in wholes:
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # and not the `annotations` of this file, as in Jupyter
            value = eval(compile(whole, "<cell>", mode, flags=flags, dont_inherit=True), names)
            if inspect.iscoroutine(value):
                value = run(value)
    outputs: list[Cell] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if last is not None and value is not None:
        html = value._repr_html_() if hasattr(value, "_repr_html_") else None  # None, as of a figure: it has none today
        shown = {"text/plain": _lines(repr(value) if html is None else str(value))}
        if html is not None:
            shown["text/html"] = _lines(html)
        outputs.append({"data": shown, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def run_notebook(path: Path, *, write: bool = False) -> list[str]:
    """What is wrong with a notebook: cells that fail, that show another thing, or that name this machine."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    wrong = []
    with asyncio.Runner() as loop:
        for number, cell in enumerate(notebook["cells"], 1):
            if cell["cell_type"] != "code":
                continue
            try:
                found = run_cell("".join(cell["source"]), names, loop.run)
            except Exception:
                wrong.append(f"{path.name}, cell {number} fails:\n{traceback.format_exc(limit=-3)}")
                break
            if MACHINE.search(json.dumps(found)):
                wrong.append(f"{path.name}, cell {number} shows where it was run: {found}")
            varies = "varies" in cell.get("metadata", {}).get("tags", ())
            if write:
                cell["outputs"] = [] if varies else found
            elif not varies and cell["outputs"] != found:
                wrong.append(
                    f"{path.name}, cell {number} shows\n{_shown(found)}\nand stores\n{_shown(cell['outputs'])}"
                )
    if write and not wrong:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return wrong


def _shown(outputs: list[Cell]) -> str:
    texts = [each.get("text") or each.get("data", {}).get("text/plain", []) for each in outputs]
    return "".join("".join(text) for text in texts)[:2_000]


def main() -> None:
    """Run the notebooks that are named."""
    asking = argparse.ArgumentParser(description="Run notebooks.")
    asking.add_argument("notebooks", nargs="+", type=Path)
    asking.add_argument("--write", action="store_true", help="store what the cells show")
    asked = asking.parse_args()
    wrong = [each for path in asked.notebooks for each in run_notebook(path, write=asked.write)]
    print("\n".join(wrong), file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
