"""What is promised of the package as a whole: its names, its weight, its locks."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points, packages_distributions, requires, version
from pathlib import Path

import pytest

import likewise
from likewise.cli import main
from likewise.extras import EXTRAS

ROOT = Path(__file__).resolve().parent.parent

HEAVY = {"numba", "scipy", "pint", "pyarrow", "pyspark", "pandas", "torch", "tokenizers", "safetensors", "nicegui"}


def modules_after(statement: str) -> set[str]:
    """The top-level modules a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement", ["import likewise", "import likewise; likewise.event({'a': 1})", "import likewise.cli.main"]
)
def test_importing_loads_nothing_heavy(statement: str) -> None:
    """Importing the package, making an event or listing commands loads no numba, scipy, pint, pyarrow, no extra."""
    assert not modules_after(statement) & HEAVY


def test_importing_takes_little_time() -> None:
    """Importing costs under a second of CPU even on a slow machine; the exact figure is a benchmark's."""
    code = "import time; a = time.process_time(); import likewise; print(time.process_time() - a)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.0


def test_the_public_names_are_these() -> None:
    """Nothing joins or leaves the public interface by accident."""
    assert likewise.__all__ == [
        "Broker",
        "ColumnReport",
        "Event",
        "EventBatch",
        "Explanation",
        "LikewiseError",
        "Match",
        "MatchBatch",
        "Matcher",
        "Measure",
        "Space",
        "Subscription",
        "Term",
        "columns",
        "connect",
        "event",
        "filter",
        "load_space",
        "match",
        "parse",
    ]


