"""The yardstick for conditions of every form: try each subscription as it is written, with early exit.

A condition is a list of conjunctions, a conjunction a list of (attribute, test), a test a Python function of one value;
an event is a dict of lists of values. What a careful user would write by hand, prepared as far as it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Test = Callable[[object], bool]
Conjunction = Sequence[tuple[str, Test, bool]]  # attribute, test, whether it is negated
Seen = dict[str, list[object]]


class PlainScan:
    """Pure Python: subscriptions in turn, conjunctions in turn, tests until one fails."""

    def __init__(self, subscriptions: Sequence[Sequence[Conjunction]]) -> None:
        self.subscriptions = list(enumerate(subscriptions))

    def find(self, seen: Seen) -> list[int]:
        found = []
        for index, conjunctions in self.subscriptions:
            for conjunction in conjunctions:
                for attribute, test, negated in conjunction:
                    values = seen.get(attribute)
                    if values is None:
                        if not negated:
                            break
                    elif any(test(value) for value in values) == negated:
                        break
                else:
                    found.append(index)
                    break
        return found
