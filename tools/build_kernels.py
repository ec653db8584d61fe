"""Compile the matching kernels for every level of this platform and build the wheel of `likewise-kernels`.

    make kernels                                       dist/likewise_kernels-VERSION-PYTHON-PYTHON-PLATFORM.whl
    python tools/build_kernels.py --level x86-64-v3    one level alone
    python tools/build_kernels.py --check              whether the installed wheel is enough: nothing is compiled
    python tools/build_kernels.py --newest             the path of the newest wheel for this Python

Everything is compiled anew: a stored kernel is not trusted to be what the sources say. A level takes about 40 s of CPU,
and needs a processor that meets it, because every kernel runs once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from likewise.kernels.cache import PORTABLE
from likewise.kernels.targets import levels

ROOT = Path(__file__).resolve().parent.parent
COMPILED = ROOT / "build" / "kernels"


def compile_level(level: str) -> Path:
    """Compile every kernel for a level; return the folder that holds them."""
    folder = COMPILED / level
    folder.mkdir(mode=0o700, parents=True)
    target = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(folder), PORTABLE: ""}
    subprocess.run([sys.executable, "-m", "likewise.matching.warm_up"], env={**os.environ, **target}, check=True)
    return folder


def compiled_beside_the_wheel() -> list[str]:
    """Return the kernels that matching compiles although the wheel is installed, with an empty folder of the user."""
    script = """
import numba.core.event as event
compiled = []
class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
from likewise.matching.warm_up import warm_up
warm_up()
print(*compiled)
"""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, "NUMBA_CACHE_DIR": folder}
        settings.pop(PORTABLE, None)
        done = subprocess.run(
            [sys.executable, "-c", script], env=settings, stdout=subprocess.PIPE, text=True, check=True
        )
    return done.stdout.split()


def newest_wheel(folder: Path) -> Path:
    """Return the wheel of kernels for this Python that was built last; exit if there is none."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    wheels = sorted(folder.glob(f"likewise_kernels-*-{python}-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit(f"there is no wheel of kernels for this Python in {folder}; run: make kernels")
    return wheels[-1]


def main() -> None:
    """Compile, build, and print the wheel's name and size."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--level", action="append", choices=levels(), help="one level instead of all; may be repeated")
    options.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder for the wheel (dist)")
    options.add_argument(
        "--check", action="store_true", help="compile and build nothing; fail if the wheel is not enough"
    )
    options.add_argument("--newest", action="store_true", help="build nothing; print the newest wheel's path")
    chosen = options.parse_args()
    if chosen.newest:
        print(newest_wheel(chosen.out))
        return
    if chosen.check:
        if compiled := compiled_beside_the_wheel():
            sys.exit(f"{len(compiled)} kernels are not in the installed wheel: {', '.join(compiled)}")
        print("Every kernel comes from the wheel.")
        return
    shutil.rmtree(COMPILED, ignore_errors=True)
    for level in chosen.level or levels():
        folder = compile_level(level)
        kernels = list(folder.glob("*.kernel"))
        print(
            f"{level}: {len(kernels)} kernels, {sum(each.stat().st_size for each in kernels) / 1e6:.1f} MB", flush=True
        )
    uv = Path(sys.executable).with_name("uv")
    build = [uv, "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", chosen.out, ROOT / "kernels"]
    subprocess.run(build, env={**os.environ, "VIRTUAL_ENV": sys.prefix}, check=True)
    wheel = newest_wheel(chosen.out)
    print(f"{wheel.name}  {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
