"""Names read in plain English words before they are taken apart: aliases, languages, compounds, codes, short forms.

`Zulufttemperatur_Soll` is a `supply air temperature setpoint`, `CHWST` a `chilled supply water temperature`, and
`1-0:1.8.0` imported energy. What a phrase of the encyclopaedia stands for replaces it; everything else stays as it is
written, so that a name without such a phrase is read as before. Where a short form may stand for several things, each
is a reading, and so is the name as written if it is a word: which one holds is decided against what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Final, NamedTuple

import msgspec

from likewise.semantics.concepts.encyclopaedia.lexicon import (
    JOINING,
    SMALL,
    Lexicon,
    Phrase,
    Sense,
    StateSense,
    folded,
    phrase_of,
    plain_phrase,
)
from likewise.semantics.concepts.inventory import Inventory
from likewise.semantics.concepts.normalisation.obis import obis_reading
from likewise.semantics.measure import Term
from likewise.semantics.text.identifiers import split_identifier
from likewise.semantics.text.stop_words import STOP_WORDS
from likewise.units import any_unit, find_unit, units_in_name

MOST_READINGS: Final = 4  # of one name
MOST_WORDS: Final = 24  # a longer text is a sentence, not a name
LONGEST_SHORT: Final = 8  # letters of a word that may be initials or cut
LEAST_SHORT: Final = 3  # letters of a short form that counts without other evidence
LEAST_FOREIGN: Final = 4  # letters of a word that says which language a name is in
_STOP: Final = STOP_WORDS["english"]
_SMALL: Final = _STOP | {"per", "in", "on", "at", "to", "by", "of", "over", "under", "since", "until", "via"}
_PIECE: Final = re.compile(r"[^\W_]+")
# What may stand beside the symbol of a quantity: phases, axes, numbers.
_BESIDE_SYMBOL: Final = frozenset({"l", "a", "b", "c", "n", "r", "s", "t", "x", "y", "z", "rms"})
_NUMBERED_BY_PHASE: Final = frozenset("uvi")  # symbols that have a bare number of a phase mostly
_PHASES: Final = frozenset({"l1", "l2", "l3"})
# How long a total runs is which one it is: `rain_24h` is daily.
_PERIODS: Final = (
    (re.compile(r"(?<![0-9.])(24 ?_?(?:h|hr|hrs|hours?)|1 ?_?d)(?![a-z0-9])", re.IGNORECASE), "daily"),
    (re.compile(r"(?<=[a-z])(_[Dd]ay|Day)$"), "daily"),
    (re.compile(r"(?<![0-9.])(1 ?_?(?:h|hr|hour)|60 ?_?min)(?![a-z0-9])", re.IGNORECASE), "hourly"),
)
_NUMBERED: Final = re.compile(r"([a-z]{1,4}?)(l?\d{1,3})")
_PER: Final = frozenset({"l", "s", "min", "h", "hr", "d", "day", "m", "m2", "m3", "kg", "km", "ml", "cm", "cm2"})
MOST_VALUE_WORDS: Final = 6
_AUXILIARIES: Final = frozenset(
    {"is", "are", "be", "been", "being", "has", "have", "the", "a", "an", "of", "state", "now"}
)
# Words that turn the state beside them, so that the rest is no thing that has it.
_NOT_A_THING: Final = frozenset(
    {"no", "not", "non", "never", "without", "nearly", "almost", "partly", "was", "were", "will", "to", "from", "by"}
    | {"and", "or", "but", "until", "before", "after", "than", "can", "cannot", "may", "soon", "yet", "un", "in", "on"}
)
_FOLLOWS: Final = frozenset({"qualifier", "role", "silent"})


class Rewrite(msgspec.Struct, frozen=True):
    """One step of normalisation: what was written, the plain words it stands for, and why."""

    written: str
    plain: str
    how: str


class Reading(msgspec.Struct, frozen=True):
    """A name in plain words, and how it came to them; without steps it is the name as written.

    `unit` is one that stood in the name and was taken out of it.
    """

    text: str
    steps: tuple[Rewrite, ...] = ()
    unit: str = ""


class ValueState(NamedTuple):
    """The states that a value may say, each with its groups of such as exclude it, and the names of what is in it."""

    senses: tuple[StateSense, ...]
    thing: frozenset[str] = frozenset()


NO_STATE: Final = ValueState(())


class _Token(NamedTuple):
    """A word of a name, folded, with its place, and in which part of a path it stands."""

    written: str
    text: str
    start: int
    end: int
    part: int = 0


class UnknownWord(NamedTuple):
    """A word of a name that may be short for something; not `sure` if it is also a word.

    `meant` are the words that it is known to stand for anyway.
    """

    start: int
    end: int
    text: str
    sure: bool = True
    meant: frozenset[str] = frozenset()


class _Choice(NamedTuple):
    """Words from `start` to `end` of the text, what they may stand for, and whether the writing itself may hold."""

    start: int
    end: int
    rewrites: tuple[Rewrite, ...]
    or_as_written: bool
    place: int  # where the plain words stand: the symbol before a name says what its last word would


class Normaliser:
    """Read names by a lexicon; `known` says whether a word is English. Pure: the same for the same term."""

    def __init__(self, lexicon: Lexicon, inventory: Inventory, known: Callable[[str], bool]) -> None:
        self._lexicon, self._inventory, self._known = lexicon, inventory, known
        # `len` is a cut `length` rather than Dutch, `prog` a program rather than a Polish limit.
        self._cut_words = frozenset(
            label[0][:letters]
            for label in inventory.labels
            for letters in range(LEAST_SHORT, LEAST_FOREIGN + 1)
            if len(label) == 1 and len(label[0]) > letters
        )

    def readings(self, term: Term) -> tuple[Reading, ...]:
        """The readings of a name, the likeliest first; at least one."""
        text = " ".join(term.text.split())
        code = self._lexicon.codes.get(text.casefold())
        if code is not None:
            return (Reading(code.target, (Rewrite(text, code.target, f"code, {code.domain}"),)),)
        written, plain = obis_reading(text)
        if plain:
            return (Reading(plain, (Rewrite(written, plain, "OBIS code"),)),)
        period: tuple[Rewrite, ...] = ()
        if not term.unit:
            text, period = _with_period(text)
        tokens = self._tokens(text)
        if not tokens or len(tokens) > MOST_WORDS:
            return (Reading(text),)
        if len(tokens) == 1:
            named = self._named_by_unit(text)
            if named:
                return (Reading(named, (Rewrite(text, named, "its unit"),), "" if term.unit else text), Reading(text))
        choices = self._choices(text, tokens, term)
        options = [(*c.rewrites, *((None,) if c.or_as_written else ())) for c in choices]
        found = [_applied(text, choices, picked) for picked in product(*options)]
        if period:
            found = [msgspec.structs.replace(reading, steps=(*period, *reading.steps)) for reading in found]
        found = [self._without_unit(reading, term) for reading in dict.fromkeys(found)]
        return tuple(found)[:MOST_READINGS]

    def _named_by_unit(self, text: str) -> str:
        """The kind that a name says which is a unit alone: `Hz` is a frequency."""
        if len(text) < 2 or self._inventory.has_label(folded(text)) or (folded(text),) in self._lexicon.phrases:
            return ""
        unit = find_unit(text)
        kinds = self._inventory.by_dimension.get(unit.dimension, ()) if unit is not None else ()
        return kinds[0] if kinds else ""

    def _without_unit(self, reading: Reading, term: Term) -> Reading:
        """A reading without a unit at its end that would be taken for a word: `mg_l`, and `kWh` after an energy."""
        tokens = self._tokens(reading.text)
        whole = tuple(token.text for token in tokens)
        if whole in self._inventory.labels or whole in self._lexicon.phrases:
            return reading  # `scrapPct` is listed as a whole
        for length in (2, 1):
            if term.unit or len(tokens) <= length:
                continue
            last = [t.written for t in tokens[-length:]]
            if length == 2 and last[1].casefold() not in _PER:
                continue
            unit = find_unit("/".join(last)) if length == 1 else any_unit("/".join(last))
            if unit is None or (length == 1 and not self._is_kind_and_unit(tokens, unit.dimension)):
                continue
            start = tokens[-length].start
            step = Rewrite("_".join(last), unit.symbol, "unit in the name")
            return Reading(reading.text[:start].rstrip("_ -./["), (*reading.steps, step), unit.symbol)
        return reading

    def _is_kind_and_unit(self, tokens: Sequence[_Token], dimension: str) -> bool:
        """Whether the last word is a unit that is also listed as a word, behind a kind that is measured in it."""
        if not self._inventory.has_label(tokens[-1].text):
            return False
        return any(
            c.sort == "kind" and dimension in c.dimensions
            for at in range(len(tokens) - 1)
            for c in self._inventory.labels.get(tuple(t.text for t in tokens[at : at + self._listed(tokens, at)]), ())
        )

    def unknown(self, text: str) -> list[UnknownWord]:
        """The words of a name that may be cut words or initials: those that nobody knows, and known ones in capitals.

        Usual short forms are among them where other words stand beside them: `stat` is the status, but
        `duct_stat_press` is a static pressure if that is asked for.
        """
        tokens = self._tokens(text)
        out = []
        for t in tokens:
            if not t.text.isalpha() or not 1 < len(t.text) <= LONGEST_SHORT or (t.text,) in self._inventory.labels:
                continue
            listed = (t.text,) in self._inventory.means or (t.text,) in self._lexicon.phrases
            known = self._known(t.text)
            capitals = t.written.isupper() and len(t.text) >= LEAST_SHORT
            if (listed and (len(tokens) > 1 or not self._inventory.has_label(t.text))) or (
                not listed and (capitals or not known)
            ):
                senses = self._lexicon.phrases.get((t.text,), ())
                meant = {w for s in senses for w in phrase_of(s.target)} | {*self._inventory.means.get((t.text,), ())}
                out.append(
                    UnknownWord(
                        t.start, t.end, t.text, not known if len(tokens) == 1 else listed or not known, frozenset(meant)
                    )
                )
        return out

    def value(self, text: str) -> ValueState:
        """The state that a value's text stands for, and of what: `door closed` is `closed`, of the door."""
        words = [folded(w) for w in split_identifier(text)]
        if not 0 < len(words) <= MOST_VALUE_WORDS:
            return NO_STATE
        whole = self._lexicon.values.get(tuple(words))
        if whole is not None:
            return ValueState(whole)
        for length in range(len(words) - 1, 0, -1):
            for state, rest in ((words[-length:], words[:-length]), (words[:length], words[length:])):
                thing = [word for word in rest if word not in _AUXILIARIES]
                found = self._lexicon.values.get(tuple(state))
                if found is not None and 0 < len(thing) <= 2 and _NOT_A_THING.isdisjoint(thing):
                    return ValueState(found, self._names_of(tuple(thing)))
        return NO_STATE

    def _names_of(self, thing: Phrase) -> frozenset[str]:
        """What a thing is called: its words, what the inventory lists them as, and the English for other languages."""
        listed = (c.name for c in self._inventory.labels.get(thing, ()))
        foreign = (s.target for s in self._lexicon.phrases.get(thing, ()) if s.how == "language")
        return frozenset((" ".join(thing), *listed, *foreign))

    def _tokens(self, text: str) -> list[_Token]:
        """The words of a text with their places; a run that the lexicon has as a whole is one word."""
        out = self._pieces(text)
        if len(out) < 2 or not ("." in text or "/" in text):
            return out
        part, parts = 0, []
        for at, token in enumerate(out):
            between = text[out[at - 1].end : token.start] if at else ""
            part += "/" in between or ("." in between and not token.text[0].isdigit())
            parts.append(token._replace(part=part))
        return parts

    def _pieces(self, text: str) -> list[_Token]:
        out = []
        for piece in _PIECE.finditer(text):
            whole = folded(piece.group())
            if (whole,) in self._lexicon.phrases or self._inventory.has_label(whole):
                out.append(_Token(piece.group(), whole, piece.start(), piece.end()))
                continue
            at = piece.start()
            for word in split_identifier(piece.group()):
                begin = text.index(word, at)
                at = begin + len(word)
                token = _Token(word, folded(word), begin, at)
                out += self._numbered(token) if word[-1].isdigit() else self._glued(token)
        return out

    def _glued(self, token: _Token) -> list[_Token]:
        """The symbol of a quantity and what it is the quantity of, as two words: `Udc`, `Ppv`, `Tamb`."""
        rest = token.text[1:]
        if len(rest) < 2 or (token.text,) in self._lexicon.phrases or self._is_english((token.text,)):
            return [token]
        symbol = any(s.how == "short" for s in self._lexicon.phrases.get((token.text[0],), ()))
        capital = token.written[0].isupper() and token.written[1:].islower()
        if not symbol or not capital or not self._is_qualifier(rest):
            return [token]
        cut = token.start + 1
        return [
            _Token(token.written[0], token.text[0], token.start, cut),
            _Token(token.written[1:], rest, cut, token.end),
        ]

    def _numbered(self, token: _Token) -> list[_Token]:
        """A short form and its number as two words (`HK1`, `U1`, `IL2`), unless both together are listed (`L1`)."""
        parts = _NUMBERED.fullmatch(token.text)
        if parts is None or self._inventory.has_label(token.text) or (token.text,) in self._lexicon.phrases:
            return [token]
        if not any(s.how == "short" for s in self._lexicon.phrases.get((parts[1],), ())):
            return [token]
        cut = token.start + len(parts[1])
        return [
            _Token(token.written[: len(parts[1])], parts[1], token.start, cut),
            _Token(token.written[len(parts[1]) :], parts[2], cut, token.end),
        ]

    def _is_qualifier(self, word: str) -> bool:
        """Whether a word, or what it is short for, says which one is meant."""
        phrase = self._inventory.means.get((word,), (word,))
        return any(c.sort == "qualifier" for c in self._inventory.labels.get(phrase, ())) or any(
            s.category == "qualifier" for s in self._lexicon.phrases.get((word,), ())
        )

    def _choices(self, text: str, tokens: Sequence[_Token], term: Term) -> list[_Choice]:
        languages = self._languages([t.written for t in tokens], term.context)
        stated = self._stated(text, term)
        out: list[_Choice] = []
        at = 0
        while at < len(tokens):
            choice, length = self._choice(tokens, at, languages, stated)
            if choice is not None:
                out.append(choice)
            at += max(1, length)
        return out

    def _choice(
        self, tokens: Sequence[_Token], at: int, languages: frozenset[str], stated: frozenset[str]
    ) -> tuple[_Choice | None, int]:
        """What the longest phrase from a place on stands for, and how many words it has; a listed label stays."""
        listed = self._listed(tokens, at)
        behind = tokens[at - 1].text if at and tokens[at].text == "min" else ""
        if behind.isdigit() or (behind and at == len(tokens) - 1 and self._is_time(behind)):
            step = Rewrite("min", "minute", "behind a number" if behind.isdigit() else "behind a time")
            return _Choice(tokens[at].start, tokens[at].end, (step,), False, tokens[at].end), 1
        for length in range(min(self._lexicon.longest, len(tokens) - at), 0, -1):
            words = tokens[at : at + length]
            phrase = tuple(t.text for t in words)
            senses = self._lexicon.phrases.get(phrase) or self._lexicon.phrases.get(self._expanded(phrase))
            if senses is None and length > 2 and phrase[0] not in SMALL and phrase[-1] not in SMALL:
                senses = self._lexicon.phrases.get(plain_phrase(phrase))
            if senses is None or length < listed:
                continue
            senses = tuple(
                s
                for s in senses
                if (not stated or not s.dimensions or stated & {*s.dimensions, "ratio"})
                and self._accepted(s, tokens, at, length, languages)
            )
            if not senses:
                continue
            sure = [s for s in senses if s.how in ("label", "name", "language", "function")]
            chosen = sure or list(senses)
            if languages and any(s.language in languages for s in chosen):
                chosen = [s for s in chosen if s.language in languages or not s.language]
            if any(phrase_of(s.target) in (phrase, self._spelled_out(phrase, s)) for s in chosen):
                return None, length  # plain words already
            if chosen[0].target == "voltage" and len({t.text for t in tokens[at + 1 : at + 3]} & _PHASES) == 2:
                chosen = [s._replace(target="line to line voltage") for s in chosen[:1]]
            targets = tuple(dict.fromkeys(s.target for s in chosen))[: MOST_READINGS - 1]
            written = " ".join(t.written for t in words)
            rewrites = tuple(
                Rewrite(written, target, _how(next(s for s in chosen if s.target == target))) for target in targets
            )
            # What is a word itself may stand for itself; what nobody knows would only hide what it says.
            as_written = (
                length == 1
                and len(phrase[0]) > 1
                and not (words[0].written.isupper() and len(phrase[0]) < LEAST_SHORT)
                and not (sure and languages)
                and self._is_english(phrase)
            ) or self._is_of_another_kind(phrase, chosen)
            start, end = words[0].start, words[-1].end
            return _Choice(
                start,
                end,
                rewrites,
                as_written,
                self._place(tokens, at) if length == 1 and len(phrase[0]) == 1 else end,
            ), length
        word = tokens[at]
        if listed == 0 and not self._known(word.text) and not self._inventory.has_label(word.text):
            plain, language = self._lexicon.parts(word.text, sorted(languages & JOINING))
            if plain:
                step = Rewrite(word.written, plain, f"compound, {language}")
                return _Choice(word.start, word.end, (step,), False, word.end), 1
        return None, max(1, listed)

    def _spelled_out(self, phrase: Phrase, sense: Sense) -> Phrase:
        """Return the phrase of a label or name with its usual short forms as words: `temp` as `temperature`."""
        # A symbol stands first, and what it is belongs last.
        return self._expanded(phrase) if sense.how in ("label", "name") else phrase

    def _expanded(self, phrase: Phrase) -> Phrase:
        """Return words with their usual short forms written out, as the lexicon has its labels and names."""
        return tuple(word for short in phrase for word in self._inventory.means.get((short,), (short,)))

    def _is_of_another_kind(self, phrase: Phrase, senses: Sequence[Sense]) -> bool:
        """Return whether English words say another kind than they stand for: a `pump state` is a status as well."""
        if any(sense.how not in ("label", "name") for sense in senses):
            return False
        written = self._head_kinds(phrase)
        return bool(written) and all(written.isdisjoint(self._head_kinds(phrase_of(s.target))) for s in senses)

    def _head_kinds(self, phrase: Phrase) -> frozenset[str]:
        """Return the kinds that the longest label at the end of a phrase stands for."""
        for start in range(len(phrase)):
            kinds = frozenset(c.name for c in self._inventory.labels.get(phrase[start:], ()) if c.sort == "kind")
            if kinds:
                return kinds
        return frozenset()

    @staticmethod
    def _place(tokens: Sequence[_Token], at: int) -> int:
        """Where the words of a part of a name end before its numbers and units."""
        last = max(i for i, t in enumerate(tokens) if t.part == tokens[at].part)
        while last > at and (tokens[last].text.isdigit() or find_unit(tokens[last].written) is not None):
            last -= 1
        return tokens[last].end

    def _listed(self, tokens: Sequence[_Token], at: int) -> int:
        """How many words the longest label of the inventory has that begins here; only as long a phrase replaces it."""
        labels = self._inventory.labels
        longest = min(len(tokens) - at, self._inventory.longest.get(tokens[at].text, 0))
        return next((n for n in range(longest, 0, -1) if tuple(t.text for t in tokens[at : at + n]) in labels), 0)

    def _accepted(
        self, sense: Sense, tokens: Sequence[_Token], at: int, length: int, languages: frozenset[str]
    ) -> bool:
        """Whether a sense may hold for these words."""
        words = tokens[at : at + length]
        phrase = tuple(t.text for t in words)
        if sense.how in ("label", "name"):
            if length > 1 and phrase[-1] in _SMALL and at + length < len(tokens):
                return False  # `pressureIn` is at the inlet, and `pressure in the pipe` is not
            if sense.how == "name" and length == 1 and len(tokens) > 1:
                # `rpm` alone is the engine's, but in `fan_rpm` it is the unit.
                return find_unit(words[0].written) is None and not self._is_english(phrase)
            return len(phrase[0]) > 2 or length > 1 or len(tokens) == 1
        if sense.how == "function":
            return sense.language in languages
        if sense.how == "language":
            if length == 1 and phrase[0] in _SMALL:
                return False
            if sense.language in languages:
                return True
            return not self._is_english(phrase) and not (length == 1 and phrase[0] in self._cut_words)
        word = words[0]
        if len(word.text) > 1 and self._inventory.has_label(word.text):
            return False
        if len(word.text) == 1:
            # A symbol stands first, and all that follows says which one: `U_L1`, `T_supply`, `tAussen`.
            rest = [t for t in tokens[at + 1 :] if t.part == word.part]
            if all(t.text.isdigit() for t in rest) and word.text not in _NUMBERED_BY_PHASE:
                return False  # `P1` may be anything
            first = at == 0 or tokens[at - 1].part != word.part
            return first and bool(rest) and all(self._identifies(t) for t in rest)
        if word.text in _SMALL and not word.written.isupper():
            return False
        if len(word.text) >= LEAST_SHORT or len(tokens) > 1:
            return not self._is_english(phrase) or word.written.isupper()
        return False

    def _identifies(self, token: _Token) -> bool:
        """Whether a word can only say which one is meant, or what about it."""
        if token.text in _BESIDE_SYMBOL or token.text[-1:].isdigit():
            return True
        listed = {c.sort for c in self._inventory.labels.get((token.text,), ())}
        named = {s.category for s in self._lexicon.phrases.get((token.text,), ()) if s.how != "function"}
        if listed | named:
            return bool(listed & _FOLLOWS) or bool(named & _FOLLOWS)
        return (token.text,) in self._inventory.means or find_unit(token.written) is not None

    def _is_time(self, word: str) -> bool:
        """Whether a word stands for a time alone, so that `min` behind it is its unit."""
        senses = self._lexicon.phrases.get((word,), ())
        return bool(senses) and all(s.dimensions == ("time",) for s in senses)

    def _is_english(self, phrase: Phrase) -> bool:
        return all(w in _SMALL or self._known(w) or self._inventory.has_label(w) for w in phrase)

    def _languages(self, words: Sequence[str], context: Sequence[str]) -> frozenset[str]:
        """The languages that a word surely is of, which no English text would have."""
        votes: dict[str, int] = {}
        near = [w for c in context if len(c) <= 60 for w in split_identifier(c)]
        for word in (*words, *near):
            text = folded(word)
            accented = text != word.casefold() and not word.isascii()
            if not accented and (len(text) < LEAST_FOREIGN or self._is_english((text,))):
                continue
            found = {s.language for s in self._lexicon.phrases.get((text,), ()) if s.how == "language"}
            if not found:
                plain, language = self._lexicon.parts(text, ())
                found = {language} if plain else set()
            for language in found:
                votes[language] = votes.get(language, 0) + 1
        most = max(votes.values(), default=0)
        return frozenset(language for language, count in votes.items() if count == most)

    @staticmethod
    def _stated(text: str, term: Term) -> frozenset[str]:
        """The dimension of the unit beside the value, else of the one that surely stands in the name."""
        unit = any_unit(term.unit) if term.unit else None
        if unit is not None:
            return frozenset({unit.dimension})
        return frozenset(u.dimension for u, sure in units_in_name(text) if sure)


