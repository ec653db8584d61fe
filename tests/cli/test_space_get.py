"""Promises of `likewise space get`, against a server of this machine that has a small Wikipedia."""

from __future__ import annotations

import bz2
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from likewise.cli.main import run
from likewise.errors import ArtefactDamaged, FormatError, Unavailable, UnknownId
from likewise.semantics.library import load_space
from likewise.spark.spaces.corpora import corpus, download_dump

NAME = "simplewiki-20260901-pages-articles-multistream.xml.bz2"
ARTICLES = {
    "Cat": "A cat is a small animal that hunts mice.",
    "Dog": "A dog is an animal that guards a house.",
    "Mouse": "A mouse is a small animal that a cat hunts.",
    "House": "A house is a building; a dog guards the house and a cat sleeps there.",
}


def small_dump() -> bytes:
    pages = "".join(
        f"<page><title>{title}</title><ns>0</ns><id>{n}</id><revision><id>{n}</id>"
        f"<text xml:space='preserve'>{text * 4}</text></revision></page>"
        for n, (title, text) in enumerate(ARTICLES.items(), 1)
    )
    return bz2.compress(f"<mediawiki xml:lang='en'>{pages}</mediawiki>".encode())


class Mirror:
    """What a server of dumps serves, and what it was asked for."""

    def __init__(self) -> None:
        self.dump = small_dump()
        self.checksum = hashlib.sha1(self.dump).hexdigest()
        self.breaks_after: int | None = None  # bytes of the dump, after which the connection ends
        self.ranges: list[str] = []
        self.listing = True


@pytest.fixture
def mirror() -> Iterator[tuple[Mirror, str]]:
    served = Mirror()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith("/simplewiki/latest/simplewiki-latest-sha1sums.txt"):
                older = f"{'0' * 40}  simplewiki-20260801-pages-articles-multistream.xml.bz2\n"
                listed = f"{'1' * 40}  simplewiki-20260901-pages-meta.xml.bz2\n{older}{served.checksum}  {NAME}\n"
                self._send((listed if served.listing else older[:40]).encode(), 0)
            elif self.path.endswith(f"/simplewiki/20260901/{NAME}"):
                wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("range", ""))
                served.ranges.append(self.headers.get("range", ""))
                self._send(served.dump, int(wanted[1]) if wanted else 0)
            else:
                self.send_error(404)

        def _send(self, data: bytes, first: int) -> None:
            self.send_response(206 if first else 200)
            self.send_header("content-length", str(len(data) - first))
            self.end_headers()
            end = len(data) if data is not served.dump else served.breaks_after
            self.wfile.write(data[first:end])

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield served, f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def test_a_download_that_broke_off_goes_on_where_it_was(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    served, address = mirror
    served.breaks_after = 150
    with pytest.raises(Unavailable):
        download_dump(corpus("wikipedia-simple"), tmp_path, address)
    assert not (tmp_path / NAME).exists()
    served.breaks_after = None
    served.listing = False  # one that was begun needs no list of checksums again
    path, date = download_dump(corpus("wikipedia-simple"), tmp_path, address)
    assert (path.read_bytes(), date) == (served.dump, "20260901")
    assert served.ranges == ["", "bytes=150-"]
    assert download_dump(corpus("wikipedia-simple"), tmp_path, address).path == path
    assert len(served.ranges) == 2


def test_a_dump_that_was_begun_and_is_gone_gives_way_to_the_newest(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    served, address = mirror
    begun = NAME.replace("20260901", "20250901")
    (tmp_path / f"{begun}.sha1").write_text("0" * 40)
    (tmp_path / f"{begun}.part").write_bytes(b"BZh9")
    with pytest.raises(Unavailable, match="404"):
        download_dump(corpus("wikipedia-simple"), tmp_path, address)
    path, _ = download_dump(corpus("wikipedia-simple"), tmp_path, address)
    assert path.read_bytes() == served.dump


def test_a_dump_that_is_not_as_published_is_removed(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    served, address = mirror
    served.checksum = "a" * 40
    with pytest.raises(ArtefactDamaged, match="SHA-1"):
        download_dump(corpus("wikipedia-simple"), tmp_path, address)
    assert not list(tmp_path.glob("*.bz2*part")) + list(tmp_path.glob("*.bz2"))
    served.listing = False
    with pytest.raises(FormatError, match="no dump"):
        download_dump(corpus("wikipedia-simple"), tmp_path, address)
    with pytest.raises(UnknownId, match="wikipedia-simple"):
        corpus("wikipedia")


@pytest.mark.timeout(600)
def test_a_space_is_downloaded_built_and_used_by_its_name(
    mirror: tuple[Mirror, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LIKEWISE_SPACES", str(tmp_path / "spaces"))
    command = ["space", "get", "wikipedia-simple", "--mirror", mirror[1]]
    assert run([*command, "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["kept"] == len(ARTICLES)
    assert "CC BY-SA" in said.err
    space = load_space("wikipedia-simple")
    assert "20260901" in space.files.manifest.corpus
    assert "CC BY-SA 4.0" in space.files.manifest.corpus
    assert run(command) != 0
    assert "--overwrite" in capsys.readouterr().err
    dump = tmp_path / "mine.xml.bz2"
    dump.write_bytes(small_dump())
    assert run(["space", "get", "wikipedia-simple", "--dump", str(dump), "--as", "mine"]) == 0
    assert load_space("mine").files.manifest.counts == space.files.manifest.counts
