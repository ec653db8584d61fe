"""Topic maps: what a topic's levels mean, who sends what is published there, and how it is read (docs/guides/mqtt.md).

A map is a TOML file of `[[topic]]` tables, looked through in order; the first one whose `topic` fits decides:

    [[topic]]
    topic = "tele/{device...}/SENSOR"         # {name} names a level, {name...} one or more, + is any one, # the rest
    source = "tasmota:{device}"               # who sends it; without it, the topic up to and including {device}
    units = { Temperature = "$TempUnit" }     # the unit of an attribute; $ names the field that says it

A source is never a bare last level, since two devices may share that. Every named level is a tuple, unless its name
begins with `_`. Without `read` a payload is looked at.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import FormatError, LikewiseError
from likewise.matching.topics.topic_trie import TopicTrie
from likewise.server.mqtt.sparkplug.decoder import LEVELS
from likewise.server.mqtt.sparkplug.decoder import sparkplug_source as sparkplug_source
from likewise.units import any_unit

Reader = Literal[
    "auto",
    "json",
    "value",
    "text",
    "senml",
    "cloudevent",
    "telegraf",
    "sparkplug",
    "discovery",
    "exposes",
    "tasmota",
    "describes",
    "skip",
]
_NAMED: Final = re.compile(r"\{([a-z_][a-z0-9_]*)(\.\.\.)?(?::(.+))?\}")
_FIELD: Final = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_HEADER: Final = re.compile(r"^[ \t]*\[\[\s*topic\s*\]\]", re.MULTILINE)
_DIGEST: Final = 16  # hexadecimal digits that tell the long names apart that begin alike


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule of a topic map: which topics, how their payloads are read, and which source sends them.

    `source` is a template of the source's name, over the named levels. `when` lists the payloads that the rule is for:
    any other is left to the rules after it. `identity` is the field of the payload that says the device's stable id.
    `within` is the field that holds the readings, `also` further fields that are kept beside them, `id` the fields
    that tell one message from another, `time` the field of the event's time. `name` and `unit` are of a bare value;
    `name` is a template, too. `names` says for attributes of an object what they are. `strict` refuses what cannot be
    read instead of keeping its bytes.
    """

    topic: str
    read: Reader = "auto"
    source: str = ""
    when: tuple[str, ...] = ()
    identity: str = ""
    within: str = ""
    also: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    time: str = ""
    name: str = ""
    unit: str = ""
    units: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    themes: tuple[str, ...] = ()
    strict: bool = False

    def __post_init__(self) -> None:
        names = _check_filter(self.topic)
        missing = [name for name in LEVELS if name not in names]
        if self.read == "sparkplug" and missing:
            raise FormatError(f"Sparkplug's topics name {{{missing[0]}}}; write spBv1.0/{{group}}/{{message}}/{{node}}")
        for template in (self.source, self.name):
            for field in _FIELD.findall(template):
                if field not in names:
                    raise FormatError(f"{template[:80]!r} names {{{field}}}, which is no level of {self.topic[:80]!r}")
        for unit in (self.unit, *self.units.values()):
            if unit and not unit.startswith("$") and any_unit(unit) is None:
                raise FormatError(f"{unit[:40]!r} is no unit; write one like degC or kPa, or $FIELD that says it")


class ResolvedTopic(NamedTuple):
    """A rule that fits a topic: its named levels there, the source by its name, and what a bare value is called.

    `generic` says that the map names no device there, so that the source is the topic itself.
    """

    rule: Rule
    levels: dict[str, str]
    source: str
    name: str = ""
    generic: bool = False


class _Level(NamedTuple):
    """One level of a rule's topic: a text, or any (`text` is None) that the pattern takes."""

    text: str | None
    name: str = ""
    pattern: re.Pattern[str] | None = None

    def fits(self, level: str) -> bool:
        if self.text is not None:
            return self.text == level
        return self.pattern is None or self.pattern.fullmatch(level) is not None


class _Pattern:
    """A rule's topic, taken apart: levels before and after the one that spans several, if there is one."""

    def __init__(self, topic: str) -> None:
        levels = topic.split("/")
        self.rest = levels[-1] == "#"
        self.span = ""
        self.head: list[_Level] = []
        self.tail: list[_Level] = []
        for level in levels[:-1] if self.rest else levels:
            named = _NAMED.fullmatch(level)
            if named is not None and named[2]:
                self.span = named[1]
                continue
            made = _Level(None if named is not None or level == "+" else level)
            if named is not None:
                made = _Level(None, named[1], re.compile(named[3]) if named[3] else None)
            (self.tail if self.span else self.head).append(made)

    def filter(self) -> str:
        """Return the filter of MQTT that takes every topic the pattern takes, and perhaps more."""
        head = ["+" if level.text is None else level.text for level in self.head]
        return "/".join([*head, "#"] if self.span or self.rest else head)

    def match(self, levels: Sequence[str]) -> tuple[dict[str, str], dict[str, int]] | None:
        """Return the named levels, and where each ends (a count of levels); None if the topic does not fit.

        The level that spans several takes as many as it can: the longest prefix names the device.
        """
        free = len(levels) - len(self.head) - len(self.tail)
        if free < bool(self.span) or (free and not (self.span or self.rest)):
            return None
        if not all(map(_Level.fits, self.head, levels)):
            return None
        lengths = [0] if not self.span else range(free, 0, -1) if self.rest else [free]
        for length in lengths:
            start = len(self.head) + length
            if all(map(_Level.fits, self.tail, levels[start:])):
                return self._named_levels(levels, length)
        return None

    def _named_levels(self, levels: Sequence[str], length: int) -> tuple[dict[str, str], dict[str, int]]:
        values: dict[str, str] = {}
        ends: dict[str, int] = {}
        middle = len(self.head) + length
        if self.span:
            values[self.span], ends[self.span] = "/".join(levels[len(self.head) : middle]), middle
        for first, part in ((0, self.head), (middle, self.tail)):
            for place, level in enumerate(part, first):
                if level.name and levels[place]:
                    values[level.name], ends[level.name] = levels[place], place + 1
        return values, ends


