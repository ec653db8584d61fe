"""Targets of compiled code: this processor, and the fixed levels that portable kernels are compiled for."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import llvmlite.binding as llvm


class CodeTarget(NamedTuple):
    """What LLVM compiles for, as numba names it."""

    triple: str
    cpu: str
    features: str


# What a processor must have for each level, by LLVM's names; the best level comes first.
_V2: Final = frozenset({"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"})
LEVELS: Final[dict[str, dict[str, frozenset[str]]]] = {
    "x86_64": {
        "x86-64-v3": _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"},
        "x86-64-v2": _V2,
    },
    "aarch64": {"generic": frozenset({"neon"})},
    "arm64": {"generic": frozenset({"neon"})},
}


@cache
def triple() -> str:
    """Return the system that code is compiled for, such as `x86_64-unknown-linux-gnu`."""
    return str(llvm.get_default_triple())


@cache
def host_features() -> frozenset[str]:
    """Return the features that the processor and its operating system offer."""
    return frozenset(name for name, present in llvm.get_host_cpu_features().items() if present)


def host() -> CodeTarget:
    """Return the target of code for this very processor."""
    return CodeTarget(triple(), llvm.get_host_cpu_name(), " ".join(sorted(host_features())))


def levels() -> list[str]:
    """Return the levels that this processor meets, the best first; code of any other level may end the process."""
    known = LEVELS.get(triple().partition("-")[0], {})
    return [level for level, needed in known.items() if needed <= host_features()]


def portable(level: str) -> CodeTarget:
    """Return the target of code for every processor that meets a level.

    >>> portable("x86-64-v3").cpu
    'x86-64-v3'
    """
    return CodeTarget(triple(), level, "")
