"""How the documentation is built: Markdown through myst, the interface from the docstrings."""

from __future__ import annotations

import likewise

project = "Likewise"
copyright = "the Likewise authors, Apache License 2.0"
version = release = likewise.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
suppress_warnings = ["toc.empty_glob"]  # a folder of pages may still be empty
linkcheck_ignore = [r"http://127\.0\.0\.1.*"]  # where a broker of one's own would be
html_theme = "furo"
html_title = "Likewise"