class _RuleSet(NamedTuple):
    """The rules of a topic: those that ask for a payload, and the first that takes any."""

    conditional: tuple[ResolvedTopic, ...]
    always: ResolvedTopic


KNOWN_TOPICS: Final = 16_384  # whose rules are remembered; together some megabytes
KNOWN_LENGTH: Final = 256  # characters of such a topic


class TopicMap:
    """Rules in order; the first that fits decides, and the last fits everything.

    >>> found = TopicMap([Rule("shellies/{device}/sensor/+")]).find("shellies/ht-1/sensor/humidity")
    >>> found.levels, found.source, found.rule.read
    ({'device': 'ht-1'}, 'shellies/ht-1', 'auto')
    >>> TopicMap([Rule("tele/{device...}/LWT", source="tasmota:{device}")]).find("tele/cellar/pump/LWT").source
    'tasmota:cellar/pump'
    >>> TopicMap([]).find("a/b").source
    'a/b'
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = (*rules, Rule("#"))
        self._patterns = [_Pattern(rule.topic) for rule in self.rules]
        self._trie = TopicTrie()
        self._numbers: dict[int, list[int]] = {}  # rules that share a filter, by the first of them
        for number, pattern in enumerate(self._patterns):
            plain = pattern.filter()
            first = self._trie.get(plain)
            if first is None:
                self._trie.add(plain, number)
            self._numbers.setdefault(number if first is None else first, []).append(number)
        self._known: dict[str, _RuleSet] = {}  # devices publish to the same topics again and again

    def find(self, topic: str, payload: bytes | None = None) -> ResolvedTopic:
        """Return the rule of a topic, and who sends what is published there.

        A broker's own topics (`$SYS`), which no wildcard stands for, have the last rule. Without a payload no rule
        counts that is for some payloads only.
        """
        known = self._known.get(topic)
        if known is None:
            known = self._rules_for(topic)
            if len(topic) <= KNOWN_LENGTH:
                if len(self._known) >= KNOWN_TOPICS:
                    self._known.clear()
                self._known[topic] = known
        if payload is not None and known.conditional and len(payload) <= MAX_TERM_LENGTH:
            text = payload.strip().decode("utf-8", "replace")
            for each in known.conditional:
                if text in each.rule.when:
                    return each
        return known.always

    def _rules_for(self, topic: str) -> _RuleSet:
        numbers = sorted(number for first in self._trie.find(topic) for number in self._numbers[first])
        levels = topic.split("/")
        conditional: list[ResolvedTopic] = []
        for number in numbers:
            match = self._patterns[number].match(levels)
            if match is not None:
                named = _resolve(self.rules[number], topic, levels, *match)
                if not named.rule.when:
                    return _RuleSet(tuple(conditional), named)
                conditional.append(named)
        return _RuleSet(tuple(conditional), _resolve(self.rules[-1], topic, levels, {}, {}))


def _resolve(
    rule: Rule, topic: str, levels: list[str], values: dict[str, str], ends: Mapping[str, int]
) -> ResolvedTopic:
    generic = False
    if rule.source:
        source = _fill_template(rule.source, values)
    elif rule.read == "sparkplug":
        source = sparkplug_source(values)
    elif "device" in ends:
        source = "/".join(levels[: ends["device"]])
    else:
        source, generic = topic, True
    public = {name: level for name, level in values.items() if not name.startswith("_")}
    dotted = {name: level.replace("/", ".") for name, level in values.items()}
    return ResolvedTopic(
        rule, public, shorten_source(source or topic), _fill_template(rule.name, dotted)[:MAX_TERM_LENGTH], generic
    )


def _fill_template(template: str, levels: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda field: levels.get(field[1], ""), template)


def shorten_source(source: str) -> str:
    """Return a source's name, shortened if it is too long: two long names that begin alike stay apart.

    >>> one, other = shorten_source("a" * 2_000 + "b"), shorten_source("a" * 2_000 + "c")
    >>> len(one), one == other, shorten_source("attic")
    (1024, False, 'attic')
    """
    if len(source) <= MAX_TERM_LENGTH:
        return source
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{source[: MAX_TERM_LENGTH - _DIGEST - 1]}~{digest}"


def _check_filter(topic: str) -> list[str]:
    """Refuse a topic that is no pattern; the names of its levels."""
    levels = topic.split("/")
    names: list[str] = []
    spans = 0
    for place, level in enumerate(levels):
        named = _NAMED.fullmatch(level)
        if named is not None:
            names.append(named[1])
            spans += bool(named[2])
            if named[3]:
                if named[2]:
                    raise FormatError(f"the level {level[:40]!r} spans several and has a pattern; it can do only one")
                try:
                    re.compile(named[3])
                except re.error as error:
                    raise FormatError(f"the pattern of the level {level[:40]!r} cannot be read: {error}") from None
        elif level == "#" and place < len(levels) - 1:
            raise FormatError(f"the topic {topic[:80]!r} goes on after #, which stands at the end only")
        elif level not in ("+", "#") and set("+#{}") & set(level):
            raise FormatError(
                f"the level {level[:40]!r} of the topic {topic[:80]!r} mixes text and a sign; write +, # or {{name}}, "
                "a name in small letters"
            )
    if spans > 1:
        raise FormatError(f"two levels of the topic {topic[:80]!r} span several; where one ends would be unclear")
    if not topic or len(set(names)) < len(names):
        raise FormatError("a topic is empty or names two levels alike; name each once: home/{place}/{device}")
    return names


def read_map(text: str, where: str) -> list[Rule]:
    """Return the rules of a map in TOML; a bad one is refused with its line.

    >>> read_map('[[topic]]\\ntopic = "a/#/b"\\n', "mine.toml")
    Traceback (most recent call last):
    likewise.errors.FormatError: mine.toml, line 1: the topic 'a/#/b' goes on after #, which stands at the end only
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{where} is no TOML: {error}") from None
    unknown = sorted(set(document) - {"topic"})
    if unknown:
        line = _line_of(text, rf"^\s*\[*\s*[\"']?{re.escape(unknown[0])}")
        raise FormatError(f"{where}, line {line}: a topic map holds [[topic]] tables only, not {unknown[0][:40]!r}")
    lines = [1 + text.count("\n", 0, match.start()) for match in _HEADER.finditer(text)]
    tables = document.get("topic", [])
    if not isinstance(tables, list):
        line = _line_of(text, r"^\s*\[?\s*topic")
        raise FormatError(f"{where}, line {line}: write each topic as [[topic]], with two brackets")
    return [
        _rule(each, where, line)
        for table, line in zip(tables, _padded(lines), strict=False)
        for each in _expand_topics(table)
    ]


