"""Decorators of compiled kernels, the store of what they compile to, and counts of bits.

>>> import numpy as np
>>> trailing_zeros(np.uint64(8)), popcount(np.uint64(7))
(3, 3)
"""

from __future__ import annotations

import os
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba
import numpy as np
from numba.core import caching, compiler, serialize, sigutils
from numba.core import types as published
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from likewise.kernels.cache import check_trusted, kernels_folder, portable_folders
from likewise.kernels.content import kernel_key
from likewise.kernels.intrinsics import count_ones, count_zeros
from likewise.kernels.targets import CodeTarget, portable, target_of

# Seen without the types numba publishes: they do not know `_nrt`.
njit = cast("Any", numba.njit)
results, pickles, signatures = cast("Any", compiler).CompileResult, cast("Any", serialize), cast("Any", sigutils)
types: Any = published
P = ParamSpec("P")
R = TypeVar("R")
D = TypeVar("D", bound=np.generic)
_DAY: Final = 86400.0
_DIGEST: Final = 32  # bytes of the checksum that a stored kernel begins with


class KernelStore(caching._Cache):
    """The compiled forms of one kernel, each in a file that is named by its content key.

    A kernel is read from the user's folder, where code for this very processor is, or else from the portable kernels of
    an installed wheel. It is written to the user's folder alone. Numba's own cache is keyed by path and date and keeps
    an index that two processes may spoil.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._name = kernel.py_func.__qualname__.replace("<locals>.", "")

    @property
    def cache_path(self) -> str:
        """The folder that kernels are written to."""
        return str(kernels_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the stored code for a signature; None if there is none that fits."""
        target_context.refresh()
        for folder, target in self._places(target_context.codegen()):
            stored = _read(self._path(folder, sig, target))
            if stored is not None:
                return results._rebuild(target_context, *pickle.loads(stored))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled code for a signature."""
        if data.lifted or data.library.has_dynamic_globals:
            raise RuntimeError(f"the kernel {self._name} cannot be stored: it has lifted loops or dynamic globals")
        libdata, descriptor, environment, signature, mode, lifted, _, *rest = data._reduce()
        # The seventh part is the annotated source: only for inspection, and it names paths of this machine.
        payload = pickles.dumps((libdata, descriptor, environment, signature, mode, lifted, "", *rest))
        _write(self._path(kernels_folder(), sig, target_of(data.codegen)), payload)

    def enable(self) -> None:
        """Do nothing: the store is always on."""

    def disable(self) -> None:
        """Do nothing: the store is always on."""

    def flush(self) -> None:
        """Do nothing: a changed kernel has another key."""

    def _places(self, codegen: Any) -> Iterator[tuple[Path, CodeTarget]]:
        yield kernels_folder(), target_of(codegen)
        for level, folder in portable_folders():
            yield folder, portable(level)

    def _path(self, folder: Path, sig: Any, target: CodeTarget) -> Path:
        arguments, _ = signatures.normalize_signature(sig)
        return folder / f"{self._name}-{kernel_key(self._kernel, arguments, target)}.kernel"


def _read(path: Path) -> bytes | None:
    """Return the payload of a stored kernel; None if there is none, or it is damaged and will be written anew."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            check_trusted(path, status)
            content = file.read()
    except FileNotFoundError:
        return None
    if time.time() - status.st_mtime > _DAY and os.access(path, os.W_OK):
        os.utime(path)  # it is in use, so `mark_compiled` does not remove it
    payload = content[_DIGEST:]
    return payload if blake2b(payload, digest_size=_DIGEST).digest() == content[:_DIGEST] else None


def _write(path: Path, payload: bytes) -> None:
    """Write a kernel so that another process sees all of it or nothing."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".new", delete=False) as file:
            file.write(blake2b(payload, digest_size=_DIGEST).digest() + payload)
        os.replace(file.name, path)
    except OSError as error:
        warnings.warn(f"a compiled kernel is not stored in {path.parent}: {error}", RuntimeWarning, stacklevel=2)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    made = njit(no_cfunc_wrapper=True, **options)(function)  # C never calls a kernel
    if isinstance(made, Dispatcher):  # not when numba is disabled
        vars(made)["_cache"] = KernelStore(made)
        vars(made)["get_call_template"] = _without_literals(made)
    return made


def _without_literals(made: Any) -> Callable[..., Any]:
    """Return how a kernel is called by another: for `0` and for any other integer the same code is compiled."""
    template = made.get_call_template

    def call_template(arguments: Any, named: Any) -> Any:
        plain = {name: types.unliteral(each) for name, each in named.items()}
        return template(tuple(map(types.unliteral, arguments)), plain)

    return call_template


def kernel(function: Callable[P, R]) -> Any:
    """Compile with `numba.njit`, stored until something changes that the compiled code depends on."""
    return _compiled(function)


def nogil_kernel(function: Callable[P, R]) -> Any:
    """Compile like `kernel`, but release the GIL while it runs."""
    return _compiled(function, nogil=True)


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like `kernel`, keep the function's type, and do not count references to arrays.

    Counting would cost more than an AND of a block's bitmaps; so such a function may read and write
    arrays, but neither make nor return any.
    """
    return cast("Callable[P, R]", _compiled(function, _nrt=False))


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like `compiled` and inline into every caller: passing ten arrays costs more than a short function."""
    return cast("Callable[P, R]", _compiled(function, _nrt=False, forceinline=True))


def address(array: NDArray[Any]) -> int:
    """Return the address of the array's first element; the array must outlive its use.

    >>> import numpy as np
    >>> address(np.zeros(1)) > 0
    True
    """
    return int(array.ctypes.data)


def view(array: NDArray[Any]) -> Any:
    """Return the array as a memoryview, whose items are written several times faster."""
    return memoryview(array)  # type: ignore[arg-type]


def read_only(array: NDArray[D]) -> NDArray[D]:
    """Return a view that cannot be written, as an array of a mapped file is: one specialisation serves both.

    >>> import numpy as np
    >>> read_only(np.zeros(1)).flags.writeable
    False
    """
    result = array.view()
    result.flags.writeable = False
    return result


@compiled
def trailing_zeros(word: Any) -> int:
    """Return the number of zeros below the lowest set bit of a 64-bit word (64 if none is set)."""
    return count_zeros(word)  # type: ignore[no-any-return]


@compiled
def popcount(word: Any) -> int:
    """Return the number of set bits of a 64-bit word."""
    return count_ones(word)  # type: ignore[no-any-return]
