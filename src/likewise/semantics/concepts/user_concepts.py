"""Vocabularies of the user: read in any supported format, checked as a whole, added in one step."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from likewise.errors import FormatError, InputError
from likewise.semantics.concepts.encyclopaedia.entries import DomainEntry, inventory_concepts, is_domain, read_entries
from likewise.semantics.concepts.encyclopaedia.form import problems
from likewise.semantics.concepts.facets import FacetParser
from likewise.semantics.concepts.inventory import Concept, Inventory, Sort
from likewise.semantics.concepts.library import (
    added_concepts,
    added_vocabularies,
    concepts_folder,
    shipped_concepts,
    shipped_entries,
)
from likewise.semantics.concepts.rows import numbered_rows, print_rows, read_rows
from likewise.semantics.concepts.vocabularies.entries import entries
from likewise.semantics.concepts.vocabularies.mappings import mapped_concepts
from likewise.semantics.concepts.vocabularies.ontologies import ontology_concepts

RDF: Final = {
    "ttl": "TURTLE",
    "n3": "TURTLE",
    "nt": "N_TRIPLES",
    "rdf": "RDF_XML",
    "owl": "RDF_XML",
    "xml": "RDF_XML",
    "jsonld": "JSON_LD",
}
MAX_BYTES: Final = 64 * 2**20


def read_vocabulary(path: Path, sort: Sort = "kind") -> list[Concept]:
    """Return the concepts of a file. Its extension tells the format: CSV, SSSOM (.tsv), or RDF (SKOS, OWL, RDFS).

    `sort` is what the entries of RDF are.

    Args:
        path: The file.
        sort: Sort of the concepts that entries of RDF become.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}; name a CSV, SSSOM or RDF file")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path} is larger than {MAX_BYTES >> 20} MiB; add the part of it that you need")
    ending = path.suffix.lstrip(".").lower()
    if ending in RDF:
        return _rdf(path, RDF[ending], sort)
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name} is not UTF-8 at byte {error.start:,}") from None
    if ending == "csv":
        return read_rows(text, path.stem)
    if ending == "tsv":
        return mapped_concepts(text, path.stem)
    raise InputError(f"{path.name}: expected a name ending in .csv, .tsv (SSSOM) or .{', .'.join(RDF)}")


def _rdf(path: Path, format: str, sort: Sort) -> list[Concept]:
    import pyoxigraph

    try:
        quads = pyoxigraph.parse(
            path.read_bytes(), format=getattr(pyoxigraph.RdfFormat, format), base_iri=path.absolute().as_uri()
        )
        statements = [(str(q.subject), str(q.predicate), str(q.object)) for q in quads]
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise FormatError(f"{path.name}{f', line {line}' if line else ''}: {error}") from None
    concepts = ontology_concepts(entries(statements), path.stem, sort)
    if not concepts:
        raise FormatError(f"{path.name} names no concept: expected skos:Concept, classes or properties with labels")
    return concepts


def merged_inventory(concepts: list[Concept], name: str) -> Inventory:
    """The inventory as it would be with a vocabulary; a cycle, or a concept without a word, is refused."""
    others = [c for path in added_vocabularies() if path.stem != name for c in added_concepts(path)]
    return Inventory((*concepts, *others, *shipped_concepts()))


def _domain_text(path: Path) -> str:
    """The text of a file that is a domain of the encyclopaedia, '' if it is not one."""
    if path.suffix.lower() != ".csv" or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return ""
    text = path.read_text("utf-8-sig", errors="replace")
    return text if is_domain(text) else ""


def domain_faults(entries: Sequence[DomainEntry], inventory: Inventory) -> list[str]:
    """What is wrong with the form of domains, taken together with the encyclopaedia that ships.

    Args:
        entries: the entries of the domains.
        inventory: the inventory with these entries in it.

    Returns:
        A message with the line for each fault in these domains.
    """
    parser = FacetParser(inventory, inventory.has_label)  # plain words: what is not listed would be a fault
    names = {entry.domain for entry in entries}
    others = [entry for entry in shipped_entries() if entry.domain not in names]
    found = problems((*others, *entries), inventory, parser)
    return [fault for fault in found if fault.partition(", line ")[0] in names]


def _refuse_faults(entries: Sequence[DomainEntry], inventory: Inventory) -> None:
    faults = domain_faults(entries, inventory)
    if faults:
        more = f" (and {len(faults) - 1} more: `likewise concepts check`)" if len(faults) > 1 else ""
        raise FormatError(f"{faults[0]}{more}")


def _refuse_unknown_broader(path: Path, inventory: Inventory) -> None:
    """Refuse a row whose broader concept is neither in the file nor known, with the same sort."""
    for line, concept in numbered_rows(path.read_text("utf-8-sig"), path.stem):
        known = inventory.qualifiers if concept.sort == "qualifier" else inventory.kinds
        for name in concept.broader:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"add a row for it, of the sort {concept.sort}"
                raise FormatError(
                    f"{path.stem}, line {line}: nothing is named {name!r}, which is given as broader; {hint}"
                )


def add_vocabulary(path: Path, name: str | None = None, sort: Sort = "kind") -> tuple[Path, list[Concept]]:
    """Add the concepts of a file under a name (the file's by default), all or none. An equal name is replaced.

    Args:
        path: The file.
        name: Name of the vocabulary. Default: the file's.
        sort: Sort of the concepts that entries of RDF become.

    Returns:
        The stored file and its concepts.

    Raises:
        FormatError: A row is invalid or names an unknown broader concept.
        InputError: The file is missing or too large, or the concepts form a cycle.
    """
    chosen = name or path.stem
    if not re.fullmatch(r"[\w.-]{1,100}", chosen):
        raise InputError(f"a vocabulary's name has letters, digits, '-', '_' and '.', found {chosen!r}; give another")
    text = _domain_text(path)
    concepts = inventory_concepts(read_entries(text, path.stem)) if text else read_vocabulary(path, sort)
    inventory = merged_inventory(concepts, chosen)
    if text:
        _refuse_faults(read_entries(text, path.stem), inventory)
    elif path.suffix.lower() == ".csv":
        _refuse_unknown_broader(path, inventory)
    folder = concepts_folder()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{chosen}.csv"
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False, encoding="utf-8") as out:
        out.write(text or print_rows(concepts))
        out.flush()
        os.fsync(out.fileno())
    os.replace(out.name, target)
    return target, concepts


def remove_vocabulary(name: str) -> None:
    """Remove an added vocabulary."""
    path = concepts_folder() / f"{name}.csv"
    if path not in added_vocabularies():
        known = ", ".join(p.stem for p in added_vocabularies()) or "none"
        raise InputError(f"no vocabulary {name!r} was added; there are {known}")
    path.unlink()
