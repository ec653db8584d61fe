"""RDF files as splits that tasks read, whatever is wrong with some of their lines (sources.md H, L).

N-Triples and N-Quads are cut into byte ranges; a line belongs to the range it begins in. Compressed files,
and the formats that are no lines, are one split each. Every blank node gets its file's number into its
name: it has no meaning outside its file.
"""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

import msgspec

from likewise.defaults import MAX_DEPTH, MAX_DOCUMENT_BYTES
from likewise.errors import FormatError, InputError, LikewiseError
from likewise.formats.rdf.reader import FORMATS
from likewise.formats.rdf.safety import check_depth
from likewise.spark.spaces.sources.documents import SPLIT_BYTES, split_ranges

if TYPE_CHECKING:
    import pyoxigraph

Parts = tuple[str, str, str]
ENDINGS: Final = {
    "nt": "nt",
    "nq": "nq",
    "ttl": "ttl",
    "n3": "ttl",
    "trig": "trig",
    "rdf": "rdf",
    "owl": "rdf",
    "xml": "rdf",
    "jsonld": "jsonld",
}
_LINES: Final = ("nt", "nq")
_OPENERS: Final[dict[str, Callable[[str, str], object]]] = {".gz": gzip.open, ".bz2": bz2.open}
_BLOCK: Final = 4 << 20  # bytes of lines parsed at a time
_PIECE: Final = 1 << 18  # bytes unpacked at a time
SHOWN: Final = 5  # bad statements of a split that are shown


class RdfSplit(msgspec.Struct, frozen=True):
    """A piece of a file: the bytes from `start` to `stop` (-1: all of it), in one of the formats."""

    path: str
    file: int
    format: str
    start: int = 0
    stop: int = -1


class MalformedStatements(msgspec.Struct):
    """The malformed statements: their number, and the first few, each with its position."""

    count: int = 0
    examples: list[str] = msgspec.field(default_factory=list)

    def add(self, place: str, problem: object, text: str = "") -> None:
        """Note one."""
        self.count += 1
        if len(self.examples) < SHOWN:
            shown = f": {text.strip()[:120]}" if text.strip() else ""
            self.examples.append(f"{place}: {problem}{shown}")


def rdf_splits(source: str | Path, format: str | None = None, split_bytes: int = SPLIT_BYTES) -> list[RdfSplit]:
    """Return the splits of a file, or of all RDF files below a folder, in the order of their names.

    `format` is one of nt, nq, ttl, trig, rdf, jsonld; without it the names of the files tell.

    >>> rdf_splits("no/such/place")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: there is nothing at no/such/place; name an RDF file or a folder of them
    """
    source = Path(source)
    if not source.exists():
        raise InputError(f"there is nothing at {source}; name an RDF file or a folder of them")
    if format is not None and format not in FORMATS:
        raise InputError(f"{format!r} is no RDF format that is read here; use one of {', '.join(FORMATS)}")
    listed = [source] if source.is_file() else sorted(p for p in source.rglob("*") if p.is_file())
    known = [(path, format or _format_of(path)) for path in listed]
    files = [(path, name) for path, name in known if name is not None]
    if not files:
        endings = ", ".join(f".{e}" for e in ENDINGS)
        raise InputError(
            f"{source} holds no RDF; expected names ending in {endings} (also .gz, .bz2), or say the format"
        )
    return [
        RdfSplit(str(path), number, name, start, stop)
        for number, (path, name) in enumerate(files)
        for start, stop in (
            split_ranges(path.stat().st_size, split_bytes)
            if name in _LINES and path.suffix not in _OPENERS
            else [(0, -1)]
        )
    ]


def _format_of(path: Path) -> str | None:
    name = path.name.removesuffix(path.suffix) if path.suffix in _OPENERS else path.name
    return ENDINGS.get(name.rpartition(".")[2].lower())


def read_split(split: RdfSplit, bad: MalformedStatements) -> Iterator[Parts]:
    """Yield the split's statements in the order of the text, terms in canonical N-Triples; count the malformed ones."""
    mark = f"_:f{split.file}"
    if split.format in _LINES:
        for start, block in _blocks(split, bad):
            yield from _parsed(block, split, f"byte {start:,}", bad, lambda label: f"{mark}x{label}")
        return
    names: dict[str, str] = {}
    data = _document(split, bad)
    if data is not None:  # names of blank nodes may be made up while parsing: number them as they come
        yield from _parsed(data, split, "", bad, lambda label: names.setdefault(label, f"{mark}n{len(names)}"))


