"""The location of a lake, a change log or a checkpoint: a folder, or an address such as `s3://bucket/lake`.

Both are `Place`s: `/` goes down, files are read, listed and removed the same way. `lake.atomic_create` makes files, for
folders by links, for object stores by conditional puts. What an object store needs to know (region, endpoint, keys)
stands in the environment, under the names its own tools use (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, ...).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from likewise.errors import InputError, Unavailable
from likewise.extras import require

RETRY_TIMEOUT_S: Final = 30  # seconds in which a request is tried again
SCHEMES: Final = ("s3", "gs", "az")
_ADDRESS: Final = re.compile(r"(?P<scheme>[a-z0-9]+)://(?P<bucket>[^/?#]+)/?(?P<key>[^?#]*)")
_SETTINGS: Final = ("AWS_", "GOOGLE_", "AZURE_")


class ObjectStorePath:
    """A path in an object store, used like a `Path`; what is missing raises `FileNotFoundError`.

    >>> place = ObjectStorePath("s3://bucket/lake") / "matches" / "a.parquet"
    >>> str(place), place.name, str(place.parent)
    ('s3://bucket/lake/matches/a.parquet', 'a.parquet', 's3://bucket/lake/matches')
    """

    __slots__ = ("_bucket", "key")

    def __init__(self, address: str) -> None:
        match = _ADDRESS.fullmatch(address)
        if match is None or match["scheme"] not in SCHEMES:
            raise InputError(
                f"{address!r} is no address of an object store; expected one such as s3://bucket/lake "
                f"({', '.join(each + '://' for each in SCHEMES)})"
            )
        self._bucket = f"{match['scheme']}://{match['bucket']}"
        self.key = match["key"].strip("/")

    def __truediv__(self, name: str) -> ObjectStorePath:
        return ObjectStorePath(f"{self}/{name}")

    def __str__(self) -> str:
        return f"{self._bucket}/{self.key}" if self.key else self._bucket

    def __repr__(self) -> str:
        return f"ObjectStorePath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStorePath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> ObjectStorePath:
        """Return the parent path."""
        return ObjectStorePath(f"{self._bucket}/{self.key.rpartition('/')[0]}")

    def read_bytes(self) -> bytes:
        """Read the object."""
        import obstore

        with translated_errors(self):
            return bytes(obstore.get(self._store(), self.key).bytes())

    def is_file(self) -> bool:
        """Return whether there is an object of this name."""
        import obstore

        try:
            with translated_errors(self):
                obstore.head(self._store(), self.key)
        except FileNotFoundError:
            return False
        return True

    def is_dir(self) -> bool:
        """Return whether there are objects below it."""
        listing = self._listed()
        return bool(listing["objects"] or listing["common_prefixes"])

    def iterdir(self) -> Iterator[ObjectStorePath]:
        """List the files right below it."""
        for each in self._listed()["objects"]:
            yield ObjectStorePath(f"{self._bucket}/{each['path']}")

    def files(self) -> Iterator[tuple[str, float]]:
        """List the files below it at any depth: relative path, and time of writing (s)."""
        import obstore

        with translated_errors(self):
            for page in obstore.list(self._store(), self.key or None):
                for each in page:
                    yield each["path"].removeprefix(self.key).lstrip("/"), each["last_modified"].timestamp()

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove it."""
        import obstore

        try:
            with translated_errors(self):
                obstore.delete(self._store(), self.key)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def put(self, data: bytes, *, new: bool = False) -> bool:
        """Write it, whole; with `new` only where nothing is yet. False if somebody else was first.

        What is there in the same bytes counts as ours: an answer may have been lost, and the request repeated.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, NotSupportedError

        try:
            with translated_errors(self):
                obstore.put(self._store(), self.key, data, mode="create" if new else "overwrite")
        except AlreadyExistsError:
            return self.read_bytes() == data
        except FileNotFoundError:
            raise InputError(f"there is no {self._bucket}; make it first, or name another") from None
        except (NotImplementedError, NotSupportedError) as error:
            raise InputError(
                f"{self._bucket} takes no conditional puts ({error}), so that two writers could overwrite each other; "
                "use one that does, or a folder"
            ) from None
        return True

    def _listed(self) -> Any:
        import obstore

        with translated_errors(self):
            return obstore.list_with_delimiter(self._store(), self.key or None)

    def _store(self) -> Any:
        return _opened(self._bucket, tuple(sorted(store_settings().items())))


StoragePath = Path | ObjectStorePath


def storage_path(address: str | Path | ObjectStorePath) -> StoragePath:
    """Return the path of an address: an absolute folder, or a path in an object store.

    >>> storage_path("s3://bucket/lake/"), storage_path("lake").is_absolute()
    (ObjectStorePath('s3://bucket/lake'), True)
    """
    if isinstance(address, ObjectStorePath):
        return address
    if isinstance(address, str) and "://" in address:
        place = ObjectStorePath(address)
        require("objects", "an object store", or_else="a folder needs nothing more")
        return place
    return Path(address).absolute()


def store_settings() -> dict[str, str]:
    """Return the object store's settings in the environment."""
    return {name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)}


def use_store_settings(settings: Mapping[str, str]) -> None:
    """Take a driver's settings of object stores for those that this environment lacks."""
    for name, value in settings.items():
        os.environ.setdefault(name, value)


def files_below(place: StoragePath) -> Iterator[tuple[str, float]]:
    """List the files below a path at any depth: relative path, and time of writing (s)."""
    if isinstance(place, ObjectStorePath):
        yield from place.files()
        return
    for path in place.rglob("*"):
        if path.is_file():
            yield path.relative_to(place).as_posix(), path.stat().st_mtime


@lru_cache(maxsize=8)
def _opened(bucket: str, settings: tuple[tuple[str, str], ...]) -> Any:
    """Open a bucket, once for the same settings."""
    require("objects", "an object store", or_else="a folder needs nothing more")
    from obstore.store import from_url

    try:
        return from_url(bucket, retry_config={"max_retries": 4, "retry_timeout": timedelta(seconds=RETRY_TIMEOUT_S)})
    except Exception as error:  # of whatever class: it is what the environment says
        raise InputError(f"{bucket} cannot be opened: {_first_line(error)}; look at the environment") from None


@contextmanager
def translated_errors(place: ObjectStorePath) -> Iterator[None]:
    """Translate an object store's errors, except that something is missing or exists already."""
    from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError

    try:
        yield
    except (AlreadyExistsError, NotSupportedError):
        raise
    except BaseError as error:
        raise Unavailable(f"{place} cannot be reached: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
