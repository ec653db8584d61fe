"""Topic maps: what a topic's levels mean, and how what is published there is read (docs/guides/mqtt.md).

A map is a TOML file of `[[topic]]` tables, looked through in order; the first one whose `topic` fits decides:

    [[topic]]
    topic = "tele/{device}/SENSOR"            # {name} names a level, + is any one level, # the rest
    units = { Temperature = "$TempUnit" }     # the unit of an attribute; $ names the field that says it

`device` is the event's source; every named level is a tuple. Without `read` a payload is looked at.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from likewise.connectors.mqtt.sparkplug.reading import LEVELS
from likewise.errors import FormatError, LikewiseError
from likewise.matching.topics.trie import TopicTrie
from likewise.model.units import any_unit

Reader = Literal[
    "auto", "json", "value", "text", "senml", "cloudevent", "telegraf", "sparkplug", "discovery", "exposes", "skip"
]  # fmt: skip
_NAMED: Final = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_HEADER: Final = re.compile(r"^[ \t]*\[\[\s*topic\s*\]\]", re.MULTILINE)


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How what is published to some topics is read.

    `within` is the field that holds the readings, `also` further fields that are kept beside them, `id` the fields
    that tell one message from another, `time` the field of the event's time. `name` and `unit` are of a bare value.
    `strict` refuses what cannot be read instead of keeping its bytes.
    """

    topic: str
    read: Reader = "auto"
    within: str = ""
    also: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    time: str = ""
    name: str = ""
    unit: str = ""
    units: Mapping[str, str] = {}
    themes: tuple[str, ...] = ()
    strict: bool = False

    def __post_init__(self) -> None:
        _check_filter(self.topic)
        missing = [name for name in LEVELS if f"{{{name}}}" not in self.topic.split("/")]
        if self.read == "sparkplug" and missing:
            raise FormatError(f"Sparkplug's topics name {{{missing[0]}}}; write spBv1.0/{{group}}/{{message}}/{{node}}")
        for unit in (self.unit, *self.units.values()):
            if unit and not unit.startswith("$") and any_unit(unit) is None:
                raise FormatError(f"{unit[:40]!r} is no unit; write one like degC or kPa, or $FIELD that says it")


class Named(NamedTuple):
    """A rule that fits a topic, and what its named levels say there."""

    rule: Rule
    levels: dict[str, str]


KNOWN_TOPICS: Final = 16_384  # whose rules are remembered; together some megabytes
KNOWN_LENGTH: Final = 256  # characters of such a topic


class TopicMap:
    """Rules in order; the first that fits decides, and the last fits everything.

    >>> found = TopicMap([Rule("shellies/{device}/sensor/+")]).find("shellies/ht-1/sensor/humidity")
    >>> found.levels, found.rule.read
    ({'device': 'ht-1'}, 'auto')
    >>> TopicMap([]).find("a/b").levels
    {}
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = (*rules, Rule("#"))
        self._trie = TopicTrie()
        for number, rule in enumerate(self.rules):
            plain = "/".join("+" if _NAMED.fullmatch(level) else level for level in rule.topic.split("/"))
            if self._trie.get(plain) is None:  # else an earlier rule has all of its topics
                self._trie.add(plain, number)
        self._known: dict[str, Named] = {}  # devices publish to the same topics again and again

    def find(self, topic: str) -> Named:
        """The rule of a topic; the last one also of a broker's own (`$SYS`), which no sign stands for."""
        known = self._known.get(topic)
        if known is not None:
            return known
        rule = self.rules[min(self._trie.find(topic), default=-1)]
        pairs = zip(map(_NAMED.fullmatch, rule.topic.split("/")), topic.split("/"), strict=False)
        found = Named(rule, {named[1]: level for named, level in pairs if named is not None and level})
        if len(topic) <= KNOWN_LENGTH:
            if len(self._known) >= KNOWN_TOPICS:
                self._known.clear()
            self._known[topic] = found
        return found


def _check_filter(topic: str) -> None:
    levels = topic.split("/")
    names: list[str] = []
    for place, level in enumerate(levels):
        named = _NAMED.fullmatch(level)
        if named is not None:
            names.append(named[1])
        elif level == "#" and place < len(levels) - 1:
            raise FormatError(f"the topic {topic[:80]!r} goes on after #, which stands at the end only")
        elif level not in ("+", "#") and set("+#{}") & set(level):
            raise FormatError(
                f"the level {level[:40]!r} of the topic {topic[:80]!r} mixes text and a sign; write +, # or {{name}}, "
                "a name in small letters"
            )
    if not topic or len(set(names)) < len(names):
        raise FormatError("a topic is empty or names two levels alike; name each once: home/{place}/{device}")


def read_map(text: str, where: str) -> list[Rule]:
    """The rules of a map in TOML; a bad one is refused with its line.

    >>> read_map('[[topic]]\\ntopic = "a/#/b"\\n', "mine.toml")
    Traceback (most recent call last):
    likewise.errors.FormatError: mine.toml, line 1: the topic 'a/#/b' goes on after #, which stands at the end only
    """
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{where} is no TOML: {error}") from None
    unknown = sorted(set(said) - {"topic"})
    if unknown:
        line = _line(text, rf"^\s*\[*\s*[\"']?{re.escape(unknown[0])}")
        raise FormatError(f"{where}, line {line}: a topic map holds [[topic]] tables only, not {unknown[0][:40]!r}")
    lines = [1 + text.count("\n", 0, found.start()) for found in _HEADER.finditer(text)]
    tables = said.get("topic", [])
    if not isinstance(tables, list):
        line = _line(text, r"^\s*\[?\s*topic")
        raise FormatError(f"{where}, line {line}: write each topic as [[topic]], with two brackets")
    return [_rule(table, where, line) for table, line in zip(tables, _padded(lines), strict=False)]


def _line(text: str, pattern: str) -> int:
    """The line where a pattern is first met; the first line if nowhere."""
    found = re.search(pattern, text, re.MULTILINE)
    return 1 if found is None else 1 + text.count("\n", 0, found.end())


def _padded(lines: list[int]) -> Iterator[int]:
    yield from lines
    while True:
        yield lines[-1] if lines else 1


def _rule(table: object, where: str, line: int) -> Rule:
    try:
        return msgspec.convert(table, Rule)
    except (LikewiseError, msgspec.ValidationError) as error:
        raise FormatError(f"{where}, line {line}: {error}") from None


def presets() -> tuple[str, ...]:
    """The maps that come with Likewise.

    >>> "zigbee2mqtt" in presets()
    True
    """
    folder = resources.files("likewise.connectors.mqtt") / "maps"
    return tuple(sorted(each.name.removesuffix(".toml") for each in folder.iterdir() if each.name.endswith(".toml")))


def load_maps(names: Iterable[str] | None = None) -> TopicMap:
    """The map of presets and files, in this order; all presets if none is named.

    >>> load_maps(["tasmota"]).find("tele/plug-3/SENSOR").levels
    {'device': 'plug-3'}
    """
    known, rules = presets(), []
    for name in known if names is None else names:
        if name in known:
            text = (resources.files("likewise.connectors.mqtt") / "maps" / f"{name}.toml").read_text(encoding="utf-8")
        else:
            try:
                text = Path(name).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise FormatError(
                    f"there is no topic map {name!r} ({error}); name a file, or one of {', '.join(known)}"
                ) from None
        rules += read_map(text, name)
    return TopicMap(rules)
