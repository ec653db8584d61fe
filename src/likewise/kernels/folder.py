"""Where compiled kernels are kept between runs: one folder, however Likewise is started."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def kernels_folder() -> Path:
    """`NUMBA_CACHE_DIR` where it is set, else `kernels` in the user's cache; it may be removed at any time.

    Where that cannot be written, a folder of this process, removed when it ends. Kernels that check their bounds
    (`NUMBA_BOUNDSCHECK=1`) have a folder of their own inside: numba does not tell the two apart.
    """
    import platformdirs

    said = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(said) if said else platformdirs.user_cache_path("likewise") / "kernels"
    if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0"):
        folder /= "bounds-checked"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        near = tempfile.mkdtemp(prefix="likewise-kernels-")
        atexit.register(shutil.rmtree, near, ignore_errors=True)
        return Path(near)
    return folder
