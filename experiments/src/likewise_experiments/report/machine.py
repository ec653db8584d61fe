"""What the figures were measured with: versions of what ran, and the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

PACKAGES: Final = ("numpy", "scipy", "numba", "pyarrow", "pyspark", "pyoxigraph", "matplotlib")


def versions() -> dict[str, str]:
    """Versions by name; a package that is not there is said to be so.

    >>> list(versions())[:2]
    ['likewise', 'Python']
    """
    from likewise import __version__

    found = {"likewise": __version__, "Python": f"{platform.python_version()} ({platform.python_implementation()})"}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    found["Java"] = _java()
    return found


def machine() -> dict[str, str]:
    """The machine: system, processor, cores, memory, and how busy it is now.

    >>> "cores" in machine()
    True
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = ", ".join(f"{n:.2f}" for n in os.getloadavg()) if hasattr(os, "getloadavg") else "not known"
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": f"{usable} usable of {os.cpu_count()}",
        "memory": _memory(),
        "load, last 1, 5 and 15 minutes": load,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    except (ValueError, OSError, AttributeError):
        return "not known"


def _java() -> str:
    from likewise.errors import MissingDependency
    from likewise.spark.session import java_home

    try:
        said = subprocess.run(
            [java_home() / "bin" / "java", "-version"], capture_output=True, text=True, check=True, timeout=60
        )
    except (MissingDependency, OSError, subprocess.SubprocessError):
        return "not found"
    return said.stderr.splitlines()[0] if said.stderr else "unknown"