def _expand_topics(table: object) -> list[object]:
    """Return a table for each topic of a table that lists several."""
    topics = table.get("topic") if isinstance(table, dict) else None
    if not isinstance(table, dict) or not isinstance(topics, list):
        return [table]
    made: list[dict[str, Any]] = [{**table, "topic": topic} for topic in topics]
    return list(made) or [{**table, "topic": ""}]


def _line_of(text: str, pattern: str) -> int:
    """Return the line where a pattern is first met; the first line if nowhere."""
    match = re.search(pattern, text, re.MULTILINE)
    return 1 if match is None else 1 + text.count("\n", 0, match.end())


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
    """Return the maps that come with Likewise.

    >>> "zigbee2mqtt" in presets()
    True
    """
    folder = resources.files("likewise.server.mqtt") / "maps"
    return tuple(sorted(each.name.removesuffix(".toml") for each in folder.iterdir() if each.name.endswith(".toml")))


def load_maps(names: Iterable[str] | None = None) -> TopicMap:
    """Return the map of presets and files, in this order; of all presets if none is named.

    A preset whose topics begin with any level (`{device...}/status`) comes last wherever it is named, so that it takes
    no topic of a more exact one.

    Raises:
        FormatError: a name is neither a preset nor a file, or its rules cannot be read; with file and line.

    >>> load_maps(["tasmota"]).find("tele/plug-3/SENSOR").source
    'tasmota:plug-3'
    """
    known = presets()
    exact: list[Rule] = []
    broad: list[Rule] = []
    for name in known if names is None else names:
        if name in known:
            text = (resources.files("likewise.server.mqtt") / "maps" / f"{name}.toml").read_text(encoding="utf-8")
        else:
            try:
                text = Path(name).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise FormatError(
                    f"there is no topic map {name!r} ({error}); name a file, or one of {', '.join(known)}"
                ) from None
        for rule in read_map(text, name):
            (broad if name in known and _starts_with_wildcard(rule.topic) else exact).append(rule)
    return TopicMap([*exact, *broad])


def _starts_with_wildcard(topic: str) -> bool:
    """Return whether the first level of a rule's topic takes any text."""
    first = topic.partition("/")[0]
    named = _NAMED.fullmatch(first)
    return first == "+" or (named is not None and not named[3])
