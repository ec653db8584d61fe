"""How the documentation is built: Markdown through myst, the interface from the docstrings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from myst_parser.parsers.sphinx_ import MystParser

import likewise

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.notebook_page import notebook_page  # found by the line above

project = "Likewise"
copyright = "the Likewise authors, Apache License 2.0"
version = release = likewise.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown", ".ipynb": "notebook"}
exclude_patterns = ["_build"]
myst_heading_anchors = 3
napoleon_use_ivar = True  # attributes are documented by their class, and not once more by themselves
autodoc_member_order = "bysource"
autodoc_typehints = "description"
suppress_warnings = ["toc.empty_glob"]  # a folder of pages may still be empty
linkcheck_ignore = [r"http://127\.0\.0\.1.*"]  # where a broker of one's own would be
html_theme = "furo"
html_title = "Likewise"


class NotebookParser(MystParser):  # type: ignore[misc]
    """Reads a notebook as a page: its text, its code, and what is stored below it."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: Any) -> None:
        """Parse the page that is made of it."""
        super().parse(notebook_page(inputstring), document)


def setup(app: Any) -> None:
    """Register the parser."""
    app.add_source_parser(NotebookParser)
