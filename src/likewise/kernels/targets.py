"""Targets of compiled code: this processor, and the fixed levels that portable kernels are compiled for."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

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
    return _without_version(str(llvm.get_default_triple()))


def _without_version(name: str) -> str:
    """Return a system's name without the version of macOS: code of one runs on the next.

    >>> _without_version("arm64-apple-darwin23.1.0")
    'arm64-apple-darwin'
    """
    system, darwin, _ = name.partition("darwin")
    return system + darwin


def target_of(codegen: Any) -> CodeTarget:
    """Return the target of code that numba generates."""
    name, cpu, features = codegen.magic_tuple()
    return CodeTarget(_without_version(name), cpu, features)


@cache
def host_features() -> frozenset[str]:
    """Return the features that the processor and its operating system offer."""
    return frozenset(name for name, present in llvm.get_host_cpu_features().items() if present)


def current() -> CodeTarget:
    """Return the target that numba compiles for: this very processor, unless NUMBA_CPU_NAME names another."""
    from numba.core import config

    settings: Any = config
    if settings.CPU_NAME is not None:
        return CodeTarget(triple(), settings.CPU_NAME, settings.CPU_FEATURES or "")
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
