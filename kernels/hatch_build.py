"""Build hooks of `likewise-kernels`: the pinned versions, the kernels that were compiled, and the wheel's tag.

`python tools/build_kernels.py` compiles the kernels first, and builds in the environment that they were compiled in.
"""

from __future__ import annotations

import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

COMPILED = Path(__file__).resolve().parent.parent / "build" / "kernels"


class PinnedVersions(MetadataHookInterface):
    """Require what the kernels were compiled with: with any other version none of them would be used."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies."""
        numpy = ".".join(version("numpy").split(".")[:2])
        exact = [f"{name}=={version(name)}" for name in ("numba", "llvmlite")]
        metadata["dependencies"] = [f"likewise[match]=={metadata['version']}", *exact, f"numpy=={numpy}.*"]


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]  # it has a type parameter in some versions only
    """Put the folders of compiled kernels into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the kernels and name the Python and the platform that they are for."""
        levels = [folder for folder in sorted(COMPILED.glob("*")) if any(folder.glob("ready-*"))]
        if not levels:
            raise FileNotFoundError(f"there are no compiled kernels in {COMPILED}; run: make kernels")
        for folder in levels:
            build_data["force_include"][str(folder)] = f"likewise_kernels/{folder.name}"
        build_data["pure_python"] = False
        build_data["tag"] = wheel_tag()


def wheel_tag() -> str:
    """Return the tag of this Python and platform.

    The kernels link to nothing but what numba brings, so on Linux any glibc that numba runs with will do.
    """
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform.replace('linux_', 'manylinux_2_17_', 1)}"
