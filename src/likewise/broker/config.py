"""The broker's configuration: one TOML file, each value overridable from the environment.

`LIKEWISE_<SECTION>_<NAME>` overrides `[section] name`, so `LIKEWISE_SERVER_PORT=9000` stands above `[server] port =
8787`. A name that is not known is refused, in the file as in the environment.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from likewise import defaults
from likewise.api.subscribers import QueuePolicy
from likewise.errors import ArtefactMissing, FormatError, InputError
from likewise.matching.registry import parse_engines
from likewise.model import Kind
from likewise.model.time import duration, duration_text

PREFIX: Final = "LIKEWISE_"
FOREVER: Final = "forever"


class ServerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the broker listens; without tokens, under which names and for which web pages (docs/broker.md).

    `connections` bounds HTTP, WebSocket and MQTT connections together; if it is left out, it is 10,000 or what the
    limit of open files allows. `proxies` are addresses or networks that speak for many clients: bounds and delays for
    one address do not apply to them. Loopback is one by default. `request_bytes` bounds the bytes of requests that are
    not answered yet, `receive_bytes` those of packets of MQTT after a login and of messages of WebSockets that are not
    complete; one tenant may have half of either.
    """

    host: str = defaults.HOST
    port: int = defaults.PORT
    tls_certificate: str | None = None
    tls_key: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    connections: int | None = None
    proxies: tuple[str, ...] = ("127.0.0.0/8", "::1")
    request_bytes: int = defaults.RECEIVE_BYTES
    receive_bytes: int = defaults.RECEIVE_BYTES

    def __post_init__(self) -> None:
        for name in ("request_bytes", "receive_bytes"):
            if not 1 <= (value := getattr(self, name)) <= 2**40:
                raise InputError(f"[server] {name} is from 1 to {2**40:,}, not {value:,}")
        if self.connections is not None and not 1 <= self.connections <= 10_000_000:
            raise InputError(f"[server] connections is from 1 to 10,000,000, not {self.connections:,}")
        for text in self.proxies:
            try:
                ipaddress.ip_network(text)
            except ValueError as error:
                raise InputError(f"[server] proxies: {error}") from None


@lru_cache(maxsize=16)  # asked for with every event
def _span(keep: int | str | None) -> int | None:
    if keep is None or keep == FOREVER:
        return None
    return int(keep) if isinstance(keep, int) or keep.isdecimal() else duration(keep)


class StoreSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Retention: `keep` ends the validity of every event so long after its arrival, if not sooner.

    It is a span of time such as `7 days`, `12 h` or a number of µs; `forever` ends none.

    >>> StoreSettings("12 h").retention, StoreSettings("forever").retention
    (43200000000, None)
    """

    keep: int | str | None = defaults.KEEP

    def __post_init__(self) -> None:
        if (span := self.retention) is not None and span <= 0:
            raise InputError(f"events must be kept for some time; `keep` says {self.keep!r}: say `forever`, or a span")

    @property
    def retention(self) -> int | None:
        """Return how long events are kept, in µs; None for ever."""
        return _span(self.keep)

    @property
    def text(self) -> str:
        """Return the retention as text.

        >>> StoreSettings(90_000_000).text, StoreSettings("7 days").text
        ('1 min 30 s', '7 days')
        """
        if self.retention is None:
            return FOREVER
        return (
            duration_text(self.retention)
            if isinstance(self.keep, int) or str(self.keep).isdecimal()
            else str(self.keep)
        )


class QueueSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The policy and limit of a queue unless its subscriber asks for something else."""

    policy: QueuePolicy = "drop-oldest"
    limit: int = defaults.QUEUE_LIMIT


class MatchingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of matching; each has a default.

    `profile` chooses the engines, and `engines` another one for single kinds of subscriptions, by its name
    (docs/engines): `engines.interest = "sgim"`. `types` is an RDF file of declared types that `is-a` follows.
    `compile` says whether `likewise serve` compiles what matching needs before it listens, where that was not done
    before; without it the first events wait. `cache_bytes` is what each engine of a tenant may keep of what it
    computed about words: names that never repeat take no more. `workers` are processes that match beside the broker's
    (docs/guides/workers.md): none, so many, or `auto`: as many as `policy` says, within what `[workers]` allows.
    """

    space: str | None = None
    measure: str | None = None
    threshold: float | None = None
    profile: Literal["full", "small"] = "full"
    types: str | None = None
    compile: bool = True
    cache_bytes: int = defaults.BROKER_CACHE_BYTES
    workers: int | Literal["auto"] = 0
    architecture: Literal["replicated", "partitioned", "hierarchical"] = "replicated"
    policy: Literal["paper", "utilisation"] = "utilisation"
    engines: dict[Kind, str] = {}

    def __post_init__(self) -> None:
        if self.workers != "auto" and not 0 <= self.workers <= 256:
            raise InputError(f'[matching] workers is "auto" or from 0 to 256, not {self.workers}')


class WorkerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds and thresholds of the worker pool; `likewise admin workers` changes them at run time.

    `maximum` is one less than the cores if it is left out; `memory` are the bytes all workers may take together, 0 for
    no bound. `split_us` and `merge_us` (µs an event, over the `last` ones) are the thresholds of the policy `paper`;
    `split_busy` and `merge_busy` (shares of `span` seconds) of `utilisation`. `pause` seconds lie between two changes.

    With `listen`, such as `0.0.0.0:8790`, all workers come from other machines, which connect there over TLS, with the
    certificate of `[server]`, and show what is in `token_file` (`likewise worker --connect`).
    """

    minimum: int = 1
    maximum: int | None = None
    memory: int = 0
    split_us: float = defaults.WORKER_SPLIT_US
    merge_us: float = defaults.WORKER_MERGE_US
    last: int = defaults.WORKER_LAST
    split_busy: float = defaults.WORKER_SPLIT_BUSY
    merge_busy: float = defaults.WORKER_MERGE_BUSY
    span: float = defaults.WORKER_SPAN
    pause: float = defaults.WORKER_PAUSE
    listen: str | None = None
    token_file: str | None = None

    def __post_init__(self) -> None:
        if (self.listen is None) != (self.token_file is None):
            raise InputError("[workers] listen and token_file are given both, or neither")
        if self.listen is not None and not re.fullmatch(r".+:\d{1,5}", self.listen):
            raise InputError(f"[workers] listen is HOST:PORT such as 0.0.0.0:8790, not {self.listen!r}")


class AlertSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Times of alerts (docs/guides/alerts.md): the silence after which a key is forgotten, how late events may come,
    and after what silence an active source no longer blocks a new alarm by another source of its key."""

    forget: str = "30 d"
    lateness: str = "0 s"
    stale: str = "24 h"

    def __post_init__(self) -> None:
        duration(self.forget)
        duration(self.lateness)
        duration(self.stale)


class AnnotationSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The annotations of sources, models, topics and attributes: a CSV file, read again when it changes."""

    file: str | None = None


class CatalogueSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the catalogue: whether source profiles are learnt from events (docs/guides/catalogue.md)."""

    learn: bool = True


class LakeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lake, which keeps readings for good (docs/guides/lake.md); there is none without `folder`.

    `folder` may be an address such as `s3://bucket/lake`. `format` is `parquet` or `delta`. `keep` says what is kept:
    `matches` alone, the `wanted` events too, or `all`. `name` is what this broker's batches go by there, one for each
    broker that writes the same lake. `every` is how long what came may wait until it is written. `stream_log` is where
    the change log of each tenant's subscriptions is written for streams on Spark, with a lake or without one.
    """

    folder: str | None = None
    format: Literal["parquet", "delta"] = "parquet"
    keep: Literal["matches", "wanted", "all"] = "wanted"
    name: str = "broker"
    every: str = "10 s"
    stream_log: str | None = None

    def __post_init__(self) -> None:
        duration(self.every)
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_]{0,39}", self.name):
            raise InputError(
                f"[lake] name is up to 40 letters, digits and _, not {self.name!r}: files are called by it"
            )


class TenantLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of one tenant; `rate` is in events a second, unlimited if it is left out.

    `backlog` is how many entries may wait to be matched, `backlog_seconds` how long what waits may take at the pace of
    late; past either, publishers are told to come again. `retained_topics` and `retained_bytes` bound the retained
    messages of MQTT; a message that would exceed them is refused with 0x97.
    """

    body: int = defaults.MAX_BODY_BYTES
    batch: int = defaults.MAX_BATCH_EVENTS
    subscriptions: int = defaults.MAX_SUBSCRIPTIONS
    subscribers: int = defaults.MAX_SUBSCRIBERS
    queue: int = defaults.MAX_QUEUE_LIMIT
    rate: float | None = None
    backlog: int = defaults.MAX_BACKLOG
    backlog_seconds: float = defaults.MAX_BACKLOG_SECONDS
    retained_topics: int = defaults.MAX_RETAINED_TOPICS
    retained_bytes: int = defaults.MAX_RETAINED_BYTES


class BridgeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A foreign MQTT broker whose messages are published here (docs/guides/mqtt.md).

    `url` is `mqtt://host/topic/#`, with `mqtts` over TLS. `maps` are presets or files of topic maps, all presets if it
    is left out. `share` names a group of bridges that share the messages. `password_file` keeps a secret out of here.
    """

    url: str
    topics: tuple[str, ...] = ()
    share: str = ""
    client_id: str = ""
    session: str = defaults.BRIDGE_SESSION
    tenant: str = defaults.TENANT
    maps: tuple[str, ...] | None = None
    username: str | None = None
    password: str | None = None
    password_file: str | None = None
    tls_authority: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None


class NormalizeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Readings under common names and in common units, published to an MQTT broker (docs/guides/normalize.md).

    `to` is `mqtt://host/norm/{source}/{name}`; nothing is published if it is left out. `names` is a file of common
    names. `format` is what a message holds, `confidence` the probability that a name needs, and `retain` says whether
    messages are retained: as the `original` was, `always` or `never`.
    """

    to: str | None = None
    names: str | None = None
    format: Literal["json", "value", "senml", "ngsi-ld"] = "json"
    confidence: float = 0.8
    retain: Literal["original", "always", "never"] = "original"
    tenant: str = defaults.TENANT
    username: str | None = None
    password: str | None = None
    password_file: str | None = None
    tls_authority: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.confidence <= 1:
            raise InputError(f"[normalize] confidence lies between 0 and 1, not at {self.confidence:g}")


class HomeAssistantSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Home Assistant's discovery of what a normaliser understands (docs/guides/home-assistant-without-yaml.md).

    `publish` switches it on, `prefix` is Home Assistant's, `confidence` the probability that a name needs.
    """

    publish: bool = False
    prefix: str = "homeassistant"
    confidence: float = 0.9


class AdviserSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A language model that may say what a normaliser is not sure of (docs/guides/normalize.md); none without `url`.

    `url` is an OpenAI-compatible address such as `http://localhost:11434/v1`. Advice as sure as `in_force` is a
    correction, none by default. At most `per_hour` questions are asked, with `pause` seconds between two.
    """

    url: str | None = None
    model: str = "default"
    key_file: str | None = None
    timeout: float = 30.0
    per_hour: int = 20
    pause: float = 5.0
    in_force: float = 1.0


class UnitsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Units of bare numbers: `customary = { energy = "kWh" }` by common name, where several are possible; and whether
    they are decided by what a source sent before, where it states none (docs/guides/catalogue.md)."""

    customary: dict[str, str] = {}
    learn: bool = True


class MqttSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """MQTT: brokers whose messages are published here (`bridge`), and the listener for devices.

    `port` and `tls_port` are where it is listened for them, on the server's host and with its certificate; not at all
    if both are left out. `session` is how long a session may outlive its connection, `connections` how many there may
    be, `packet_bytes` how large a packet, `receive_maximum` how many messages of a client are taken before the first is
    acknowledged, `in_flight` how many it is sent before it acknowledges one, `subscriptions` how many filters a session
    has, `keep_alive` how many seconds a client may be silent (0: as it says itself). With `strict` a payload that
    cannot be read is refused. `maps` are topic maps, all presets if it is left out.

    `connect_bytes` bounds a CONNECT, its will included; `connect_seconds` is the time until it must be there as a
    whole. `pending` bounds the connections that have not logged in, `pending_bytes` what is buffered of their packets;
    one address may have a quarter of either. `send_bytes` bounds the bytes that all clients together have not read,
    `stalled_seconds` is how long a client may read nothing of what waits for it.
    """

    bridge: tuple[BridgeSettings, ...] = ()
    port: int | None = None
    tls_port: int | None = None
    session: str = defaults.MQTT_SESSION
    connections: int = defaults.MAX_CONNECTIONS
    packet_bytes: int = defaults.MQTT_PACKET_BYTES
    receive_maximum: int = defaults.MQTT_RECEIVE_MAXIMUM
    in_flight: int = defaults.MQTT_IN_FLIGHT
    subscriptions: int = defaults.MQTT_SUBSCRIPTIONS
    keep_alive: int = defaults.MQTT_KEEP_ALIVE
    connect_bytes: int = defaults.MQTT_CONNECT_BYTES
    connect_seconds: float = defaults.MQTT_CONNECT_SECONDS
    pending: int = defaults.MQTT_PENDING
    pending_bytes: int = defaults.MQTT_PENDING_BYTES
    send_bytes: int = defaults.MQTT_SEND_BYTES
    stalled_seconds: float = defaults.STALLED_SECONDS
    strict: bool = False
    maps: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, least, most in (
            ("port", 0, 65_535),
            ("tls_port", 0, 65_535),
            ("connections", 1, 10_000_000),
            ("packet_bytes", 128, 268_435_455),
            ("receive_maximum", 1, 65_535),
            ("in_flight", 1, 65_535),
            ("subscriptions", 1, 10_000_000),
            ("keep_alive", 0, 65_535),
            ("connect_bytes", 128, 268_435_455),
            ("connect_seconds", 0.1, 3_600),
            ("pending", 1, 10_000_000),
            ("pending_bytes", 1, 2**40),
            ("send_bytes", 1, 2**40),
            ("stalled_seconds", 0.1, 86_400),
        ):
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise InputError(f"[mqtt] {name} is from {least:,} to {most:,}, not {value:,}")
        duration(self.session)


