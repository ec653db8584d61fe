"""Immutable values of the domain: events, subscriptions, matches, mappings, explanations.

All are immutable and hashable. Those that only hold text, numbers and other such values can form no
cycle, so the garbage collector need not follow them (`gc=False`): a million subscriptions do not slow
it down. Everything a subscription consists of refuses fields it does not know.
"""

from likewise.model import rendering  # noqa: F401  # it defines how the values below are rendered
from likewise.model.alerts.clauses import Alert, SelectColumn
from likewise.model.condition import (
    All,
    Any,
    Conjunction,
    ItemConjunction,
    Node,
    Not,
    Some,
    conjunctions,
    merge_comparisons,
)
from likewise.model.event import Event, EventTuple, contexts
from likewise.model.explanation import Explanation, PredicateReport, Verdict
from likewise.model.flatten import event
from likewise.model.mapping import Correspondence, Mapping
from likewise.model.match import Match
from likewise.model.matches.batch import MatchBatch, Promotion
from likewise.model.predicate import OPERATORS, Operator, Predicate
from likewise.model.rdf import Triple, TriplePattern, is_variable
from likewise.model.subscription import (
    Body,
    Condition,
    Distance,
    GraphPattern,
    Interest,
    Kind,
    NearbyTriple,
    Relatedness,
    Scoring,
    Statement,
    Statements,
    Subscription,
    Top,
    ValueOf,
    WeightedSum,
)
from likewise.model.text import fold
from likewise.model.timestamps import MOMENT, TimestampValue, parse_timestamp
from likewise.model.values import Interval, Quantity, read_number
from likewise.units import Unit, find_unit, reading_unit, unit, units_in_name

__all__ = [
    "MOMENT",
    "OPERATORS",
    "Alert",
    "All",
    "Any",
    "Body",
    "Condition",
    "Conjunction",
    "Correspondence",
    "Distance",
    "Event",
    "EventTuple",
    "Explanation",
    "GraphPattern",
    "Interest",
    "Interval",
    "ItemConjunction",
    "Kind",
    "Mapping",
    "Match",
    "MatchBatch",
    "NearbyTriple",
    "Node",
    "Not",
    "Operator",
    "Predicate",
    "PredicateReport",
    "Promotion",
    "Quantity",
    "Relatedness",
    "Scoring",
    "SelectColumn",
    "Some",
    "Statement",
    "Statements",
    "Subscription",
    "TimestampValue",
    "Top",
    "Triple",
    "TriplePattern",
    "Unit",
    "ValueOf",
    "Verdict",
    "WeightedSum",
    "conjunctions",
    "contexts",
    "event",
    "find_unit",
    "fold",
    "is_variable",
    "merge_comparisons",
    "parse_timestamp",
    "read_number",
    "reading_unit",
    "unit",
    "units_in_name",
]
