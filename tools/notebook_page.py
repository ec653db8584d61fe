"""Makes a page of Markdown of a notebook, for the documentation: its text, its code, and what is stored below it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")  # colours of a terminal


def notebook_page(notebook: str) -> str:
    """Return a notebook (JSON) as Markdown that myst reads."""
    return "\n\n".join(part for cell in json.loads(notebook)["cells"] for part in _parts(cell)) + "\n"


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
    elif cell["cell_type"] == "code" and source.strip():
        yield _fenced("python", source)
        for output in cell["outputs"]:
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    """Yield what was printed or shown; as HTML where the notebook has that."""
    data = output.get("data", {})
    if "text/html" in data:
        yield _fenced("{raw} html", "".join(data["text/html"]))
    else:
        text = "".join(output.get("text", data.get("text/plain", ())))
        if text.strip():
            yield _fenced("text", _ESCAPE.sub("", text))


def _fenced(kind: str, text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}"
