"""Whether everything that an edge installs has wheels for the machines edges run on: no compiler is needed there.

    python tools/check_wheels.py

Resolves `likewise[broker]` with the versions of requirements/runtime.lock, from wheels alone, for each machine and
Python; exit code 1 if something has none. Needs the network.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
MACHINES: Final = ("aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu")
PYTHONS: Final = ("3.11", "3.12", "3.13")


def resolved(machine: str, python: str) -> subprocess.CompletedProcess[str]:
    """What an edge installs on a machine, from wheels alone."""
    command = [
        str(Path(sys.executable).with_name("uv")),
        "pip",
        "compile",
        "pyproject.toml",
        "--extra",
        "broker",
        "--constraint",
        "requirements/runtime.lock",
        "--python-platform",
        machine,
        "--python-version",
        python,
        "--only-binary",
        ":all:",
        "--quiet",
        "--no-header",
        "--no-annotate",
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


def main() -> int:
    """Check every machine and Python."""
    wrong = 0
    for machine in MACHINES:
        for python in PYTHONS:
            found = resolved(machine, python)
            wrong += found.returncode != 0
            said = f"{found.stdout.count('==')} packages" if not found.returncode else found.stderr.strip()[-500:]
            print(f"{machine}, Python {python}: {said}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
