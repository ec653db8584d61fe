"""Observed values: of a source, of one of its attributes, of an attribute name over all sources."""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec


class ObservedAttribute(NamedTuple):
    """An observed attribute of a source; numbers are NaN where it had none."""

    attribute: str
    unit: str
    times: int
    kinds: int  # bits: 1 text, 2 number, 4 Boolean, 8 whole number
    low: float
    high: float
    last: int
    number: float
    text: str
    line: tuple[float, ...]
    every: float = math.nan  # the usual time between two of its readings in seconds


class ObservedSource(NamedTuple):
    """An observed source; `interval` is the usual time between two readings in seconds, NaN after one."""

    source: str
    events: int
    first: int
    last_seen: int
    interval: float
    readings: tuple[ObservedAttribute, ...]


class ObservedName(NamedTuple):
    """An attribute name with a unit over all sources: how often, in how many sources, which kinds and numbers."""

    attribute: str
    unit: str
    times: int
    sources: int
    kinds: int
    low: float
    high: float
    last: int


class ProfileState(msgspec.Struct, frozen=True):
    """The texts of saved profiles; `shape` is each source's index in `shapes`, `last` the last text of a row."""

    sources: list[str]
    names: list[tuple[str, str]]
    texts: list[dict[str, int]]
    shapes: list[tuple[int, ...]]
    shape: list[int]
    last: list[str]
    left_out: dict[str, int]