class TargetNetworks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Networks that targets may reach beside public ones: `allow = ["192.168.0.0/16"]` (docs/guides/targets.md)."""

    allow: tuple[str, ...] = ()


class EdgeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Brokers at the edge (docs/guides/edge.md): the seconds between two heartbeats of either side."""

    interval: float = defaults.EDGE_INTERVAL

    def __post_init__(self) -> None:
        if not 0.05 <= self.interval <= 3600:
            raise InputError(f"[edges] interval is from 0.05 to 3600 seconds, not {self.interval:g}")


class LoggingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The level and the format of the log: `json` or `text`."""

    level: str = "info"
    format: str = "json"


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole configuration.

    >>> Config().server.port
    8787
    """

    server: ServerSettings = ServerSettings()
    store: StoreSettings = StoreSettings()
    queues: QueueSettings = QueueSettings()
    matching: MatchingSettings = MatchingSettings()
    workers: WorkerSettings = WorkerSettings()
    annotations: AnnotationSettings = AnnotationSettings()
    alerts: AlertSettings = AlertSettings()
    catalogue: CatalogueSettings = CatalogueSettings()
    lake: LakeSettings = LakeSettings()
    limits: TenantLimits = TenantLimits()
    mqtt: MqttSettings = MqttSettings()
    normalize: NormalizeSettings = NormalizeSettings()
    home_assistant: HomeAssistantSettings = HomeAssistantSettings()
    adviser: AdviserSettings = AdviserSettings()
    units: UnitsSettings = UnitsSettings()
    targets: TargetNetworks = TargetNetworks()
    edges: EdgeSettings = EdgeSettings()
    logging: LoggingSettings = LoggingSettings()

    def __post_init__(self) -> None:
        if self.workers.listen is not None and self.matching.workers == 0:
            raise InputError(
                '[workers] listen is of no use without workers: say how many in [matching] workers, or "auto"'
            )


def read_config(path: Path | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """Read the configuration of a file, if one is named, overridden by the environment.

    A list is written with commas in the environment, and so are engines: `interest=sgim,near=r-tree`.

    >>> read_config(environment={"LIKEWISE_SERVER_PORT": "9000"}).server.port
    9000
    >>> read_config(environment={"LIKEWISE_SERVER_HOSTS": "a.example, b.example"}).server.hosts
    ('a.example', 'b.example')
    """
    sections: dict[str, dict[str, object]] = {}
    if path is not None:
        try:
            sections = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ArtefactMissing(
                f"there is no configuration file {path}; name another or leave --config out"
            ) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FormatError(f"{path} is not TOML: {error}") from None
    for name, value in (os.environ if environment is None else environment).items():
        section, _, key = name.removeprefix(PREFIX).lower().partition("_")
        if name.startswith(PREFIX) and section in Config.__struct_fields__ and key:
            items = [item.strip() for item in value.split(",") if item.strip()]
            if (section, key) == ("matching", "engines"):
                sections.setdefault(section, {})[key] = parse_engines(items)
                continue
            sections.setdefault(section, {})[key] = items if _is_list(section, key) else value
    try:
        return msgspec.convert(sections, Config, strict=False)
    except (msgspec.ValidationError, InputError) as error:
        raise FormatError(f"the configuration cannot be used: {error}; see docs/broker.md") from None


def _is_list(section: str, key: str) -> bool:
    """Return whether a setting is a list of texts, perhaps an optional one."""
    setting = get_type_hints(get_type_hints(Config)[section]).get(key)
    return any(get_origin(kind) is tuple for kind in (setting, *get_args(setting)))
