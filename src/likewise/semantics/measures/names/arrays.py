"""Words of many names as arrays, the input of the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class NameArrays(NamedTuple):
    """Distinct words, and for each name its words, the windows its acronyms may stand for, and what its unit names.

    `texts` and `stems` are the distinct words as numbers. `ends` says where each name's words end in `words` (places
    among the distinct ones) and `weights`; `plain` marks names that are ordinary phrases. `windows` (a text, from, to)
    end at `window_ends`, `units` (a stem, how sure) at `unit_ends`.
    """

    texts: NDArray[np.int64]
    stems: NDArray[np.int64]
    ends: NDArray[np.int64]
    words: NDArray[np.int64]
    weights: NDArray[np.float32]
    plain: NDArray[np.uint8]
    window_ends: NDArray[np.int64]
    windows: NDArray[np.int64]
    unit_ends: NDArray[np.int64]
    units: NDArray[np.int64]
