"""What evaluations read, made of what was downloaded."""

from __future__ import annotations

import gzip
import importlib
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from likewise.errors import FormatError, MissingDependency
from likewise_experiments.datasets.catalogue import DataFile, DataSet


def convert(data: DataSet, folder: Path) -> Path | None:
    """Make what the set makes, unless it is there; its path, None if it makes nothing."""
    if not data.makes:
        return None
    made = folder / data.makes
    if not made.exists():
        source = folder / data.files[0].name
        content = {"yaml": _as_json, "gzip": Path.read_bytes, "lorawan": _lorawan}[data.conversion](source)
        part = made.with_name(made.name + ".part")
        part.write_bytes(gzip.compress(content, mtime=0))
        part.replace(made)
    return made


def _yaml() -> Any:
    try:
        return importlib.import_module("yaml")
    except ImportError:
        raise MissingDependency("PyYAML", "dashboard") from None  # it comes with the dashboard's server


def _load(text: bytes) -> Any:
    yaml = _yaml()
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _as_json(path: Path) -> bytes:
    return msgspec.json.encode(_load(path.read_bytes()))


def _lorawan(path: Path) -> bytes:
    """The examples of an archive of TTN's device repository, one a line."""
    with tarfile.open(path) as archive:
        return b"".join(msgspec.json.encode(each) + b"\n" for each in _examples(archive))


def _examples(archive: tarfile.TarFile) -> Iterator[dict[str, Any]]:
    number = 0
    for member in archive:
        parts = member.name.split("/")
        if not member.name.endswith("-codec.yaml") or "vendor" not in parts:
            continue
        stream = archive.extractfile(member)
        assert stream is not None  # a plain file
        try:
            found = _load(stream.read())
        except _yaml().YAMLError:
            continue  # one maker's mistake is not ours to mend
        decoder = found.get("uplinkDecoder") if isinstance(found, dict) else None
        for example in (decoder or {}).get("examples") or []:
            said = (example.get("output") or {}).get("data")
            if isinstance(said, dict) and said:
                number += 1
                yield {
                    "id": f"lw-{number:04}",
                    "vendor": parts[parts.index("vendor") + 1],
                    "codec": parts[-1].removesuffix(".yaml"),
                    "example": str(example.get("description", "")),
                    "data": said,
                }


class _Link(msgspec.Struct):
    self: str


class _RecordFile(msgspec.Struct):
    key: str
    checksum: str
    links: _Link


class _Record(msgspec.Struct):
    files: list[_RecordFile]
    metadata: dict[str, Any]


def record_files(path: Path, about: str) -> tuple[list[tuple[DataFile, str]], str]:
    """The files a Zenodo record lists, each with its MD5, and its licence; a record about something else is refused."""
    try:
        record = msgspec.json.decode(path.read_bytes(), type=_Record)
    except msgspec.MsgspecError as error:
        raise FormatError(f"{path} is no Zenodo record: {error}") from None
    title = str(record.metadata.get("title", ""))
    if about.casefold() not in title.casefold():
        raise FormatError(f"the record is about {title!r}, not {about}; find the data set on zenodo.org")
    licence = record.metadata.get("license")
    named = str(licence.get("id", "")) if isinstance(licence, dict) else str(licence or "not stated")
    return [(DataFile(f.key, f.links.self), f.checksum.removeprefix("md5:")) for f in record.files], named