def _open(split: RdfSplit) -> BinaryIO:
    return cast(BinaryIO, _OPENERS.get(Path(split.path).suffix, open)(split.path, "rb"))


def _blocks(split: RdfSplit, bad: MalformedStatements) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines of the split, some megabytes at a time, with the position where each block begins."""
    if split.stop < 0:
        at = 0
        for block in _unpacked(split, bad):
            yield at, _readable(block, split, bad)
            at += len(block)
        return
    at = split.start
    with open(split.path, "rb") as file:
        if at:
            file.seek(at - 1)
            at += len(file.readline()) - 1  # the line that began before the split is another's
        while at < split.stop:
            block = file.read(min(_BLOCK, split.stop - at))
            if not block.endswith(b"\n"):
                block += file.readline()
            yield at, _readable(block, split, bad)
            at += len(block)


def _unpacked(split: RdfSplit, bad: MalformedStatements) -> Iterator[bytes]:
    """Yield the lines of a compressed file; if it breaks off, count that and end."""
    waiting = b""
    with _open(split) as file:
        while True:
            try:
                piece = file.read1(_PIECE)  # type: ignore[attr-defined]  # hands out what there is before a break
            except (EOFError, OSError) as error:
                bad.add(Path(split.path).name, f"the compressed file breaks off ({error})")
                waiting = waiting[: waiting.rfind(b"\n") + 1]
                break
            if not piece:
                break
            waiting += piece
            if len(waiting) >= _BLOCK and b"\n" in piece:
                end = waiting.rindex(b"\n") + 1
                yield waiting[:end]
                waiting = waiting[end:]
    if waiting:
        yield waiting


def _readable(block: bytes, split: RdfSplit, bad: MalformedStatements) -> bytes:
    """Blank the lines of a block that a parser would not survive: no UTF-8, or triples nested too deep."""
    deep = block.count(b"<<") > MAX_DEPTH
    if not deep and _is_text(block):
        return block
    lines = block.split(b"\n")
    for i, line in enumerate(lines):
        if not _is_text(line) or line.count(b"<<") > MAX_DEPTH:
            problem = "a line nests too many triples" if _is_text(line) else "a line is not UTF-8"
            bad.add(Path(split.path).name, problem, line[:120].decode("utf-8", "replace"))
            lines[i] = b""
    return b"\n".join(lines)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _document(split: RdfSplit, bad: MalformedStatements) -> bytes | None:
    """Yield a document without lines as a whole, if it is safe to parse; else count it as one malformed statement."""
    name = Path(split.path).name
    try:
        with _open(split) as file:
            data = file.read(MAX_DOCUMENT_BYTES + 1)
        if len(data) > MAX_DOCUMENT_BYTES:
            raise FormatError(
                f"more than {MAX_DOCUMENT_BYTES:,} bytes; convert it to N-Triples, which is read in pieces"
            )
        check_depth(data.decode("utf-8-sig"), split.format)
    except (EOFError, UnicodeDecodeError, LikewiseError) as error:
        bad.add(name, f"the file is left out: {error}")
        return None
    return data.removeprefix(b"\xef\xbb\xbf")


def _parsed(
    data: bytes, split: RdfSplit, at: str, bad: MalformedStatements, blank: Callable[[str], str]
) -> Iterator[Parts]:
    """Yield the statements that pyoxigraph reads; continue after each that it cannot read."""
    import pyoxigraph

    # Relative IRIs are resolved against the file's own name, as browsers do.
    base = Path(split.path).absolute().as_uri() if split.format not in _LINES else None
    quads = pyoxigraph.parse(
        io.BytesIO(data), format=getattr(pyoxigraph.RdfFormat, FORMATS[split.format]), base_iri=base
    )
    place = ", ".join(filter(None, (Path(split.path).name, at)))

    def term(part: Any) -> str:
        return blank(part.value) if isinstance(part, pyoxigraph.BlankNode) else str(part)

    while True:
        try:
            quad: pyoxigraph.Quad | None = next(quads, None)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            text = data.split(b"\n")[line - 1] if line and len(bad.examples) < SHOWN else b""
            bad.add(place, error, text.decode("utf-8", "replace"))
            if line is None:  # no place to go on from
                return
            continue
        if quad is None:
            return
        if isinstance(quad.object, pyoxigraph.Triple):
            bad.add(place, "a statement about a triple; only plain triples are read")
            continue
        yield term(quad.subject), str(quad.predicate), term(quad.object)
