"""The yardstick of `benchmarks/space.py`: gensim's Dictionary and a TF-IDF term-document matrix.

    python benchmarks/yardsticks/gensim_index.py CORPUS.jsonl

Documents are split at blanks after lower-casing, the cheapest tokenising there is in Python, and bags of
words are kept in memory, the fastest way gensim offers; nothing is written to disk. Prints one line of
JSON: documents, terms, postings, the sum of all frequencies, and a checksum of the document frequencies.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path


def documents(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"].lower().split()


def main(path: Path) -> dict[str, int]:
    from gensim.corpora import Dictionary
    from gensim.matutils import corpus2csc
    from gensim.models import TfidfModel

    dictionary = Dictionary(prune_at=None)
    bags = [dictionary.doc2bow(tokens, allow_update=True) for tokens in documents(path)]
    model = TfidfModel(dictionary=dictionary)
    matrix = corpus2csc(
        model[bags], num_terms=len(dictionary), num_docs=dictionary.num_docs, num_nnz=dictionary.num_nnz
    ).tocsr()
    df = sorted((term, dictionary.dfs[number]) for number, term in dictionary.items())
    return {
        "documents": dictionary.num_docs,
        "terms": len(dictionary),
        "postings": dictionary.num_nnz,
        "tokens": dictionary.num_pos,
        "df_checksum": zlib.crc32(json.dumps(df).encode()),
        "matrix_rows": int(matrix.shape[0]),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