def _with_period(text: str) -> tuple[str, tuple[Rewrite, ...]]:
    """A name with its period as a word, if it says one.

    >>> _with_period("rain_24h")[0], _with_period("rain in 24 hours")[0], _with_period("runtime_124h")[0]
    ('rain_daily', 'rain in daily', 'runtime_124h')
    """
    for pattern, word in _PERIODS:
        said = pattern.search(text)
        if said is not None and said.start() > 0:
            return rewritten(text, said.start(), said.end(), word), (Rewrite(said[0], word, "a period"),)
    return text, ()


def _how(sense: Sense) -> str:
    how = {"label": "another name", "name": "maker's name", "short": "short form", "function": "word"}.get(sense.how)
    where = f", {sense.domain}" if sense.domain else ""
    return f"{how or 'word'} in {sense.language}{where}" if sense.language else f"{how}{where}"


def _applied(text: str, choices: Sequence[_Choice], picked: Sequence[Rewrite | None]) -> Reading:
    """A text with its phrases replaced; the last first, so that places before it stay true."""
    edits: list[tuple[int, int, str]] = []
    for choice, step in zip(choices, picked, strict=True):
        if step is None:
            continue
        if choice.place == choice.end:
            edits.append((choice.start, choice.end, step.plain))
        else:
            edits += [(choice.start, choice.end, ""), (choice.place, choice.place, step.plain)]
    out = text
    for start, end, plain in sorted(edits, reverse=True):
        out = rewritten(out, start, end, plain)
    return Reading(out.lstrip(" _-."), tuple(step for step in picked if step is not None))


def rewritten(text: str, start: int, end: int, plain: str) -> str:
    """A text with a part of it replaced, written as the rest of it is: with blanks, else with underscores.

    >>> rewritten("AHU1SAT.value", 4, 7, "supply air temperature")
    'AHU1_supply_air_temperature.value'
    """
    sign = " " if " " in text else "_"
    before = sign if plain and start and text[start - 1].isalnum() else ""
    after = sign if plain and end < len(text) and text[end].isalnum() else ""
    return text[:start] + before + plain.replace(" ", sign) + after + text[end:]
