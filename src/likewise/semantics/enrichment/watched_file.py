"""Annotation file that is reloaded when it changes, as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from likewise.defaults import MAX_DOCUMENT_BYTES
from likewise.errors import ArtefactMissing, FormatError, LikewiseError, LimitExceeded
from likewise.semantics.enrichment.rows import read_annotations
from likewise.semantics.enrichment.table import AnnotationTable

_State = tuple[int, int, int]  # what changes with a file: when it was written, its length, which file it is


class AnnotationFile:
    """Annotations of a CSV file. The first load must succeed. Thread-safe.

    A changed file is read when it is next needed. One that cannot be used leaves the rows of before in force, and
    `problem` says why, until the file is mended. `on_change` is told of every reading.
    """

    def __init__(self, path: str | Path, on_change: Callable[[AnnotationFile], None] = lambda file: None) -> None:
        self.path = Path(path)
        self._on_change = on_change
        self._lock = Lock()
        self._problem = ""
        self._state, self._table = self._read()
        on_change(self)

    @property
    def table(self) -> AnnotationTable:
        """The last loaded table; the file is not checked."""
        return self._table

    @property
    def problem(self) -> str:
        """The reason why the current file cannot be used; '' if it is in use."""
        return self._problem

    def current(self) -> AnnotationTable:
        """Return the current table; reload the file if it has changed."""
        try:
            state = _state(self.path)
        except OSError:
            state = None
        if state == self._state:
            return self._table
        with self._lock:
            if state != self._state:
                try:
                    self._state, self._table = self._read()
                    self._problem = ""
                except LikewiseError as error:
                    self._state = state  # it is not read again before it changes again
                    self._problem = str(error)
                self._on_change(self)
            return self._table

    def _read(self) -> tuple[_State | None, AnnotationTable]:
        """Load the file, with its state from before the load, so that no change is missed."""
        try:
            state = _state(self.path)
            if state[1] > MAX_DOCUMENT_BYTES:
                raise LimitExceeded(f"bytes of {self.path.name}", allowed=MAX_DOCUMENT_BYTES, found=state[1])
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise ArtefactMissing(
                f"the annotations {self.path} cannot be read ({error.strerror}); name another file, or leave it out"
            ) from None
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise FormatError(f"{self.path.name}, line {line}: not UTF-8; save it as UTF-8") from None
        return state, read_annotations(text, self.path.name)


def _state(path: Path) -> _State:
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size, status.st_ino
