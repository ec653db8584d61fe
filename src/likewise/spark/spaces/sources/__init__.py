"""The sources of documents, one file each, and how a path is recognised as one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from likewise.errors import InputError
from likewise.spark.spaces.sources.documents import Document, Source, Split
from likewise.spark.spaces.sources.json_lines import JsonLines
from likewise.spark.spaces.sources.mediawiki import MediaWikiDump
from likewise.spark.spaces.sources.parquet import ParquetFiles
from likewise.spark.spaces.sources.text_folder import TextFolder
from likewise.spark.spaces.sources.wordnet_files import WordNetFiles

__all__ = [
    "Document",
    "JsonLines",
    "MediaWikiDump",
    "ParquetFiles",
    "Source",
    "SourceKind",
    "Split",
    "TextFolder",
    "WordNetFiles",
    "source_of",
]

SourceKind = Literal["wordnet", "mediawiki", "json-lines", "parquet", "text"]

_ENDINGS: Final[dict[SourceKind, tuple[str, ...]]] = {
    "json-lines": tuple(f".{e}{c}" for e in ("jsonl", "ndjson", "jsonlines") for c in ("", ".gz", ".bz2", ".xz")),
    "parquet": (".parquet",),
    "mediawiki": (".xml", ".xml.bz2", ".bz2"),
}


def source_of(path: str | Path, kind: SourceKind | None = None, *, title: str = "title", text: str = "text") -> Source:
    """Return the source of a path, of the kind given or recognised from its files.

    A folder with `data.noun` is WordNet's; else the first ending found of JSON lines, Parquet and
    MediaWiki dumps decides; any other folder holds text files.

    >>> source_of("no/such/place")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: there is nothing at no/such/place; name a file or folder of documents
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"there is nothing at {path}; name a file or folder of documents")
    kind = kind or _recognised(path)
    if kind == "wordnet":
        return WordNetFiles(str(path))
    if kind == "text":
        return TextFolder(str(path))
    files = (str(path),) if path.is_file() else tuple(str(f) for f in _files(path, kind))
    if not files:
        raise InputError(f"{path} holds no {kind} files; expected names ending in {', '.join(_ENDINGS[kind])}")
    if kind == "json-lines":
        return JsonLines(files, title, text)
    return ParquetFiles(files, title, text) if kind == "parquet" else MediaWikiDump.open(files)


def _recognised(path: Path) -> SourceKind:
    if (path / "data.noun").is_file():
        return "wordnet"
    for kind in _ENDINGS:
        if _files(path, kind):
            return kind
    return "text"


def _files(path: Path, kind: SourceKind) -> list[Path]:
    """Return the files of a kind: the path itself, or those in the folder, in the order of their names."""
    if path.is_file():
        return [path] if path.name.endswith(_ENDINGS[kind]) else []
    return sorted(f for f in path.iterdir() if f.is_file() and f.name.endswith(_ENDINGS[kind]) and not _is_index(f))


def _is_index(path: Path) -> bool:
    """Return whether a file is the index beside a multistream dump, which is no dump."""
    return "multistream-index" in path.name
