"""Optional dependencies (extras) and what each of them provides.

The base install has the model, the language, the client, the command line and exact matching in profile `small`. A part
that is missing is one line that names it, never a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from likewise.errors import MissingDependency

# By extra: the modules its packages bring that Likewise imports.
EXTRAS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "match": ("numba", "scipy", "pyarrow", "Stemmer", "platformdirs"),
        "broker": ("fastapi", "uvicorn", "structlog", "prometheus_client", "pyroaring"),
        "dashboard": ("nicegui",),
        "spark": ("pyspark", "pandas"),
        "delta": ("deltalake",),
        "objects": ("obstore",),
        "avro": ("fastavro",),
        "kafka": ("confluent_kafka",),
        "mqtt": (),  # the client is ours; the name stays for installs that state it
        "rdf": ("pyoxigraph", "rtree"),
        "embeddings": ("tokenizers", "safetensors", "onnxruntime"),
        "experiments": ("likewise_experiments",),
        "plots": ("matplotlib",),
    }
)


def missing(extra: str) -> tuple[str, ...]:
    """Return the missing modules of an extra.

    >>> missing("match")
    ()
    """
    return tuple(name for name in EXTRAS[extra] if not _installed(name))


def require(extra: str, what: str, *, or_else: str = "") -> None:
    """Raise `MissingDependency` unless an extra is complete. `what` needs it; `or_else` names an alternative."""
    if lacking := missing(extra):
        raise MissingDependency(f"what {what} needs ({', '.join(lacking)})", extra, or_else=or_else)


def for_module(error: ImportError) -> MissingDependency | None:
    """Return the error that names the extra of a failed import; None if it belongs to no extra.

    >>> for_module(ModuleNotFoundError("No module named 'numba'", name="numba.core"))
    MissingDependency('numba is missing; install it with: pip install "likewise[match]"')
    """
    top = (error.name or "").partition(".")[0]
    return next((MissingDependency(top, extra) for extra, modules in EXTRAS.items() if top in modules), None)


@cache
def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
