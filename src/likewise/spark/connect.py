"""Sessions over Spark Connect: the driver is a server elsewhere, reached by gRPC."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from likewise.errors import InputError, MissingDependency, Unavailable
from likewise.spark.failures import spark_words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEEDED: Final = {
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "google.rpc": "googleapis-common-protos",
    "zstandard": "zstandard",
}
_PORT: Final = 15002
_PATIENCE: Final = 10.0  # seconds until somebody must answer; gRPC itself would try for ten minutes


def connected(address: str, settings: Mapping[str, str]) -> SparkSession:
    """A session with the server at `sc://host:port`, with those settings that a running server takes."""
    lacking = [package for module, package in _NEEDED.items() if not _found(module)]
    if lacking:
        raise MissingDependency(f"what Spark Connect needs ({', '.join(lacking)})", "spark")
    _knock(address)
    from pyspark.sql import SparkSession

    with spark_words():
        session = SparkSession.builder.remote(address).getOrCreate()
        for key, value in settings.items():
            if session.conf.isModifiable(key):
                session.conf.set(key, value)
    return session


def _knock(address: str) -> None:
    """Refuse an address where nobody answers at once."""
    if address.startswith("local"):  # a server of this process
        return
    parts = urlsplit(address)
    if parts.scheme != "sc" or not parts.hostname:
        raise InputError(f"SPARK_REMOTE is sc://host:port, found {address!r}")
    place = (parts.hostname, parts.port or _PORT)
    try:
        socket.create_connection(place, _PATIENCE).close()
    except OSError as error:
        raise Unavailable(
            f"no server of Spark Connect answers at {place[0]}:{place[1]} ({error}); SPARK_REMOTE names it"
        ) from None


def _found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