@pytest.mark.parametrize("name", likewise.__all__)
def test_every_public_name_is_there_and_says_what_it_promises(name: str) -> None:
    """Each name loads, and has a docstring."""
    assert getattr(likewise, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as in any module."""
    with pytest.raises(AttributeError, match="has no attribute 'Macher'"):
        likewise.Macher  # noqa: B018  # the access is the test


def test_the_version_is_the_same_everywhere() -> None:
    """The module, both installed packages and each pyproject.toml agree, also where one asks for another."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    experiments = tomllib.loads((ROOT / "experiments" / "pyproject.toml").read_text())["project"]
    assert likewise.__version__ == project["version"] == version("likewise")
    assert likewise.__version__ == experiments["version"] == version("likewise-experiments")
    assert experiments["dependencies"] == [f"likewise[match]=={likewise.__version__}"]
    kernels = tomllib.loads((ROOT / "kernels" / "pyproject.toml").read_text())["project"]
    assert likewise.__version__ == kernels["version"]
    assert project["optional-dependencies"]["kernels"] == [f"likewise-kernels=={likewise.__version__}"]


def test_the_package_says_that_it_is_typed() -> None:
    """Type checkers find `py.typed` beside the code."""
    assert (Path(likewise.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("*.lock")), ids=lambda path: path.name)
def test_locks_hold_hashes_and_name_no_index(lock: Path) -> None:
    """Every locked package has a hash, and no address of an index or a folder leaked in."""
    text = lock.read_text()
    assert "://" not in text
    assert "--find-links" not in text
    assert "--index" not in text
    entries = [line for line in text.splitlines() if "==" in line and line[0].isalnum()]
    assert entries
    assert all(entry.rstrip().endswith("\\") for entry in entries), "a package without hashes"
    assert not any(entry.startswith(("torch==", "sentence-transformers==")) for entry in entries)


def test_every_runtime_dependency_is_locked() -> None:
    """runtime.lock holds the base and what `make run` shows, each at the version of dev.lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runtime, dev = (_pins(ROOT / "requirements" / name) for name in ("runtime.lock", "dev.lock"))
    shown = [project["optional-dependencies"][extra] for extra in ("match", "broker", "dashboard", "mqtt", "rdf")]
    wanted = {_name(requirement) for listed in (project["dependencies"], *shown) for requirement in listed}
    assert wanted <= {_name(pin) for pin in runtime}
    assert runtime <= dev


def test_every_extra_is_known_by_the_modules_it_brings() -> None:
    """So that a missing one is named; and `all` is every part of the product."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, modules in EXTRAS.items():
        named = {_name(requirement).replace("_", "-") for requirement in extras[extra]}
        for module in modules:
            brought = {each.lower().replace("_", "-") for each in packages_distributions().get(module, ())}
            brought |= {"likewise-experiments"} & {module.replace("_", "-")}  # editable: it lists no modules
            assert brought & named, f"{module} is brought by {brought}, and the extra {extra!r} names {named}"
    (everything,) = extras["all"]
    assert set(everything.removeprefix("likewise[").removesuffix("]").split(",")) == set(EXTRAS) - {"plots"}


def test_experiments_bring_commands_and_no_packages() -> None:
    """`likewise[all]` has them, and nothing but Likewise is installed for them."""
    found = {entry.name: entry.value for entry in entry_points(group="likewise.commands")}
    assert set(found) == {"eval", "data"}
    assert all(value.startswith("likewise_experiments.") for value in found.values())
    assert {_name(each) for each in requires("likewise-experiments") or ()} == {"likewise"}


def test_a_command_of_a_distribution_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`likewise --help` lists it all the same; called, it says what to install."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert main.run(["--help"]) == 0
    assert "eval" in capsys.readouterr().out
    assert main.run(["eval", "relatedness"]) == 3
    said = capsys.readouterr().err.strip()
    assert 'the command `likewise eval` is missing; install it with: pip install "likewise[experiments]"' in said
    assert len(said.splitlines()) == 1


def test_numba_is_bounded_above() -> None:
    """The kernels use parts of it that may change with any version."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(each.startswith("numba") and ",<" in each for each in extras["match"])


BASE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


def without(extras: set[str], statement: str) -> subprocess.CompletedProcess[str]:
    """What a statement does where these extras are not installed."""
    absent = {module for extra in extras for module in EXTRAS[extra]} | ({"llvmlite"} if "match" in extras else set())
    code = f"ABSENT = {absent!r}\n{BASE}\n{statement}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)


COMMAND = "from likewise.cli.main import main; main({!r}.split())"


@pytest.mark.parametrize(
    ("statement", "extra"),
    [
        ("import likewise; likewise.Matcher()", "match"),
        ("import likewise; likewise.load_space()", "match"),
        ("import likewise; likewise.EventBatch.from_events([likewise.event({'a': 1})]).to_ipc()", "match"),
        (
            "from likewise.formats.rdf.reader import parse_triples; list(parse_triples('<a:a> <a:a> <a:a> .', 'nt'))",
            "rdf",
        ),
        (COMMAND.format("demo"), "match"),
        (COMMAND.format("relate laptop computer"), "match"),
        (COMMAND.format("serve --ephemeral --port 0"), "broker"),
        (COMMAND.format("dashboard"), "dashboard"),
        ("from likewise.spark.session import spark_session; spark_session('x').__enter__()", "spark"),
        (COMMAND.format("eval relatedness pairs.csv"), "experiments"),
        (COMMAND.format("data list"), "experiments"),
    ],
)
def test_a_missing_extra_is_one_line_that_names_it(statement: str, extra: str) -> None:
    """In the library as an error of the tree, at the command line as its message alone."""
    done = without({extra}, statement)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert f'pip install "likewise[{extra}]"' in last, done.stderr
    if "cli" in statement:
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


SMALL = """
import tempfile
import likewise as lw
from likewise.errors import MissingDependency, UnsupportedSubscription

try:
    lw.Matcher()
except MissingDependency as error:
    print("full:", error)
m = lw.Matcher(profile="small")
m.add(lw.parse("{temp > 25 degC}", id="warm"))
m.add(lw.parse("{temp > 70 degF, city = Galway} valid for 1 h", id="here"), at=0)
hot = lw.event({"temp": {"value": 81.2, "unit": "degF"}, "city": "galway"}, id="e1", time=5)
print([x.subscription_id for x in m.match(hot)], m.explain(hot, "warm").verdict)
print([id for _, id, _ in m.match_batch([hot, hot]).pairs()])
try:
    m.add(lw.parse("{temperature~ > 25 degC}", id="relaxed"))
except UnsupportedSubscription as error:
    print("relaxed:", error)
folder = tempfile.mkdtemp() + "/saved"
m.save(folder)
again = lw.Matcher.load(folder, profile="small")
print([x.subscription_id for x in again.match(hot)], [x.subscription_id for x in m.snapshot().match(hot)])
m.remove("warm")
print([x.subscription_id for x in m.match(hot)])
"""


def test_profile_small_needs_none_of_the_extra_match() -> None:
    """Without its packages a matcher says so, never falls back by itself, and in profile small does everything."""
    done = without({"match", "rdf"}, SMALL)
    assert done.stderr == ""
    full, found, batch, relaxed, loaded, removed = done.stdout.splitlines()
    assert full.startswith("full: what the profile 'full' needs (numba, scipy, pyarrow")
    assert 'pip install "likewise[match]", or choose the profile' in full
    assert found == "['warm', 'here'] match"
    assert batch == "['warm', 'here', 'warm', 'here']"
    assert relaxed.startswith("relaxed: the profile 'small' does not serve relaxed parts (~)")
    assert loaded == "['warm', 'here'] ['warm', 'here']"
    assert removed == "['here']"


def test_serving_without_the_extra_match_says_so_and_serves_in_profile_small_when_told() -> None:
    """Nothing falls back by itself; an exact subscription is served, a relaxed one refused with what is missing."""
    done = without({"match"}, COMMAND.format("serve --ephemeral --port 0"))
    assert done.returncode != 0
    assert 'pip install "likewise[match]", or choose the profile' in done.stderr
    statement = """
import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings
from likewise.errors import UnsupportedSubscription
import likewise.server.http.server

with Broker(None, Config(matching=MatchingSettings(profile="small"))) as broker:
    tenant = broker.tenant("default")
    broker.register(tenant, "ann")
    broker.subscribe(tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
    try:
        broker.subscribe(tenant, "ann", [lw.parse("{no2~ > 40}", id="relaxed")])
    except UnsupportedSubscription as error:
        print(error)
    broker.publish(tenant, [lw.event({"no2": 45}, id="e1"), lw.event({"no2": 5}, id="e2")])
    broker.wait_until_matched()
    print([number for number, _ in broker.page(tenant, tenant.subscriber("ann"), after=0)])
"""
    done = without({"match", "rdf", "dashboard", "spark", "mqtt", "embeddings"}, statement)
    assert done.returncode == 0, done.stderr
    refused, served = done.stdout.splitlines()
    assert "does not serve relaxed parts (~)" in refused
    assert served == "[1]"


def _pins(lock: Path) -> set[str]:
    return {line.rstrip(" \\") for line in lock.read_text().splitlines() if "==" in line and line[0].isalnum()}


def _name(requirement: str) -> str:
    for end, character in enumerate(requirement):
        if not (character.isalnum() or character in "-_."):
            return requirement[:end].lower()
    return requirement.lower()
