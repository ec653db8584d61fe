"""Install the wheel with each extra into an empty environment, use what it promises, and say how large it is.

    make installs                               3.11 and 3.13, every extra
    python tools/check_installs.py 3.13 base    one of them; a python by its version or its path

Needs the network. Each environment is removed again; the probes run outside the checkout, so that nothing but the
wheel is found.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")

SMALL = """
import likewise as lw
from likewise.client import Publisher, Subscriber
m = lw.Matcher(profile="small")
m.add(lw.parse("{temp > 25 degC}", id="warm"))
assert [x.subscription_id for x in m.match(lw.event({"temp": {"value": 81.2, "unit": "degF"}}))] == ["warm"]
"""
LACKS = """
import subprocess, sys
def lacks(extra, *command):
    done = subprocess.run([sys.executable, "-m", "likewise", *command], capture_output=True, text=True, timeout=600)
    assert done.returncode != 0 and f'pip install "likewise[{extra}]"' in done.stderr, (command, done)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
"""
NO_MATCH = """
from likewise.errors import MissingDependency
try:
    lw.Matcher()
    raise SystemExit("a matcher in profile full was made without the extra match")
except MissingDependency as error:
    assert error.extra == "match"
"""
SERVE = """
import json, subprocess, sys
command = [sys.executable, "-m", "likewise", "serve", "--ephemeral", "--port", "0", "--json", *OPTIONS]
broker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
try:
    address = json.loads(broker.stdout.readline())["listening"]
    with Subscriber("ann", address) as inbox, Publisher(address) as out:
        inbox.subscribe("{no2 > 40}")
        out.publish(lw.event({"no2": 45}, id="e1"))
        assert next(iter(inbox)).event.id == "e1"
finally:
    broker.terminate()
    assert broker.wait(300) == 0, broker.returncode
"""
EVALUATES = """
import subprocess, sys
command = [sys.executable, "-m", "likewise", "eval", "near-misses", "--help"]
assert subprocess.run(command, capture_output=True, timeout=600).returncode == 0
"""
PROBES = {
    "base": SMALL + NO_MATCH + LACKS + "lacks('broker', 'serve'); lacks('match', 'demo'); lacks('experiments', 'eval')",
    "match": SMALL
    + """
full = lw.Matcher()
full.add(lw.parse("{temperature~ > 25 degC}", id="warm"))
assert len(full.match(lw.event({"TempC_SHT": 27.1}))) == 1
"""
    + LACKS
    + "lacks('broker', 'serve')",
    "broker": SMALL + NO_MATCH + LACKS + "lacks('match', 'serve')\nOPTIONS = ['--profile', 'small']\n" + SERVE,
    "dashboard": SMALL + "from likewise.dashboard.app import make_dashboard; make_dashboard('http://127.0.0.1:1')",
    "spark": SMALL + "import pyspark, pandas\nfrom likewise.spark.session import spark_session\nlw.Matcher()",
    "delta": SMALL + "import deltalake\nlw.Matcher()",
    "objects": SMALL + "from likewise.lake.storage import place_of\nplace_of('s3://bucket/lake')\nlw.Matcher()",
    "avro": SMALL + "import fastavro, google.protobuf\nlw.Matcher()",
    "kafka": SMALL + "import confluent_kafka\nlw.Matcher()",
    "mqtt": SMALL,
    "rdf": SMALL
    + """
from likewise.formats.rdf.reader import parse_triples
assert len(list(parse_triples('<a:s> <a:p> "x" .', "nt"))) == 1
""",
    "embeddings": SMALL + "import onnxruntime, safetensors, tokenizers\nlw.Matcher()",
    "experiments": SMALL + EVALUATES,
    "home": SMALL + "import nicegui, numba, pyoxigraph\nOPTIONS = ['--mqtt', '0']\n" + SERVE,
    "all": SMALL + EVALUATES + "import nicegui, pyspark, pyoxigraph\nOPTIONS = []\n" + SERVE,
}


def main(arguments: Iterable[str]) -> None:
    """Check the pythons and extras named, or all of them; print a line each."""
    said = list(arguments)
    pythons = [each for each in said if each not in PROBES] or ["3.11", "3.13"]
    extras = [each for each in said if each in PROBES] or list(PROBES)
    with tempfile.TemporaryDirectory() as near:
        for project in (ROOT, ROOT / "experiments"):
            run([UV, "build", "--quiet", "--wheel", "--out-dir", near, project])
        (wheel,) = Path(near).glob("likewise-*.whl")
        print(f"{wheel.name}  {wheel.stat().st_size / 1e6:.1f} MB")
        for python in pythons:
            for extra in extras:
                print(f"{python}  {extra:<11} {installed(wheel, python, extra):>7.0f} MB", flush=True)


def installed(wheel: Path, python: str, extra: str) -> float:
    """Install, probe, and the size of what was installed in MB."""
    with tempfile.TemporaryDirectory() as near:
        place = Path(near)
        run([UV, "venv", "--quiet", "--python", python, place / "venv"])
        wanted = str(wheel) if extra == "base" else f"{wheel}[{extra}]"
        found = ["--find-links", wheel.parent]  # the experiments' wheel
        run([UV, "pip", "install", "--quiet", *found, "--python", place / "venv/bin/python", wanted])
        inside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_"))}
        inside |= {"XDG_CACHE_HOME": str(place / "cache"), "HOME": str(place)}
        (place / "probe.py").write_text(PROBES[extra])
        size = sum(path.stat().st_size for path in (place / "venv/lib").rglob("*") if path.is_file())
        run([place / "venv/bin/python", "-I", "probe.py"], cwd=place, env=inside)
    return size / 1e6


def run(command: list[object], **options: object) -> None:
    """Run a command, which must succeed; its output is shown if it does not."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main(sys.argv[1:])
