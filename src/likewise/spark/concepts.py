"""Public vocabularies as an inventory of concepts, on Spark.

RDF vocabularies are read in splits, their statements grouped by what they are about; lists of attribute names are
counted by model. What comes back to the driver is one row for each thing that a vocabulary names, never its text.
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
import pyarrow as pa

from likewise.errors import InputError
from likewise.semantics.concepts.facets import FacetParser
from likewise.semantics.concepts.inventory import Concept, Inventory
from likewise.semantics.concepts.library import core_inventory
from likewise.semantics.concepts.rows import print_rows
from likewise.semantics.concepts.vocabularies import brick, qudt
from likewise.semantics.concepts.vocabularies.entries import MEANING, entries
from likewise.semantics.concepts.vocabularies.names import model_names, ontology_names
from likewise.semantics.concepts.vocabularies.ontologies import ontology_concepts, properties
from likewise.semantics.concepts.vocabularies.plain_names import UsedName, name_concepts
from likewise.semantics.library import load_space
from likewise.spark.ingest.files import MalformedStatements, RdfSplit, rdf_splits, read_split

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ArrowPass = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_STATEMENTS: Final = "subject string, predicate string, object string"
_NAMES: Final = "name string, type string, model string"
_BATCH: Final = 10_000


class ConceptsSummary(msgspec.Struct, frozen=True):
    """The result of a build: for each source its files, names, concepts, and licence."""

    out: str
    concepts: int
    bytes: int
    sources: tuple[SourceCount, ...]


class SourceCount(msgspec.Struct, frozen=True):
    """One file of a vocabulary."""

    file: str
    source: str
    named: int
    concepts: int


class VocabularySource(msgspec.Struct, frozen=True):
    """A file and what it is: `brick`, `qudt`, `ontology` (SKOS, OWL, RDFS) or `names` (JSON: FIWARE, Zigbee2MQTT)."""

    path: str
    form: str
    source: str


FORMS: Final = ("brick", "qudt", "ontology", "names")


def extract_concepts(
    spark: SparkSession, vocabulary: VocabularySource, parser: FacetParser
) -> tuple[list[Concept], int]:
    """Extract a vocabulary's concepts, its names, and how many things it names."""
    if vocabulary.form == "names":
        used = _used_names(spark, vocabulary.path)
        return [*name_concepts(used, parser, vocabulary.source), *model_names(used, vocabulary.source)], len(used)
    if vocabulary.form not in FORMS:
        raise InputError(f"no vocabulary has the form {vocabulary.form!r}; there are {', '.join(FORMS)}")
    grouped = _statements(spark, rdf_splits(vocabulary.path)).collect()
    read = entries((row["subject"], pair["predicate"], pair["object"]) for row in grouped for pair in row["said"])
    if vocabulary.form == "brick":
        made = brick.brick_concepts(read, parser.inventory)
        named = [e for e in read if e.iri.startswith(brick.NAMESPACE)]
    elif vocabulary.form == "qudt":
        made, named = qudt.qudt_concepts(read, parser), [e for e in read if qudt.KIND in e.types]
    else:
        known, named = parser.inventory, read
        concepts = ontology_concepts(properties(read), vocabulary.source)
        made = [c for c in concepts if c.name not in known.kinds and not parser.names_a_kind(c.name)]
    return [*made, *ontology_names(named, vocabulary.source)], len(read)


def _statements(spark: SparkSession, splits: Sequence[RdfSplit]) -> DataFrame:
    """Yield the statements that count, by subject."""
    from pyspark.sql import functions as f

    numbers = spark.range(0, len(splits), 1, numPartitions=len(splits))
    statements = numbers.mapInArrow(_read(splits), _STATEMENTS)
    pairs = f.sort_array(f.collect_set(f.struct("predicate", "object")))
    return statements.groupBy("subject").agg(pairs.alias("said")).orderBy("subject")


def _read(splits: Sequence[RdfSplit]) -> ArrowPass:
    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (i for row in rows for i in row.column(0).to_numpy().tolist()):
            bad = MalformedStatements()
            counting = (parts for parts in read_split(splits[number], bad) if parts[1][1:-1] in MEANING)
            yield from _batched(counting, ["subject", "predicate", "object"])
            if bad.count:
                raise InputError(f"{splits[number].path} cannot be read: {bad.examples[0]}")

    return run


def _used_names(spark: SparkSession, path: str) -> list[UsedName]:
    """Return every attribute's name with its most common type and the models that use it."""
    from pyspark.sql import functions as f

    if not Path(path).is_file():
        raise InputError(f"there is no file {path}; name a JSON list of attributes")
    numbers = spark.range(0, 1, 1, numPartitions=1)
    named = numbers.mapInArrow(_read_names(path), _NAMES)
    counted = named.groupBy("name").agg(
        f.mode("type").alias("type"), f.sort_array(f.collect_set("model")).alias("models")
    )
    return [UsedName(row["name"], row["type"] or "", tuple(row["models"])) for row in counted.orderBy("name").collect()]


def _read_names(path: str) -> ArrowPass:
    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in rows:
            yield from _batched(_names_in(path), ["name", "type", "model"])

    return run


def _names_in(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield names of FIWARE's list of all attributes, or of lines of devices with what each exposes."""
    opener: Any = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        first = file.read(1)
        file.seek(0)
        listed: Iterable[Any] = json.load(file) if first == "[" else map(json.loads, file)
        for item in listed:
            if "exposes" in item:
                for exposed in item["exposes"]:
                    if exposed.get("property"):
                        yield exposed["property"], exposed.get("type", ""), str(item.get("model", ""))
            elif item.get("property"):
                yield item["property"], str(item.get("type", "")), str(item.get("dataModel", ""))


def _batched(rows: Iterable[tuple[str, ...]], names: list[str]) -> Iterator[pa.RecordBatch]:
    pending: list[tuple[str, ...]] = []

    def batch() -> pa.RecordBatch:
        columns = [pa.array([row[i] for row in pending], pa.string()) for i in range(len(names))]
        return pa.RecordBatch.from_arrays(cast(Any, columns), names=names)

    for row in rows:
        pending.append(row)
        if len(pending) == _BATCH:
            yield batch()
            pending = []
    if pending:
        yield batch()


def build_concepts(spark: SparkSession, vocabularies: Sequence[VocabularySource], out: Path) -> ConceptsSummary:
    """Write the concepts of vocabularies, beside those of the core, to a file: `.csv`, or `.csv.xz` compressed.

    Vocabularies that come first win where two say the same.
    """
    parser = FacetParser(core_inventory(), load_space().vectors.has_word)
    built: list[Concept] = []
    counts = []
    for vocabulary in vocabularies:
        concepts, named = extract_concepts(spark, vocabulary, parser)
        names_in_use = {(c.sort, c.name) for c in built}
        fresh = [c for c in concepts if c.sort in ("qualifier", "name") or (c.sort, c.name) not in names_in_use]
        built += fresh
        counts.append(SourceCount(vocabulary.path, vocabulary.source, named, len(fresh)))
    built.sort(key=lambda concept: concept.sort == "name")  # names stand last, as `library` expects
    text = print_rows(built).encode()
    Inventory((*core_inventory().concepts, *built))  # refuses what cannot be used, before anything is written
    data = lzma.compress(text, preset=9) if out.name.endswith(".xz") else text
    out.write_bytes(data)
    return ConceptsSummary(str(out), len(built), len(data), tuple(counts))
