"""Addresses of Kafka, and the settings of librdkafka that a file may give, with secrets from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from likewise.errors import InputError

_ADDRESS: Final = re.compile(r"kafka://(?P<servers>[^/\s]+:\d+(?:,[^/\s]+:\d+)*)/(?P<topic>[A-Za-z0-9._-]{1,249})/?")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
QUIET: Final = {"log_level": "2"}  # what matters comes as an error of ours


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
