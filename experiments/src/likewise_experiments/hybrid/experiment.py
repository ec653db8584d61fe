"""The hybrid matcher's experiment: statements against RDF events, by JCn, by ESA and by both (sources.md H).

Hasan, O'Riain and Curry, DEBS 2012, section 6. Which events are relevant to a subscription is said by a SPARQL
pattern over the events' own triples. Precision is interpolated at eleven recall points and averaged over the
subscriptions that have relevant events; the maximal F1 of that mean curve is reported.
"""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Sequence
from importlib import resources
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.errors import ArtefactMissing, FormatError
from likewise.formats.json.events import event_from_json
from likewise.formats.rdf.reader import events_from_rdf
from likewise.language import parse
from likewise.language.prefixes import PREFIXES
from likewise.matching.hybrid.statements import HybridEngine
from likewise.matching.reference.statement_terms import event_statements, plain_words
from likewise.model import Event
from likewise.model.subscription import Statements
from likewise.model.text import fold
from likewise.semantics.measure import Measure, Term
from likewise_experiments.hybrid.dated_events import NAMESPACE as ICEWS
from likewise_experiments.hybrid.dated_events import is_dated_events, triples_of_dated_events
from likewise_experiments.hybrid.freebase import freebase_events, is_freebase
from likewise_experiments.progress import counting
from likewise_experiments.ranking import RECALL_POINTS, interpolated_precision, maximal_f1

if TYPE_CHECKING:
    from rich.console import Console

RANKS = range(1, 7)  # the m of Top_m the paper tries
VARIANTS: Final = ("hybrid", "jcn", "esa", "sameness")  # of these others stand for fP and fV both
BINS: Final = 10  # of a histogram


class EventSet(NamedTuple):
    """An event set with subscriptions of its own: the file's usual name, and what the paper found on its own sets."""

    title: str
    file: str
    subscriptions: str
    paper: str


SETS: Final = {
    "infoboxes": EventSet(
        "Events from infoboxes",
        "event-infobox-triples.nt.gz",
        "infobox_subscriptions.jsonl",
        "hybrid 0.755, jcn 0.701, esa 0.443 (Wikipedia’s events)",
    ),
    "icews": EventSet(
        "Dated political events",
        "icews_2014_valid.txt.gz",
        "icews_subscriptions.jsonl",
        "hybrid 0.763, jcn 0.446, esa 0.707 (Freebase’s events)",
    ),
}


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One subscription: what is needed, how it is asked, and the pattern that finds the relevant ?event."""

    id: str
    text: str
    relevant: str
    need: str = ""


class Curve(msgspec.Struct, frozen=True):
    """How one variant did: the mean interpolated precision, its maximal F1, and each subscription's own."""

    variant: str
    m: int
    maximal_f1: float
    precision: tuple[float, ...]
    by_subscription: dict[str, float]


class Report(msgspec.Struct, frozen=True):
    """The experiment's outcome."""

    events: int
    relevant: dict[str, int]
    left_out: tuple[str, ...]
    curves: tuple[Curve, ...]
    histograms: dict[str, tuple[int, ...]] = {}

    @property
    def variants(self) -> tuple[str, ...]:
        """The measures compared, in their order."""
        return tuple(dict.fromkeys(curve.variant for curve in self.curves))

    def best(self, variant: str, m: int) -> Curve:
        """One of the curves."""
        return next(c for c in self.curves if c.variant == variant and c.m == m)


def shipped_subscriptions(name: str = "infoboxes") -> tuple[Asked, ...]:
    """Seven subscriptions in the form of the paper's Table 3, adapted to one of the `SETS`.

    >>> [len(shipped_subscriptions(name)) for name in SETS]
    [7, 7]
    """
    file = SETS[name].subscriptions
    return _asked((resources.files("likewise_experiments.hybrid") / file).read_bytes(), file)


def read_subscriptions(said: str | Path) -> tuple[Asked, ...]:
    """Those of one of the `SETS`, by name, or of a file: a JSON object a line with id, text, relevant (SPARQL)."""
    if str(said) in SETS:
        return shipped_subscriptions(str(said))
    path = Path(said)
    if not path.is_file():
        raise ArtefactMissing(f"there is no file {path} with subscriptions; name one, or {' or '.join(SETS)}")
    return _asked(path.read_bytes(), str(path))


def _asked(raw: bytes, name: str) -> tuple[Asked, ...]:
    found = []
    for number, line in enumerate(raw.splitlines(), 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=Asked))
            except msgspec.MsgspecError as error:
                raise FormatError(f"{name}, line {number}: {error}; expected id, text and relevant") from None
    return tuple(found)


def read_events(path: Path) -> tuple[list[Event], bytes, str]:
    """The events of an RDF file (.nt, .ttl, ... also .gz or .bz2), its text and its format.

    Lines of dated events (.txt, .tsv) are made RDF first; a folder holds what `likewise ingest` wrote; names take
    the place of Freebase's ids.
    """
    if path.is_dir():
        return _ingested(path)
    if not path.is_file():
        raise ArtefactMissing(f"there is no file {path} with RDF events")
    opening: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
    name = path.name
    if path.suffix in opening:
        name = path.stem
        with opening[path.suffix](path) as stream:
            raw = stream.read()
    else:
        raw = path.read_bytes()
    if is_dated_events(name):
        raw, name = triples_of_dated_events(raw, path.name), "events.nt"
    format = Path(name).suffix.removeprefix(".") or "nt"
    events = list(events_from_rdf(raw, format))
    return _with_names(events), raw, format


