"""Fitting a space's calibration: backgrounds from random pairs, the curve from WordNet's own relations.

`python -m likewise_experiments.fitting.calibrate` writes the embedded space's calibration anew; with a folder it gives
the space there latent vectors and backgrounds of its own.

Backgrounds need no judgements: words of the space are drawn at random from each class of frequency and
every pair is scored. The curve's midpoint is set on WordNet alone: synonyms and derived words should
count as related, sisters (two kinds of the same thing: `temperature` and `humidity`) and random pairs
should not; the midpoint is where the two kinds of error are equally frequent. Nothing is
fitted to human judgements. Weights are stated by hand: documents and latent vectors count alike, the
taxonomy, which sees only what is of a kind, counts less; how much less was settled among a few round
values with published sets of judgements in view (docs/measures.md).
"""

from __future__ import annotations

import sys
from importlib import resources
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.semantics.calibration import HIGHEST, Background, Calibration, NameWeights, read_calibration
from likewise.semantics.measure import Measure, Term
from likewise.semantics.measures.combine import CombinedMeasure
from likewise.semantics.wordnet.compact import CompactWordNet, unpack
from likewise.semantics.wordnet.embedded import CALIBRATION, WORDNET, packed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.space import Space

FREQUENCIES: Final = (10, 50, 250, 1_250)
LEVELS: Final = (0.3, 0.6, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 3.5, 4.0)
WEIGHTS: Final = {"thematic": 1.0, "latent": 1.0, "jcn": 0.3}
THEME_SHARE: Final = 0.5  # themes move a score but cannot alone make or break it
STEEPNESS: Final = 1.5  # a surprise of one power of ten more turns 0.5 into 0.82
DRAWN: Final = 300  # words of each class: 90,000 pairs, enough for a share of 10^-4
PAIRS: Final = 1_500  # of each relation
NAMES: Final = NameWeights(
    prefix=(0.0, 0.0, 0.45, 0.75, 0.85, 0.9),
    skeleton=0.65,
    acronym=0.85,
    unit_sure=0.8,
    unit_unsure=0.5,
    plain=0.3,
    digits=0.05,
    unit=0.1,
    unknown=0.4,
    asked_share=0.6,
    leniency=0.7,
    modifier=0.6,
    light=0.3,
    transparent=0.1,
    container=0.2,
    conflict=0.5,
    sisters=0.35,
    association=0.7,
    not_a_number=0.6,
    not_a_state=0.9,
)


def fit_backgrounds(space: Space, seed: int = 353) -> dict[str, Background]:
    """How each measure of meaning scores random pairs of a space's words, by their classes of frequency."""
    from likewise.semantics.measures.esa import EsaMeasure
    from likewise.semantics.measures.jcn import JcnMeasure

    drawn = _drawn(space, np.random.default_rng(seed))
    measures: dict[str, Measure] = {"thematic": EsaMeasure(space.vectors, metric="cosine")}
    if space.has_latent:
        measures["latent"] = space.measure("latent")
    measures["jcn"] = JcnMeasure(space.taxonomy, senses="all")
    out = {}
    for name, measure in measures.items():
        rows = []
        for i, asked in enumerate(drawn):
            rows.append(tuple(_reached(measure.matrix(asked, seen), asked is seen) for seen in drawn[i:]))
        out[name] = Background(tuple(rows))
    return out


def _drawn(space: Space, random: np.random.Generator) -> list[list[Term]]:
    """Words at random for each class: those that stay themselves when tokenised, and that WordNet knows."""
    files, tokenizer = space.files, space.vectors.tokenizer
    classes = np.searchsorted(np.asarray(FREQUENCIES), files.document_frequencies, side="right")
    out: list[list[Term]] = []
    for wanted in range(len(FREQUENCIES) + 1):
        found: list[Term] = []
        for number in random.permutation(np.flatnonzero(classes == wanted)).tolist():
            word = files.term(number)
            if len(word) > 2 and tokenizer.tokens(word) == [word] and space.taxonomy.has_word(word):
                found.append(Term(word))
                if len(found) == DRAWN:
                    break
        out.append(found or out[-1])
    return out


def _reached(scores: NDArray[np.float32], same: bool) -> tuple[float, ...]:
    """The scores that the shares 10^-level of pairs reach; a word with itself is no pair."""
    values = scores[~np.eye(len(scores), dtype=bool)] if same else scores.ravel()
    return tuple(round(float(np.quantile(values, 1 - 10.0**-level)), 6) for level in LEVELS)


