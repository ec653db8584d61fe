"""The states of a triple automaton: what its transitions lead through, and where they end."""

from __future__ import annotations

from typing import Generic, TypeVar


class Final:
    """A final state: the numbers of its patterns."""

    __slots__ = ("id", "numbers")

    def __init__(self, id: int) -> None:
        self.id = id
        self.numbers: list[int] = []


Target = TypeVar("Target")


class State(Generic[Target]):
    """An inner state: where constants, by label, and `?` lead."""

    __slots__ = ("id", "next", "rest")

    def __init__(self, id: int) -> None:
        self.id = id
        self.next: dict[int, Target] = {}
        self.rest: Target | None = None


Second = State[Final]  # subject and predicate are read
First = State[Second]  # the subject is read