def _ingested(folder: Path) -> tuple[list[Event], bytes, str]:
    files = sorted(folder.glob("events-*.jsonl"))
    if not files:
        raise ArtefactMissing(f"{folder} holds no events-*.jsonl; write them with likewise ingest --to jsonl")
    events = [event_from_json(line) for path in files for line in path.read_bytes().splitlines()]
    lines = (f"{t.subject} {t.predicate} {t.object} .\n" for event in events for t in event.graph)
    return _with_names(events), "".join(lines).encode(), "nt"


def _with_names(events: list[Event]) -> list[Event]:
    triples = [t for event in events for t in event.graph]
    return freebase_events(triples) if is_freebase(triples) else events


def relevant_events(raw: bytes, format: str, asked: Sequence[Asked]) -> dict[str, set[str]]:
    """For each subscription the subjects its pattern finds."""
    from pyoxigraph import QuerySolutions, RdfFormat, Store

    store = Store()
    store.load(raw, RdfFormat.from_extension(format))
    known = PREFIXES | {"icews": ICEWS}
    head = "".join(f"PREFIX {name}: <{uri}>\n" for name, uri in known.items())
    found = {}
    for one in asked:
        try:
            rows = store.query(f"{head}SELECT DISTINCT ?event WHERE {{ {one.relevant} }}")
        except SyntaxError as error:
            raise FormatError(f"subscription {one.id}: its pattern is not SPARQL ({error})") from None
        assert isinstance(rows, QuerySolutions)  # it was a SELECT
        found[one.id] = {str(row["event"]) for row in rows}
    return found


def experiment(
    events: Sequence[Event],
    relevant: dict[str, set[str]],
    asked: Sequence[Asked],
    named: Callable[[str], Measure],
    ranks: Sequence[int] = RANKS,
    console: Console | None = None,
    variants: Sequence[str] = VARIANTS,
) -> Report:
    """Every variant and m over all events; subscriptions without relevant events are left out.

    A variant is `hybrid`, or the name of a measure that stands for fP and fV both, as in the paper's Figure 5.
    """
    subjects = [event.graph[0].subject for event in events]
    kept = [one for one in asked if relevant[one.id] & set(subjects)]
    truth = np.array([[subject in relevant[one.id] for subject in subjects] for one in kept])
    curves = []
    with counting("variants", len(variants) * len(ranks), console) as tell:
        for variant, m in product(variants, ranks):
            scores = _scores(events, kept, named, m, variant)
            precision = np.mean([interpolated_precision(s, t) for s, t in zip(scores, truth, strict=True)], axis=0)
            best = np.max(2 * precision * RECALL_POINTS / np.maximum(precision + RECALL_POINTS, 1e-12))
            own = {one.id: maximal_f1(s, t) for one, s, t in zip(kept, scores, truth, strict=True)}
            curves.append(Curve(variant, m, float(best), tuple(precision.tolist()), own))
            tell(len(curves))
    counts = {one.id: int(row.sum()) for one, row in zip(kept, truth, strict=True)}
    left_out = tuple(one.id for one in asked if one.id not in counts)
    return Report(len(events), counts, left_out, tuple(curves), _histograms(events, kept, named))


def _histograms(
    events: Sequence[Event], asked: Sequence[Asked], named: Callable[[str], Measure]
) -> dict[str, tuple[int, ...]]:
    """Count the scores of fP by JCn and of fV by ESA in tenths, over distinct pairs (the paper's Figure 6).

    The pairs are each asked property with the events' properties, and each asked value with their values.
    """
    statements = [statement for event in events for statement in event_statements(event)]
    bodies = [parse(one.text).body for one in asked]
    wanted = [statement for body in bodies if isinstance(body, Statements) for statement in body.items]
    counts = {}
    for name, role, query, candidates in (
        ("jcn", "attribute", {s.property for s in wanted}, {s.property for s in statements}),
        ("esa", "value", {s.value for s in wanted}, {s.value for s in statements}),
    ):
        terms = [
            [Term(fold(plain_words(text)), role, kind="text") for text in sorted(texts)]  # type: ignore[arg-type]
            for texts in (query, candidates)
        ]
        scores = named(name).matrix(*terms)
        counts[name] = tuple(np.histogram(scores, bins=BINS, range=(0, 1))[0].tolist())
    return counts


def _scores(
    events: Sequence[Event], asked: Sequence[Asked], named: Callable[[str], Measure], m: int, variant: str
) -> NDArray[np.float64]:
    if variant == "hybrid":
        engine = HybridEngine(named("jcn"), named("esa"), m=m)
    else:  # one measure ranks and relates
        engine = HybridEngine(named(variant), named(variant), m=m, variant="jcn")
    for ordinal, one in enumerate(asked):
        engine.add(ordinal, parse(one.text, id=one.id), 0)
    return np.array([engine.relevances(event) for event in events]).T
