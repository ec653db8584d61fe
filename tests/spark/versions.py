"""Run the tests of DataFrames and queries of Structured Streaming on other versions of Spark than the locked one.

    python -m tests.spark.versions --folder build/spark 4.1.4 4.2.1

Each version is brought from the package index as PySpark's source archive, which has the jars, and put in front of the
one that is installed. Versions before 4.1 have no `transformWithState` in rows: of these `match` is tried alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

STATELESS: Final = ("tests/spark/streaming/test_match.py",)
WHOLE: Final = (
    *STATELESS,
    "tests/spark/streaming/test_following.py",
    "tests/spark/streaming/test_to_lake.py",
    "tests/spark/streaming/state/test_alerts.py",
)


def bring(folder: Path, version: str) -> Path:
    """Return the folder of a version of PySpark, fetched unless it is there."""
    place = folder / f"pyspark-{version}"
    if not (place / "deps" / "jars").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        fetch = ["pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(folder)]
        subprocess.run([sys.executable, "-m", *fetch, f"pyspark=={version}"], check=True)
        with tarfile.open(folder / f"pyspark-{version}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return place


def run(place: Path, version: str, more: list[str]) -> bool:
    """Run the tests on a version; whether they pass."""
    numbers = tuple(int(each) for each in version.split(".")[:2])
    tests = WHOLE if numbers >= (4, 1) else STATELESS
    home = place / "deps"
    for script in (home / "bin").iterdir():
        script.chmod(0o755)
    environment = os.environ | {"PYTHONPATH": str(place), "SPARK_HOME": str(home)}
    check = f"import pyspark; assert pyspark.__version__ == {version!r}, pyspark.__version__"
    subprocess.run([sys.executable, "-c", check], env=environment, check=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *more]
    return subprocess.run(command, env=environment).returncode == 0


def main() -> None:
    """Run all, and say which failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+")
    parser.add_argument("--folder", type=Path, default=Path("build/spark"))
    options, more = parser.parse_known_args()
    failed = [v for v in options.versions if not run(bring(options.folder.absolute(), v), v, more)]
    if failed:
        raise SystemExit(f"tests failed on Spark {', '.join(failed)}")


if __name__ == "__main__":
    main()
