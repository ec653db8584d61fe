"""The options of a space's build, and its report."""

from __future__ import annotations

import msgspec

from likewise.errors import InputError
from likewise.semantics.text.tokenizer import TokenizerSettings


class BuildOptions(msgspec.Struct, frozen=True):
    """The choices of a build; those about content are stored in the manifest.

    A term is kept if at least `minimum_df` documents hold it and at most the fraction `maximum_df` of
    them; a document, if it has at least `minimum_length` tokens, of which the first `cut` are read; of
    each term's documents the `keep` strongest stay (`None`: all). `partitions` is how many parts the
    work is cut into; it never changes the result.

    >>> BuildOptions(maximum_df=1.5)
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: maximum_df is a fraction above 0 and up to 1, found 1.5
    """

    tokenizer: TokenizerSettings = TokenizerSettings()
    minimum_df: int = 1
    maximum_df: float = 1.0
    minimum_length: int = 1
    cut: int | None = None
    keep: int | None = None
    partitions: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.maximum_df <= 1:
            raise InputError(f"maximum_df is a fraction above 0 and up to 1, found {self.maximum_df}")
        for name in ("minimum_df", "minimum_length", "cut", "keep", "partitions"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} is at least 1, found {value}")

    def stored(self) -> dict[str, int | float | str | None]:
        """Return what the manifest records of the build.

        >>> BuildOptions(keep=100).stored()["keep"]
        100
        """
        return {
            "minimum_df": self.minimum_df,
            "maximum_df": self.maximum_df,
            "minimum_length": self.minimum_length,
            "cut": self.cut,
            "keep": self.keep,
        }


class BuildSummary(msgspec.Struct, frozen=True):
    """The report of a build: documents read and used, left out by reason, the size of the space, and its cost.

    `peak_memory` sums the resident memory of this process and all it started (the JVM, Python
    workers), in bytes, at its highest; None where that cannot be read.
    """

    folder: str
    name: str
    read: int
    kept: int
    left_out: dict[str, int]
    terms: int
    postings: int
    seconds: float
    peak_memory: int | None
    checksum: str
