"""Data from the network: checked, resumed, noted where nobody knew better; and clear words without a network."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from likewise.cli import main
from likewise.errors import ArtefactDamaged, FormatError, InputError, Unavailable
from likewise_experiments.datasets import catalogue, conversion, download
from likewise_experiments.datasets.catalogue import DataFile, DataSet


class Shelf(ThreadingHTTPServer):
    """Files in memory, served with ranges; `asked` has the ranges that were asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Librarian)
        self.files: dict[str, bytes] = {}
        self.asked: list[str | None] = []

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Librarian(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Shelf)
        wanted = self.headers.get("range")
        self.server.asked.append(wanted)
        content = self.server.files.get(self.path.strip("/"))
        if content is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("content-length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    with Shelf() as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_file_is_checked_and_brought_once(shelf: Shelf, tmp_path: Path) -> None:
    """Where its checksum is known, it must fit; what is there is not fetched again."""
    shelf.files["a"] = b"words"
    file = DataFile("a.txt", shelf.address("a"), sha(b"words"))
    assert download.download(file, tmp_path).read_bytes() == b"words"
    download.download(file, tmp_path)
    assert len(shelf.asked) == 1
    wrong = DataFile("b.txt", shelf.address("a"), sha(b"other"))
    with pytest.raises(ArtefactDamaged, match="has the SHA-256"):
        download.download(wrong, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"]


def test_an_unknown_checksum_is_noted_at_the_first_download_and_kept_to(shelf: Shelf, tmp_path: Path) -> None:
    """Nothing is invented; afterwards another content is refused."""
    shelf.files["a"] = b"first"
    file = DataFile("a.txt", shelf.address("a"))
    path = download.download(file, tmp_path)
    assert json.loads((tmp_path / download.NOTED).read_text()) == {"a.txt": sha(b"first")}
    path.unlink()
    shelf.files["a"] = b"second"
    with pytest.raises(ArtefactDamaged, match="noted at the first download"):
        download.download(file, tmp_path)
    path.write_bytes(b"altered")
    with pytest.raises(ArtefactDamaged):
        download.download(file, tmp_path)


def test_a_download_that_broke_off_goes_on(shelf: Shelf, tmp_path: Path) -> None:
    """What is there is not sent again."""
    shelf.files["a"] = b"0123456789"
    (tmp_path / "a.txt.part").write_bytes(b"0123")
    file = DataFile("a.txt", shelf.address("a"), sha(b"0123456789"))
    assert download.download(file, tmp_path).read_bytes() == b"0123456789"
    assert shelf.asked == ["bytes=4-"]


def test_without_a_network_it_is_said_what_to_do(
    shelf: Shelf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address and the place where the file belongs; the exit code says that nobody answered."""
    away = DataFile("a.txt", "http://no-such-host.invalid/a")
    with pytest.raises(Unavailable, match=r"needs the network.*bring http://no-such-host.invalid/a from elsewhere"):
        download.download(away, tmp_path)
    with pytest.raises(Unavailable, match="404"):
        download.download(DataFile("b.txt", shelf.address("gone")), tmp_path)
    assert main.run(["data", "get", "nothing"]) == 2
    assert "known: relatedness" in capsys.readouterr().err


def test_what_was_downloaded_becomes_what_evaluations_read(tmp_path: Path) -> None:
    """EuroVoc as JSON, dated events compressed, makers' examples one a line."""
    (tmp_path / "e.yaml").write_text("concepts:\n  '1': {prefLabel: {en: energy}}\n", encoding="utf-8")
    made = conversion.convert(_set("yaml", "e.yaml", "e.json.gz"), tmp_path)
    assert made is not None
    assert json.loads(gzip.decompress(made.read_bytes())) == {"concepts": {"1": {"prefLabel": {"en": "energy"}}}}
    (tmp_path / "d.txt").write_text("a\tb\n", encoding="utf-8")
    made = conversion.convert(_set("gzip", "d.txt", "d.txt.gz"), tmp_path)
    assert made is not None
    assert gzip.decompress(made.read_bytes()) == b"a\tb\n"
    codec = b"uplinkDecoder:\n  examples: [{description: one, output: {data: {TempC: 21.5}}}, {output: {}}]\n"
    members = {"r/vendor/acme/t1-codec.yaml": codec, "r/vendor/bad/x-codec.yaml": b"{", "r/README": b""}
    with tarfile.open(tmp_path / "l.tar.gz", "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    made = conversion.convert(_set("lorawan", "l.tar.gz", "l.jsonl.gz"), tmp_path)
    assert made is not None
    [line] = gzip.decompress(made.read_bytes()).splitlines()
    assert json.loads(line) == {
        "id": "lw-0001",
        "vendor": "acme",
        "codec": "t1-codec",
        "example": "one",
        "data": {"TempC": 21.5},
    }


def _set(how: catalogue.Conversion, file: str, makes: str) -> DataSet:
    return DataSet("s", "", (DataFile(file, ""),), "", "", (), how, makes)


def test_a_record_lists_its_files_and_one_about_something_else_is_refused(tmp_path: Path) -> None:
    """Zenodo says which files there are, with their MD5."""
    path = tmp_path / "record.json"
    record = {
        "metadata": {"title": "The OpenSense data", "license": {"id": "cc-by-4.0"}},
        "files": [{"key": "u.zip", "checksum": "md5:abc", "links": {"self": "https://zenodo.org/u.zip"}}],
    }
    path.write_text(json.dumps(record), encoding="utf-8")
    assert conversion.record_files(path, "OpenSense") == (
        [(DataFile("u.zip", "https://zenodo.org/u.zip"), "abc")],
        "cc-by-4.0",
    )
    with pytest.raises(FormatError, match="not Weather"):
        conversion.record_files(path, "Weather")
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(FormatError, match="no Zenodo record"):
        conversion.record_files(path, "OpenSense")


def test_data_is_brought_and_the_command_to_run_is_said(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`likewise data get` from a server of this machine."""
    shelf.files["w"] = b"cat\tdog\t7\n"
    then = ("likewise eval relatedness {to}/w.txt",)
    small = DataSet("small", "two words", (DataFile("w.txt", shelf.address("w")),), "none", "1 kB", then)
    monkeypatch.setattr(catalogue, "SETS", (small,))
    assert main.run(["data", "get", "small", "--to", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert "its checksum is noted" in told.out
    assert f"then     likewise eval relatedness {tmp_path}/w.txt" in told.out
    assert main.run(["data", "show", "small", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["licence"] == "none"


def test_every_set_says_where_it_comes_from_and_what_to_run() -> None:
    """An address, a licence and a command each; checksums are whole or absent."""
    for data in catalogue.SETS:
        assert data.licence
        assert data.then
        for file in data.files:
            assert file.address.startswith("http")
            assert len(file.sha256) in (0, 64)
    with pytest.raises(InputError, match="known: relatedness, eurovoc"):
        catalogue.data_set("elsewhere")


@pytest.mark.parametrize("data", [data for data in catalogue.SETS if data.files[0].sha256], ids=lambda data: data.name)
def test_the_checksums_are_those_of_the_files_our_figures_were_made_with(data: DataSet, shared: Path) -> None:
    """Where the shared data is at hand, it is the same."""
    for file in data.files:
        for path in (shared / "data").rglob(file.name):
            assert sha(path.read_bytes()) == file.sha256
        for path in (shared / "data").rglob(f"{file.name}.gz"):
            assert sha(gzip.decompress(path.read_bytes())) == file.sha256
