"""The statements of one subject as one event, in plain words (sources.md H).

Hasan, O'Riain and Curry, "Approximate Semantic Matching of Heterogeneous Events", DEBS 2012, section 6.1:
the last part of a URI, underscores to blanks, camel case split, nouns singular, literals in another
language than English dropped. The graph keeps every statement as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from likewise.defaults import MAX_TERM_LENGTH
from likewise.formats.rdf.reader import event_from_triples
from likewise.matching.reference.statement_terms import plain_words, term_text
from likewise.model.event import Event, EventTuple
from likewise.model.rdf import RDF_TYPE, Triple, last_part


def is_wanted(graph: Sequence[Triple], classes: Collection[str]) -> bool:
    """Whether a subject's statements give it one of the classes: IRIs, with or without < >, or their last parts.

    >>> is_wanted([Triple("<x:a>", RDF_TYPE, "<http://e.org/Match>")], ["Match"])
    True
    """
    if not classes:
        return True
    kinds = [t.object for t in graph if t.predicate == RDF_TYPE]
    return any(k in classes or k[1:-1] in classes or last_part(k) in classes for k in kinds)


def event_of(graph: tuple[Triple, ...], *, as_written: bool = False) -> Event:
    """The event of one subject's statements; its id is the subject's IRI.

    `as_written` leaves the words of attributes and values as their IRIs spell them.

    >>> g = (Triple("<x:m>", "<http://e.org/homeTeams>", "<http://e.org/FC_Galway>"),
    ...      Triple("<x:m>", "<http://e.org/goals>", '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ...      Triple("<x:m>", "<http://e.org/label>", '"Spiel"@de'))
    >>> [(t.attribute, t.value) for t in event_of(g).tuples], len(event_of(g).graph)
    ([('home Team', 'FC Galway'), ('goal', 3)], 3)
    """
    subject = graph[0].subject
    id = subject[1:-1] if subject.startswith("<") else None
    if as_written:
        return event_from_triples(graph, id=id)
    return Event(tuple(item for triple in graph for item in _tuples(triple)), id=id, graph=graph)


def _tuples(triple: Triple) -> tuple[EventTuple, ...]:
    attribute = plain_words(term_text(triple.predicate) or "")
    text = term_text(triple.object)
    if not attribute or text is None or len(attribute) > MAX_TERM_LENGTH:
        return ()
    if triple.object.endswith(">") and triple.object.startswith('"'):  # a literal with a type may be a number
        typed = event_from_triples((triple,)).tuples
        if typed and not isinstance(typed[0].value, str):
            return (EventTuple(attribute, typed[0].value),)
    value = plain_words(text)
    return (EventTuple(attribute, value),) if value and len(value) <= MAX_TERM_LENGTH else ()
