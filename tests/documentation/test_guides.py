"""Every command that the guides and the page of the command line show is run as it stands there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.documentation.guides import NOT_RUN, Reader, blocks
from tests.server.conftest import address

__all__ = ["address"]
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / "command-line.md", *sorted((ROOT / "docs" / "guides").rglob("*.md"))]
COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:likewise|curl|openssl|pip|make|python|grep|echo)\s", re.MULTILINE)
RUN = [page for page in PAGES if any(block.beside == "console" for block in blocks(page))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_commands_is_run_or_says_why_not(page: Path) -> None:
    """No command escapes by standing in a block of another kind."""
    for block in blocks(page):
        if block.beside.startswith("console"):
            reason = block.beside.removeprefix(NOT_RUN)
            assert block.beside in ("console", NOT_RUN + reason), f"{page.name}: {block.beside}"
            assert block.beside == "console" or len(reason.split()) > 1, f"{page.name}: say why it is not run"
        elif not block.beside.startswith("python"):
            assert not COMMAND.search(block.text), f"{page.name} shows commands outside ```console:\n{block.text}"


@pytest.mark.timeout(1800)  # a page has up to ten commands, each a process
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_commands_of_the_page_run(page: Path, address: str, tmp_path: Path) -> None:
    """In a folder of their own, one after the other, against a broker; what the page shows below one is printed."""
    for needed in ("bash", "curl", "openssl"):
        if shutil.which(needed) is None and any(needed in block.text for block in blocks(page)):
            pytest.skip(f"there is no {needed} on this machine")
    reader = Reader(tmp_path, address)
    try:
        assert reader.read(page) > 0
    finally:
        reader.leave()


def test_a_page_that_shows_what_is_not_there_is_found(address: str, tmp_path: Path) -> None:
    """A command that fails, and one that prints something else, are errors."""
    page = tmp_path / "page.md"
    reader = Reader(tmp_path, address)
    for text in ("likewise events --lost 3", "$ likewise parse '{a  =  1}'\n{b = 1}", "false\ntrue"):
        page.write_text(f"```console\n{text}\n```\n", encoding="utf-8")
        with pytest.raises(AssertionError):
            reader.read(page)