def related_pairs(wordnet: CompactWordNet, seed: int = 353) -> dict[str, list[tuple[str, str]]]:
    """Pairs of common words by what WordNet says about them: synonyms, derived, sisters, random."""
    random = np.random.default_rng(seed)
    tags = np.bincount(wordnet.words.values, weights=wordnet.tags, minlength=len(wordnet.lexicon))
    lexicon = wordnet.lexicon
    common = {i for i in np.flatnonzero(tags >= 3).tolist() if lexicon[i].isalpha() and len(lexicon[i]) > 2}
    synset_of = np.repeat(np.arange(wordnet.synsets), np.diff(wordnet.words.ends, prepend=0))
    members: dict[int, list[int]] = {}
    for synset, word, sense in zip(
        synset_of.tolist(), wordnet.words.values.tolist(), wordnet.senses.tolist(), strict=True
    ):
        if word in common and sense <= 2:
            members.setdefault(synset, []).append(word)
    below: dict[int, list[int]] = {}
    for synset, hypernym in wordnet.hypernyms().tolist():
        below.setdefault(hypernym, []).append(synset)
    sisters = [(s[k], s[k + 1]) for s in below.values() for k in range(0, len(s) - 1, 2)]

    def words(pairs: list[tuple[int, int]]) -> list[tuple[str, str]]:
        found = []
        for x, y in pairs:
            both = product(members.get(x, ())[:2], members.get(y, ())[:2])
            found += [(lexicon[a], lexicon[b]) for a, b in both if lexicon[a].lower() != lexicon[b].lower()]
        return [found[i] for i in random.permutation(len(found))[:PAIRS].tolist()]

    ordered = sorted(common)
    drawn = random.choice(ordered, (4 * PAIRS, 2)).tolist()
    return {
        "synonym": words([(s, s) for s in sorted(members)]),
        "derived": words([tuple(p) for p in wordnet.relations["+"].tolist()]),
        "sister": words(sisters),
        "random": [(lexicon[a], lexicon[b]) for a, b in drawn if a != b],
    }


def fit_midpoint(measure: CombinedMeasure, pairs: dict[str, list[tuple[str, str]]]) -> float:
    """The surprise at which as large a share of synonyms and derived words is missed as of sisters and random pairs is let in.

    Sisters and random pairs count alike.
    """  # noqa: E501  one sentence
    surprise = {name: pair_surprise(measure, found) for name, found in pairs.items()}
    positive = np.concatenate([surprise["synonym"], surprise["derived"]])
    grid = np.linspace(0.5, HIGHEST - 0.5, 401)
    missed = np.array([(positive < z).mean() for z in grid])
    let_in = np.array([((surprise["sister"] >= z).mean() + (surprise["random"] >= z).mean()) / 2 for z in grid])
    return round(float(grid[np.argmin(np.abs(missed - let_in))]), 2)


def pair_surprise(measure: CombinedMeasure, pairs: list[tuple[str, str]]) -> NDArray[Any]:
    """The surprise of each pair, scored in blocks."""
    out = []
    for start in range(0, len(pairs), 250):
        block = pairs[start : start + 250]
        out.append(np.diag(measure.word_surprise([Term(a) for a, _ in block], [Term(b) for _, b in block])))
    return np.concatenate([np.empty(0), *out])


def fit(space: Space, wordnet: CompactWordNet) -> Calibration:
    """A space's calibration."""
    from likewise.semantics.space import combined_measure

    draft = Calibration(FREQUENCIES, LEVELS, fit_backgrounds(space), WEIGHTS, THEME_SHARE, 2.0, STEEPNESS, NAMES)
    midpoint = fit_midpoint(combined_measure(space, draft), related_pairs(wordnet))
    return msgspec.structs.replace(draft, midpoint=midpoint)


def calibrate_folder(folder: str | Path, *, latent: bool = True) -> Calibration:
    """Gives the space in a folder backgrounds of its own, and latent vectors if wanted; its checksum changes.

    The curve, the weights and the strengths of names stay the embedded space's: surprise means the same
    everywhere.
    """
    from likewise.semantics.space import Space
    from likewise.semantics.spaces.files import SpaceFiles
    from likewise.semantics.spaces.writer import add_extras
    from likewise.semantics.wordnet.embedded import fit_latent, latent_documents

    if latent:
        files = SpaceFiles(folder)
        rows, scales = latent_documents(files, fit_latent(files))
        add_extras(folder, {"latent_documents.npy": rows, "latent_scales.npy": scales})
    backgrounds = fit_backgrounds(Space(SpaceFiles(folder)))
    calibration = msgspec.structs.replace(read_calibration(packed(CALIBRATION)), backgrounds=backgrounds)
    add_extras(folder, {CALIBRATION: printed(calibration)})
    return calibration


def printed(calibration: Calibration) -> bytes:
    """The calibration as it stands in its file."""
    return msgspec.json.format(msgspec.json.encode(calibration, order="sorted"), indent=1) + b"\n"


def main(folder: str | None = None) -> None:
    """Calibrates the space in a folder; without one the embedded space, and writes that into the package."""
    from likewise.semantics.space import Space
    from likewise.semantics.wordnet.unpacked import embedded_files

    if folder is not None:
        calibrate_folder(folder)
        print(f"calibrated {folder}")
        return
    target = Path(str(resources.files("likewise") / "data")) / CALIBRATION
    calibration = fit(Space(embedded_files()), unpack(packed(WORDNET)))
    target.write_bytes(printed(calibration))
    print(f"wrote {target}: midpoint {calibration.midpoint}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
