"""Facets as sentences: the facets of a name, and why two names agree or differ."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.semantics.concepts.comparison import FacetAgreement, FacetDifference
from likewise.semantics.concepts.facets import Facets

_ROLES = {"": "the reading itself", "unit": "its unit", "configuration": "a setting for it", "rated": "its rating"}


def describe_facets(facets: Facets) -> str:
    """Describe the facets of a name.

    >>> describe_facets(Facets(("temperature",), role="setpoint", certainty="head"))
    'temperature; its setpoint'
    """
    clauses = [" or ".join(facets.kinds) or "nothing that is known"]
    clauses += [f"which one: {', '.join(q.name for q in facets.qualifiers)}"] if facets.qualifiers else []
    clauses += [f"number {' and '.join(facets.numbers)}"] if facets.numbers else []
    if facets.role and facets.kinds != (facets.role,):
        clauses.append(_role(facets.role))
    clauses += [f"in a unit of {facets.dimension}"] if facets.dimension else []
    basis = {"unit": "by its unit", "guess": "by a letter that may be a unit", "context": "by the text beside it"}
    return "; ".join([*clauses, basis[facets.certainty]] if facets.certainty in basis else clauses)


def explain_agreement(query: Facets, candidate: Facets, agreement: FacetAgreement) -> str:
    """Explain in one sentence why two names agree or differ.

    >>> pipe, air = Facets(("temperature",), certainty="head"), Facets(("temperature",), certainty="head")
    >>> explain_agreement(pipe, air, FacetAgreement(0.9, (FacetDifference("excluded", 0.3, "pipe", "air"),)))
    "both are temperature; you ask for the pipe's, this is the air's"
    """
    return "; ".join(
        [_common(query, candidate, agreement), *(_difference(d, query, candidate) for d in agreement.differences)]
    )


def _common(query: Facets, candidate: Facets, agreement: FacetAgreement) -> str:
    common = [kind for kind in query.kinds if kind in candidate.kinds]
    if common:
        return f"both are {common[0]}"
    if agreement.score > 0:
        return f"{_kinds(candidate.kinds)} answers for {_kinds(query.kinds)}"
    if query.kinds and candidate.kinds:
        return "they are of different kinds"
    return "what kind of reading one of them is, is not known"


def _difference(d: FacetDifference, query: Facets, candidate: Facets) -> str:
    match d.reason:
        case "kind":
            return f"you ask for {_kinds(query.kinds)}, this is {_kinds(candidate.kinds)}"
        case "role" | "statistic":
            return f"you ask for {_role(d.query)}, this is {_role(d.candidate)}"
        case "dimension":
            return f"units do not fit: {d.query or 'none'} was asked for, {d.candidate or 'none'} is stated"
        case "text":
            return (
                "a number was asked for, this is text"
                if d.candidate == "text"
                else "a number was asked for, this is yes or no"
            )
        case "excluded":
            both = f" (vocabularies name both: {d.names[0]!r}, {d.names[1]!r})" if any(d.names) else ""
            return f"you ask for the {d.query}'s, this is the {d.candidate}'s{both}"
        case "named":
            return f"vocabularies call one thing both {d.names[0]!r} and {d.names[1]!r}"
        case "covered":
            return f"{d.query} is assumed where nothing else is said"
        case "absent":
            return f"nothing says that it is the {d.query}'s"
        case "unasked":
            return f"it is the {d.candidate}'s, which was not asked for"
        case _:
            other = f"number {d.candidate}" if d.candidate else "without a number"
            return f"number {d.query} was asked for, this is {other}"


def _role(role: str) -> str:
    return _ROLES.get(role, f"its {role}")


def _kinds(kinds: Sequence[str]) -> str:
    return " or ".join(kinds)
