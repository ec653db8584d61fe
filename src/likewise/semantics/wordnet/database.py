"""WordNet's database files, and the document of each synset.

Reads the files of Debian's `wordnet-base` (WordNet 3.0; their format is described in the manual pages
wndb(5), cntlist(5) and morphy(7)). Fellbaum, C. (ed.): WordNet, an electronic lexical database, 1998.

A synset's document holds its words (three times), its definition (twice), its examples, and the words
and definitions of its neighbours. Neighbours are all synsets a pointer leads to, at most
`NEIGHBOURS` for each kind of relation; usage and region pointers are left out, since they join words of
a register or a country and not of a subject. Repeating a piece is how a plain text says that it weighs
more, so any pipeline that counts words builds the same space.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing

DEFAULT_FOLDER: Final = Path("/usr/share/wordnet")  # where Debian's wordnet-base puts the files
FILES: Final = (("n", "noun"), ("v", "verb"), ("a", "adj"), ("r", "adv"))
WORDS_WEIGHT: Final = 3
DEFINITION_WEIGHT: Final = 2
NEIGHBOURS: Final = 30  # `city` has hundreds of instances; more would drown its own words
NO_NEIGHBOURS: Final = frozenset({";u", "-u", ";r", "-r"})
HYPERNYMS: Final = frozenset({"@", "@i"})
_SENSE_TYPES: Final = {"n": "1", "v": "2", "a": "3", "r": "4", "s": "5"}


class Pointer(NamedTuple):
    """Relation to another synset: WordNet's symbol and the target's index."""

    symbol: str
    target: int


class Synset(msgspec.Struct, frozen=True):
    """A set of synonyms with its WordNet data.

    `words` are as printed (`motor vehicle`); for each, `senses` is its sense number (1 is the most
    common) and `counts` how often it was tagged in WordNet's own corpora.
    """

    part: str
    words: tuple[str, ...]
    senses: tuple[int, ...]
    counts: tuple[int, ...]
    pointers: tuple[Pointer, ...]
    definition: str
    examples: str

    @property
    def title(self) -> str:
        """The synset's first words.

        >>> Synset("n", ("car", "auto", "automobile", "machine"), (1,) * 4, (0,) * 4, (), "", "").title
        'car, auto, automobile'
        """
        return ", ".join(self.words[:3])


class SynsetDocument(NamedTuple):
    """A synset as a text to be counted."""

    title: str
    text: str


class WordNet(msgspec.Struct, frozen=True):
    """All synsets, nouns, verbs, adjectives and adverbs in file order, and irregular forms by part of speech."""

    synsets: tuple[Synset, ...]
    irregular: dict[str, dict[str, tuple[str, ...]]]


def read_wordnet(folder: str | Path = DEFAULT_FOLDER) -> WordNet:
    """Read the database files of a folder; takes about three seconds for WordNet 3.0."""
    folder = Path(folder)
    missing = [name for _, part in FILES for name in (f"data.{part}", f"index.{part}") if not (folder / name).is_file()]
    if missing:
        raise ArtefactMissing(
            f"no WordNet database at {folder}: {missing[0]} is missing; install Debian's wordnet-base "
            "or name the folder that holds data.noun"
        )
    lines = [(part, line) for part, name in FILES for line in _entries(folder / f"data.{name}")]
    place = {(part, line[:8]): i for i, (part, line) in enumerate(lines)}
    senses = _senses(folder)
    counts = _counts(folder)
    synsets = tuple(_synset(part, line, place, senses, counts) for part, line in lines)
    return WordNet(synsets, {part: _irregular(folder / f"{name}.exc") for part, name in FILES})


def neighbours(synset: Synset) -> list[int]:
    """Return the distinct synsets whose words and definitions belong to this one's document, in order.

    >>> targets = tuple(Pointer("~", i) for i in range(40, 0, -1))
    >>> len(neighbours(Synset("n", ("x",), (1,), (0,), (*targets, Pointer(";r", 99)), "", "")))
    30
    """
    by_relation: defaultdict[str, set[int]] = defaultdict(set)
    for symbol, target in synset.pointers:
        if symbol not in NO_NEIGHBOURS:
            by_relation[symbol].add(target)
    return sorted({target for targets in by_relation.values() for target in sorted(targets)[:NEIGHBOURS]})


def synset_document(synset: Synset, synsets: Sequence[Synset]) -> SynsetDocument:
    """Return the document of one synset (docs/guides/build-a-space.md)."""
    pieces = ["; ".join(synset.words)] * WORDS_WEIGHT + [synset.definition] * DEFINITION_WEIGHT + [synset.examples]
    for target in neighbours(synset):
        pieces += ["; ".join(synsets[target].words), synsets[target].definition]
    return SynsetDocument(synset.title, "\n".join(piece for piece in pieces if piece))


def read_synset_documents(folder: str | Path = DEFAULT_FOLDER) -> Iterator[SynsetDocument]:
    """Return one document per synset in database order: the corpus of the embedded space."""
    synsets = read_wordnet(folder).synsets
    for synset in synsets:
        yield synset_document(synset, synsets)


def _entries(path: Path) -> Iterator[str]:
    """Yield the lines of a database file without the licence at its head."""
    with path.open(encoding="ascii") as file:
        for line in file:
            if not line.startswith(" "):
                yield line


def _synset(
    part: str,
    line: str,
    place: dict[tuple[str, str], int],
    senses: dict[tuple[str, str, str], int],
    counts: dict[str, int],
) -> Synset:
    """Parse one line of a data file (wndb(5))."""
    head, _, gloss = line.partition(" | ")
    fields = head.split()
    try:
        offset, file_number, kind, n = fields[0], fields[1], fields[2], int(fields[3], 16)
        raw = [(fields[4 + 2 * i].split("(")[0], int(fields[5 + 2 * i], 16)) for i in range(n)]
        start = 4 + 2 * n
        pointers = tuple(
            Pointer(fields[i], place[fields[i + 2], fields[i + 1]])
            for i in range(start + 1, start + 1 + 4 * int(fields[start]), 4)
        )
        keys = [f"{word.lower()}%{_SENSE_TYPES[kind]}:{file_number}:{number:02d}" for word, number in raw]
    except (IndexError, KeyError, ValueError) as error:
        raise ArtefactDamaged(
            f"WordNet's data file for {part!r} has a line that cannot be read ({error!r}): {line[:60]!r}"
        ) from None
    definition, examples = _definition(gloss.strip())
    return Synset(
        part=part,
        words=tuple(word.replace("_", " ") for word, _ in raw),
        senses=tuple(senses.get((part, word.lower(), offset), 1) for word, _ in raw),
        counts=tuple(counts.get(key, 0) for key in keys),
        pointers=pointers,
        definition=definition,
        examples=examples,
    )


def _definition(gloss: str) -> tuple[str, str]:
    """Return a gloss without its quoted examples."""
    at = gloss.find('"')
    return (gloss, "") if at < 0 else (gloss[:at].rstrip("; "), gloss[at:])


def _senses(folder: Path) -> dict[tuple[str, str, str], int]:
    """Return the sense number of each (part, word, offset), from the order in the index files."""
    out = {}
    for part, name in FILES:
        for line in _entries(folder / f"index.{name}"):
            fields = line.split()
            for number, offset in enumerate(fields[len(fields) - int(fields[2]) :], 1):
                out[part, fields[0], offset] = number
    return out


def _counts(folder: Path) -> dict[str, int]:
    """Return how often each sense was tagged, by its key up to the lexical id; empty if the file is missing."""
    path = folder / "cntlist.rev"
    if not path.is_file():
        return {}
    out: defaultdict[str, int] = defaultdict(int)
    for line in path.read_text("ascii").splitlines():
        key, _, count = line.split()
        word, _, rest = key.partition("%")
        out[f"{word}%{':'.join(rest.split(':')[:3])}"] += int(count)
    return dict(out)


def _irregular(path: Path) -> dict[str, tuple[str, ...]]:
    """Return irregular forms (`mice` -> `mouse`); empty if the file is missing."""
    if not path.is_file():
        return {}
    lines = (line.split() for line in path.read_text("ascii").splitlines())
    return {form.replace("_", " "): tuple(b.replace("_", " ") for b in bases) for form, *bases in lines if bases}
