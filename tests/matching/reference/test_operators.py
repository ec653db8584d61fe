"""Every operator of the language has a rule in every implementation, and none can be left out unnoticed."""

from __future__ import annotations

import pytest

import likewise.edge.demand
import likewise.matching.bitmap.condition_rows
import likewise.matching.classical.sgim
import likewise.matching.covering.compatibility
import likewise.matching.demand.compiler
import likewise.matching.forest.predicate_table
import likewise.matching.thematic.posting_lists  # noqa: F401  each registers its rules when it is imported
from likewise.matching.bitmap.engine import BitmapEngine
from likewise.matching.classical.sgim import SgimEngine
from likewise.matching.engine import BaseEngine
from likewise.matching.forest.engine import ForestEngine
from likewise.matching.reference.operators import BACKENDS, meets, register_operators, registered_operators
from likewise.matching.thematic.engine import ThematicEngine
from likewise.model import Condition, Event, Predicate, Subscription
from likewise.model.event import EventTuple
from likewise.model.predicate import OPERATORS, Operand
from likewise.model.values import Interval

VALUES = (1, 2.5, 4, True, "warm", "a/b", "a.b", "c/a", "4")
OPERANDS: dict[str, tuple[Operand, ...]] = {
    "exists": (None,),
    "=": (2.5, "warm", True),
    "!=": (2.5, "warm", True),
    "<": (2.5,),
    "<=": (2.5,),
    ">": (2.5,),
    ">=": (2.5,),
    "between": (Interval(1.0, 2.5),),
    "in": ((2.5, "warm"),),
    "contains": ("a",),
    "starts with": ("a",),
    "ends with": ("a", "b"),
    "under": ("a",),
    "is-a": ("a",),
    "matches": ("a/+",),
}


@pytest.mark.parametrize("backend", ["reference", "covering", *BACKENDS])
def test_every_backend_has_a_rule_for_every_operator(backend: str) -> None:
    assert set(registered_operators(backend)) == set(OPERATORS)


@pytest.mark.parametrize("missing", OPERATORS)
def test_a_backend_that_lacks_an_operator_is_refused(missing: str) -> None:
    with pytest.raises(LookupError, match="has no rule for"):
        register_operators("incomplete", {operator: True for operator in OPERATORS if operator != missing})


def test_a_rule_for_something_that_is_no_operator_is_refused() -> None:
    with pytest.raises(LookupError, match="near"):
        register_operators("unknown", dict.fromkeys((*OPERATORS, "near"), True))


@pytest.mark.parametrize("make", [BitmapEngine, ThematicEngine, ForestEngine, SgimEngine])
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_engine_means_the_same_by_an_operator(operator: str, make: type[BaseEngine]) -> None:
    for operand in OPERANDS[operator]:
        predicate = Predicate("x", operator, operand)  # type: ignore[arg-type]  # one of OPERATORS
        engine = make()
        engine.add(0, Subscription(Condition((predicate,)), id="s"), 0)
        for value in VALUES:
            item = EventTuple("x", value)
            matches = bool(len(engine.find(Event((item,)), 0).ordinals))
            assert matches == bool(meets(predicate, item)), (predicate, value)
