"""Content keys of compiled kernels: a hash of everything that the compiled code depends on.

The key of a kernel covers its bytecode, the bytecode of all kernels it calls, the values of the globals that both read,
the layout of named tuples they are called with, the options of compilation, numba, llvmlite, numpy, Python, and the
target. It covers no path, no date, no line number and no docstring. So checkouts at different paths share kernels, and
a change that a kernel cannot see compiles nothing (docs/decisions/027).

Intrinsics generate code by Python that is not followed, and a global of an unknown kind may hide anything: for these
the sources of the module's import closure are in the key.
"""

from __future__ import annotations

import builtins
import dis
import enum
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

import llvmlite
import numba
import numpy as np
from numba import extending
from numba import types as published
from numba.core import config
from numba.core.dispatcher import Dispatcher

from likewise.kernels.cache import fingerprint
from likewise.kernels.targets import CodeTarget

types: Any = published  # seen without the types numba publishes, which know little of them
Intrinsic: Any = extending._Intrinsic  # type: ignore[attr-defined]
FORMAT: Final = 1  # of the key and of the stored file
LIBRARIES: Final = frozenset({"numpy", "numba", "math", "cmath", "operator", "builtins"})
# Settings of numba that change the code it generates.
_SETTINGS: Final = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "DISABLE_INTEL_SVML")
_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


def kernel_key(kernel: Any, arguments: tuple[Any, ...], target: CodeTarget) -> str:
    """Return the key of the code that a kernel is compiled to for arguments of these types.

    Args:
        kernel: the function that numba compiles, with its options.
        arguments: numba's types of the arguments.
        target: what the code is compiled for.
    """
    walk = _Walk(fingerprint_of=kernel.py_func.__module__)
    described = (environment(), target, walk.describe(kernel), [walk.type_of(each) for each in arguments])
    return blake2b(repr(described).encode(), digest_size=16).hexdigest()


@cache
def environment() -> tuple[object, ...]:
    """Return the versions and settings that the code of every kernel depends on."""
    numpy = np.__version__.split(".")[:2]  # numba follows numpy's minor version
    settings = [(name, getattr(config, name, None)) for name in _SETTINGS]
    return FORMAT, numba.__version__, llvmlite.__version__, numpy, sys.implementation.cache_tag, sys.abiflags, settings


