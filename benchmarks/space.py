"""Building a space on Spark against gensim's Dictionary and TF-IDF index, on the same synthetic corpus.

    likewise bench space --json

The corpus: words are syllables that spell their rank; a token's rank is drawn from Zipf's law (exponent 1.05
over 400,000 ranks), a document's length from a log-normal law with mean 250. Ten thousand documents share one
generator seeded with (seed, block), so a smaller corpus is the beginning of a larger one.

Each side runs as a process of its own, from its start to its end: for Spark that includes starting the JVM
(`build s` is without). CPU and memory are summed over all processes of a side, read from /proc five times a
second; pages shared between processes count more than once. Both sides must agree on documents, terms,
postings and every document frequency before a figure is given. Stop words and stemming are off on our side,
because gensim has none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (50_000, 100_000, 200_000)
SEED = 20_240_607
MEAN_LENGTH = 250
RANKS = 400_000
EXPONENT = 1.05
BLOCK = 10_000

YARDSTICK = Path(__file__).parent / "yardsticks" / "gensim_index.py"


def run(sizes: Sequence[int] = SIZES, seed: int = SEED, folder: str | None = None) -> list[dict[str, Any]]:
    """One row for each size."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        return [measure(size, seed, Path(name)) for size in sizes]


def measure(size: int, seed: int, folder: Path) -> dict[str, Any]:
    corpus = folder / f"{size}.jsonl"
    tokens = write_corpus(corpus, size, seed)
    out = folder / f"space-{size}"
    likewise = [sys.executable, "-c", "from likewise.cli.main import main; main()"]
    chosen = ["--stop-words", "none", "--stemmer", "none", "--json"]
    ours = observed([*likewise, "space", "build", str(corpus), "--out", str(out), *chosen])
    theirs = observed([sys.executable, str(YARDSTICK), str(corpus)])
    summary, counted = json.loads(ours["said"]), json.loads(theirs["said"])
    check(out, summary, counted, tokens)
    corpus.unlink()
    return {
        "documents": size,
        "tokens": tokens,
        "terms": summary["terms"],
        "postings": summary["postings"],
        "wall s": round(ours["wall"], 1),
        "build s": round(summary["seconds"], 1),
        "cpu s": round(ours["cpu"], 1),
        "memory MB": round(ours["memory"] / 1e6),
        "gensim wall s": round(theirs["wall"], 1),
        "gensim cpu s": round(theirs["cpu"], 1),
        "gensim memory MB": round(theirs["memory"] / 1e6),
        "wall ratio": round(theirs["wall"] / ours["wall"], 2),
        "cpu ratio": round(theirs["cpu"] / ours["cpu"], 2),
    }


def check(out: Path, summary: dict[str, Any], counted: dict[str, int], tokens: int) -> None:
    """A fast wrong index is an error."""
    from likewise.semantics.spaces.files import SpaceFiles

    files = SpaceFiles(out)
    df = [[t, n] for t, n in zip(files.terms(), files.document_frequencies.tolist(), strict=True)]
    found = {
        "documents": summary["kept"],
        "terms": summary["terms"],
        "postings": summary["postings"],
        "tokens": int(files.frequencies.sum(dtype=np.int64)),
        "df_checksum": zlib.crc32(json.dumps(df).encode()),
    }
    if tokens != found["tokens"] or any(counted[key] != value for key, value in found.items()):
        raise AssertionError(f"the indexes differ: {found} and {counted}, from {tokens} tokens")


def write_corpus(path: Path, size: int, seed: int = SEED) -> int:
    """Writes JSON lines and returns the number of tokens."""
    words = np.array([spelled(rank) for rank in range(RANKS)], dtype=object)
    share = np.cumsum(1 / np.arange(1, RANKS + 1) ** EXPONENT)
    share /= share[-1]
    tokens = 0
    with path.open("w", encoding="ascii") as lines:
        for block in range(-(-size // BLOCK)):
            chance = np.random.default_rng([seed, block])
            lengths = np.maximum(1, chance.lognormal(np.log(MEAN_LENGTH) - 0.18, 0.6, BLOCK)).astype(int)
            lengths = lengths[: size - block * BLOCK]
            drawn = words[np.searchsorted(share, chance.random(int(lengths.sum())))].tolist()
            end = 0
            for number, length in enumerate(lengths.tolist(), block * BLOCK):
                start, end = end, end + length
                lines.write(f'{{"title": "document {number}", "text": "{" ".join(drawn[start:end])}"}}\n')
            tokens += end
    return tokens


def spelled(rank: int) -> str:
    """A rank in syllables; no two ranks spell alike.

    >>> spelled(0), spelled(104), spelled(105)
    ('ba', 'zu', 'baba')
    """
    syllables = ""
    rank += 1
    while rank:
        rank, digit = divmod(rank - 1, 105)
        syllables = "bcdfghjklmnpqrstvwxyz"[digit // 5] + "aeiou"[digit % 5] + syllables
    return syllables


def observed(command: list[str]) -> dict[str, Any]:
    """Runs a command and watches it and all it starts: wall, CPU, highest memory, and what it printed."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    cpu: dict[tuple[int, str], float] = {}
    memory = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal memory
        while not done.wait(0.2):
            alive = tree(process.pid)
            cpu.update({key: seconds for key, (seconds, _) in alive.items()})
            memory = max(memory, sum(resident for _, resident in alive.values()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        said, complaints = process.communicate()
    finally:
        done.set()
        watcher.join()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{complaints}")
    return {"wall": time.perf_counter() - began, "cpu": sum(cpu.values()), "memory": memory, "said": said}


def tree(root: int) -> dict[tuple[int, str], tuple[float, int]]:
    """CPU seconds and resident bytes of a process and its descendants, by process and its start."""
    fields: dict[int, list[str]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields[int(entry)] = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
    mine, size = {root}, 0
    while len(mine) != size:
        size = len(mine)
        mine |= {pid for pid, found in fields.items() if int(found[1]) in mine}
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    return {
        (pid, f[19]): ((int(f[11]) + int(f[12])) / tick, int(f[21]) * page)
        for pid in mine
        if (f := fields.get(pid)) is not None
    }


if __name__ == "__main__":
    sizes = [int(size) for size in sys.argv[1:] if size != "--json"]  # a line of JSON a row it is anyway
    for row in run(sizes or SIZES):
        print(json.dumps(row), flush=True)
