"""Addresses of Kafka, and the settings of librdkafka that a file may give, with secrets from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from likewise.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ADDRESS: Final = re.compile(r"kafka://(?P<servers>[^/\s]+:\d+(?:,[^/\s]+:\d+)*)/(?P<topic>[A-Za-z0-9._-]{1,249})/?")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
QUIET: Final = {"log_level": "2"}  # what matters comes as an error of ours


_PLAIN: Final = {
    "security.protocol": "security.protocol",
    "sasl.mechanism": "sasl.mechanism",
    "sasl.mechanisms": "sasl.mechanism",
    "ssl.ca.location": "ssl.truststore.location",
    "client.id": "client.id",
}
_MODULES: Final = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
}


class KafkaAddress(NamedTuple):
    """Servers, and a topic there."""

    servers: str
    topic: str


def kafka_address(address: str) -> KafkaAddress:
    """The servers and the topic of an address.

    >>> kafka_address("kafka://a:9092,b:9092/readings")
    KafkaAddress(servers='a:9092,b:9092', topic='readings')
    >>> kafka_address("kafka://a/readings")
    Traceback (most recent call last):
    likewise.errors.InputError: an address of Kafka is kafka://host:port/topic, not 'kafka://a/readings'
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise InputError(f"an address of Kafka is kafka://host:port/topic, not {address!r}")
    return KafkaAddress(found["servers"], found["topic"])


def read_settings(path: Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The settings of a file, one `name = value` a line; `${NAME}` stands for a variable of the environment.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "kafka.properties")
    ...     _ = path.write_text("# TLS\\nsasl.password = ${SECRET}\\n")
    ...     read_settings(path, {"SECRET": "x"})
    {'sasl.password': 'x'}
    """
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{path}, line {number}: a setting is `name = value`, as `security.protocol = SASL_SSL`")
        missing = [each for each in _VARIABLE.findall(value) if each not in environment]
        if missing:
            raise InputError(f"{path}, line {number}: the environment has no {missing[0]}; set it")
        found[name.strip()] = _VARIABLE.sub(lambda each: environment[each[1]], value.strip())
    return found


def java_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of librdkafka by the names that Kafka's Java client has for them.

    >>> java_settings({"security.protocol": "SASL_SSL", "sasl.mechanisms": "PLAIN", "ssl.ca.location": "ca.pem"})
    {'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'PLAIN', 'ssl.truststore.location': 'ca.pem', \
'ssl.truststore.type': 'PEM'}
    >>> java_settings({"debug": "all"})
    Traceback (most recent call last):
    likewise.errors.InputError: --reader spark does not know what 'debug' is to Kafka's Java client; leave it out, or \
--reader
    """
    user, password = settings.get("sasl.username"), settings.get("sasl.password")
    found = {}
    for name, value in settings.items():
        if name in _PLAIN:
            found[_PLAIN[name]] = value
        elif name not in ("sasl.username", "sasl.password", "bootstrap.servers"):
            raise InputError(
                f"--reader spark does not know what {name!r} is to Kafka's Java client; leave it out, or --reader"
            )
    if "ssl.truststore.location" in found:
        found["ssl.truststore.type"] = "PEM"
    if user is not None:
        kind = found.get("sasl.mechanism", "PLAIN")
        if kind not in _MODULES:
            raise InputError(f"--reader spark logs in by {', '.join(_MODULES)}, not by {kind!r}; leave --reader out")
        module = f"org.apache.kafka.common.security.{_MODULES[kind]}"
        found["sasl.jaas.config"] = f"{module} required username={_quoted(user)} password={_quoted(password or '')};"
    return found


def _quoted(text: str) -> str:
    """A text as the Java client's configuration of logins has it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def require_connector(spark: SparkSession) -> None:
    """Refuse a Spark that has no connector to Kafka, with words."""
    from pyspark.errors import AnalysisException

    try:
        spark.read.format("kafka").options(**{"kafka.bootstrap.servers": "-:1", "assign": '{"-":[0]}'}).load()
    except AnalysisException as error:
        if "kafka" in str(error).lower() and "find" in str(error).lower():
            raise InputError(
                "this Spark has no connector to Kafka: give it the package spark-sql-kafka-0-10 of its own version "
                "(spark.jars.packages), or leave --reader out, and librdkafka reads"
            ) from None
        raise
