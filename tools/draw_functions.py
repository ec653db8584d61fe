"""Draws functions of the package, for an exercise: name the folder each lives in before looking.

    python tools/draw_functions.py              # 25 names and their first lines of documentation, no folders
    python tools/draw_functions.py --answers    # the same 25, with their folders

Read the list beside the tree of folders (`--rooms`), write a folder down for each name, then look. A name nobody
can place has a wrong name or a wrong home. The same seed draws the same functions from the same tree.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent.parent / "src" / "likewise"
SEED = 14
COUNT = 25


class Drawn(NamedTuple):
    name: str
    promise: str
    home: str


def functions(source: Path) -> Iterator[Drawn]:
    """The public functions and methods below a folder that say what they promise, in the order of their files."""
    for path in sorted(source.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        home = path.relative_to(source).as_posix()
        for node in tree.body:
            owners = node.body if isinstance(node, ast.ClassDef) else [node]
            prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
            for each in owners:
                if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) or each.name.startswith("_"):
                    continue
                promise = (ast.get_docstring(each) or "").partition("\n")[0]
                if promise:
                    yield Drawn(prefix + each.name, promise, home)


def rooms(source: Path) -> Iterator[str]:
    """The folders with how many modules each holds."""
    for folder in sorted({path.parent for path in source.rglob("*.py")}):
        count = len([path for path in folder.glob("*.py") if path.name != "__init__.py"])
        yield f"{count:4}  {folder.relative_to(source).as_posix()}/"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--count", type=int, default=COUNT)
    options.add_argument("--answers", action="store_true", help="say where each lives")
    options.add_argument("--rooms", action="store_true", help="print the folders and leave")
    chosen = options.parse_args()
    if chosen.rooms:
        print(*rooms(SOURCE), sep="\n")
        return 0
    known = list(functions(SOURCE))
    if not 0 < chosen.count <= len(known):
        print(f"--count must be between 1 and {len(known)}, the functions there are", file=sys.stderr)
        return 2
    for number, (name, promise, home) in enumerate(random.Random(chosen.seed).sample(known, chosen.count), 1):
        print(f"{number:3}  {name}: {promise}" + (f"  [{home}]" if chosen.answers else ""))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