class _Walk:
    """One description: each function is described once, a second mention refers to it.

    Args:
        fingerprint_of: the module whose import closure stands for what cannot be described.
    """

    def __init__(self, fingerprint_of: str) -> None:
        self._module = fingerprint_of
        self._numbers: dict[int, int] = {}

    def describe(self, value: Any) -> object:
        """Return a nested tuple of plain values, equal for values that compile to the same code."""
        if isinstance(value, _PLAIN):
            return type(value).__name__, repr(value)
        if isinstance(value, Dispatcher):
            options = sorted((name, repr(option)) for name, option in value.targetoptions.items())
            return "kernel", options, self._function(value.py_func)
        if isinstance(value, Intrinsic):
            definition = value._defn
            cells = [self.describe(cell.cell_contents) for cell in definition.__closure__ or ()]
            return "intrinsic", definition.__qualname__, cells, fingerprint(definition.__module__)
        if isinstance(value, ModuleType):
            return "module", value.__name__
        return self._array_or_class(value)

    def type_of(self, kind: Any) -> object:
        """Describe a numba type; a named tuple with its fields, since code finds a field by its position."""
        if isinstance(kind, types.BaseNamedTuple):
            made = kind.instance_class
            name = f"{made.__module__}.{made.__qualname__}"
            return "named", name, made._fields, [self.type_of(each) for each in kind.types]
        if isinstance(kind, types.BaseTuple):
            return "tuple", [self.type_of(each) for each in kind.types]
        if isinstance(kind, types.Number | types.Boolean | types.Array | types.NoneType | types.Omitted):
            return type(kind).__name__, str(kind)
        return type(kind).__name__, str(kind), fingerprint(self._module)

    def _array_or_class(self, value: Any) -> object:
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return "array", repr(value.dtype), value.shape, value.flags.f_contiguous, value.tobytes()
        if isinstance(value, np.generic):
            return "scalar", repr(value.dtype), value.tobytes()
        if isinstance(value, np.dtype):
            return "dtype", repr(value)
        if isinstance(value, types.Type):
            return "type", self.type_of(value)
        if isinstance(value, enum.Enum):
            return "member", type(value).__qualname__, value.name, self.describe(value.value)
        if isinstance(value, tuple):
            fields = getattr(value, "_fields", ())
            return "tuple", type(value).__qualname__, fields, [self.describe(item) for item in value]
        if _of_library(value):
            return "library", _module_of(value), getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
        if isinstance(value, type) and issubclass(value, enum.Enum):
            return "enum", value.__qualname__, [(each.name, self.describe(each.value)) for each in value]
        if isinstance(value, type) and hasattr(value, "_fields"):
            defaults: dict[str, object] = getattr(value, "_field_defaults", {})
            return "named", value.__qualname__, value._fields, self.describe(tuple(defaults.items()))
        return "unknown", type(value).__qualname__, fingerprint(self._module)

    def _function(self, function: FunctionType) -> object:
        known = self._numbers.get(id(function))
        if known is not None:
            return "again", known
        self._numbers[id(function)] = len(self._numbers)
        text, names, attributes = _read(function.__code__)
        reads: dict[str, object] = {}
        for name in names:
            if name in function.__globals__:
                value = function.__globals__[name]
            elif hasattr(builtins, name):
                value = getattr(builtins, name)
            else:
                continue  # numba reports it
            reads[name] = self._members(value, attributes) if _is_own_module(value) else self.describe(value)
        cells = [self.describe(cell.cell_contents) for cell in function.__closure__ or ()]
        defaults = self.describe((function.__defaults__, tuple((function.__kwdefaults__ or {}).items())))
        return function.__name__, text, sorted(reads.items()), cells, defaults

    def _members(self, module: ModuleType, attributes: tuple[str, ...]) -> object:
        """Describe what a function may read of a module of this project: every attribute by a name it uses."""
        found = {name: getattr(module, name) for name in attributes if hasattr(module, name)}
        inner = {name: value for name, value in found.items() if _is_own_module(value)}
        parts = [(name, self._members(each, attributes)) for name, each in sorted(inner.items())]
        parts += [(name, self.describe(each)) for name, each in sorted(found.items()) if name not in inner]
        return "module", module.__name__, parts


@cache
def _read(code: CodeType) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a hash of a function's instructions, the globals it names, and the attributes it names."""
    text: list[object] = [code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_varnames, code.co_freevars]
    text.append(code.co_exceptiontable)
    names: set[str] = set()
    for owner, instruction in _instructions(code):
        value = instruction.argval
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(value)
        constant = isinstance(value, CodeType)
        text.append((owner, instruction.opname, instruction.arg if constant else _constant(value)))
    attributes = {name for each in _codes(code) for name in each.co_names}
    digest = blake2b(repr(text).encode(), digest_size=16).hexdigest()
    return digest, tuple(sorted(names)), tuple(sorted(attributes))


def _instructions(code: CodeType) -> Iterator[tuple[int, dis.Instruction]]:
    for number, each in enumerate(_codes(code)):
        for instruction in dis.get_instructions(each):
            yield number, instruction


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _constant(value: Any) -> object:
    """Return a constant with its type, so that 1, 1.0 and True differ; the items of a set in a fixed order."""
    if isinstance(value, frozenset):
        return "set", sorted(repr(_constant(item)) for item in value)
    if isinstance(value, tuple):
        return "tuple", [_constant(item) for item in value]
    return type(value).__name__, repr(value)


def _module_of(value: Any) -> str:
    return str(getattr(value, "__module__", None) or type(value).__module__)


def _of_library(value: Any) -> bool:
    """Whether a function or class belongs to a library whose version is in the key."""
    if isinstance(value, type | FunctionType | BuiltinFunctionType | np.ufunc) or callable(value):
        return _module_of(value).partition(".")[0] in LIBRARIES
    return False


def _is_own_module(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in LIBRARIES
