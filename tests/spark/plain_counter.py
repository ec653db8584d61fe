"""The oracle of the pipeline: a space counted token by token in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.spaces.writer import write_space
from likewise.semantics.text.tokenizer import Tokenizer
from likewise.spark.spaces.options import BuildOptions


def counted_space(folder: Path, documents: Sequence[tuple[str, str]], kind: str, options: BuildOptions) -> SpaceFiles:
    """The space of these documents, with no thought of speed."""
    tokenizer = Tokenizer(options.tokenizer)
    kept = [(title, tokenizer.tokens(text)) for title, text in documents]
    kept = [(title, tokens[: options.cut]) for title, tokens in kept if len(tokens) >= options.minimum_length]
    bags = [Counter(tokens) for _, tokens in kept]
    maxima = [max(bag.values(), default=0) for bag in bags]
    lists: dict[str, list[tuple[int, int]]] = {}
    for document, bag in enumerate(bags):
        for term, frequency in bag.items():
            lists.setdefault(term, []).append((document, frequency))
    terms = sorted(
        t for t, found in lists.items() if options.minimum_df <= len(found) <= options.maximum_df * len(bags)
    )
    df = [len(lists[t]) for t in terms]
    for term in terms:
        strongest = sorted(lists[term], key=lambda p: (-p[1] / maxima[p[0]], p[0]))
        lists[term] = sorted(strongest[: options.keep])
    postings = [posting for term in terms for posting in lists[term]]
    return write_space(
        folder,
        name="test",
        kind=kind,
        corpus="for a test",
        tokenizer=options.tokenizer,
        terms=terms,
        titles=[title for title, _ in kept],
        posting_ends=np.cumsum([len(lists[t]) for t in terms], dtype=np.int64),
        documents=np.array([d for d, _ in postings], dtype=np.uint32),
        frequencies=np.array([f for _, f in postings], dtype=np.int64),
        document_maxima=maxima,
        document_frequencies=df,
        options=options.stored(),
    )


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two spaces have the same manifest and, with it, the same files; both are verified."""
    SpaceFiles(one).verify()
    SpaceFiles(other).verify()
    return (one / "manifest.json").read_bytes() == (other / "manifest.json").read_bytes()
