"""Facets in words: what a name is understood to say, and why two names are, or are not, the same reading."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.semantics.concepts.comparison import FacetAgreement, FacetDifference
from likewise.semantics.concepts.facets import Facets

_ROLES = {"": "the reading itself", "unit": "its unit", "configuration": "a setting for it", "rated": "its rating"}


def describe_facets(facets: Facets) -> str:
    """What a name says.

    >>> describe_facets(Facets(("temperature",), role="setpoint", certainty="head"))
    'temperature; its setpoint'
    """
    said = [" or ".join(facets.kinds) or "nothing that is known"]
    said += [f"which one: {', '.join(q.name for q in facets.qualifiers)}"] if facets.qualifiers else []
    said += [f"number {' and '.join(facets.numbers)}"] if facets.numbers else []
    if facets.role and facets.kinds != (facets.role,):
        said.append(_role(facets.role))
    said += [f"in a unit of {facets.dimension}"] if facets.dimension else []
    basis = {"unit": "by its unit", "guess": "by a letter that may be a unit", "context": "by the text beside it"}
    return "; ".join([*said, basis[facets.certainty]] if facets.certainty in basis else said)


def explain_agreement(asked: Facets, seen: Facets, found: FacetAgreement) -> str:
    """Why two names are the same reading, or not, in one sentence.

    >>> pipe, air = Facets(("temperature",), certainty="head"), Facets(("temperature",), certainty="head")
    >>> explain_agreement(pipe, air, Agreement(0.9, (Difference("excluded", 0.3, "pipe", "air"),)))
    "both are temperature; you ask for the pipe's, this is the air's"
    """
    return "; ".join([_common(asked, seen, found), *(_difference(d, asked, seen) for d in found.differences)])


def _common(asked: Facets, seen: Facets, found: FacetAgreement) -> str:
    common = [kind for kind in asked.kinds if kind in seen.kinds]
    if common:
        return f"both are {common[0]}"
    if found.score > 0:
        return f"{_kinds(seen.kinds)} answers for {_kinds(asked.kinds)}"
    if asked.kinds and seen.kinds:
        return "they are of different kinds"
    return "what kind of reading one of them is, is not known"


def _difference(d: FacetDifference, asked: Facets, seen: Facets) -> str:
    match d.reason:
        case "kind":
            return f"you ask for {_kinds(asked.kinds)}, this is {_kinds(seen.kinds)}"
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
            return f"number {d.query} was asked for, this is {f'number {d.candidate}' if d.candidate else 'without a number'}"


def _role(role: str) -> str:
    return _ROLES.get(role, f"its {role}")


def _kinds(kinds: Sequence[str]) -> str:
    return " or ".join(kinds)
