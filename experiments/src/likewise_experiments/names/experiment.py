"""Names that mean the same, and payloads that meet a subscription, over 32 domains.

The pairs and payloads were written from knowledge of each field by an author who had not seen the encyclopaedia. The
domains of the set `test` are scored to report them and never looked at to improve anything.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from importlib import resources
from typing import Literal

import msgspec

import likewise as lw
from likewise.errors import LikewiseError

Part = Literal["dev", "test"]
FILES = resources.files("likewise_experiments.names")


class Pair(msgspec.Struct, frozen=True):
    """One labelled pair.

    Attributes:
        domain: Domain of the pair.
        set: `dev` or `test`.
        asked: Requested name, or `name = state`.
        seen: Name of a device, or `name = state`.
        value: Value of the reading as JSON or text, '' for a state.
        label: 1 if the device's name means what is asked, else 0.
        category: What the pair tries: synonym, shortform, language, code, unit, state, role, qualifier, sibling or
            opposite.
    """

    domain: str
    set: str
    asked: str
    seen: str
    value: str
    label: str
    category: str


class Payload(msgspec.Struct, frozen=True):
    """One labelled payload.

    Attributes:
        id: Id of the payload.
        domain: Domain of the payload.
        set: `dev` or `test`.
        maker: Maker or ecosystem.
        data: The payload.
        yes: Ids of the subscriptions that it should meet.
        unclear: Ids of those that are arguable; they do not count.
    """

    id: str
    domain: str
    set: str
    maker: str
    data: dict[str, object] | list[dict[str, object]]
    yes: tuple[str, ...]
    unclear: tuple[str, ...]


class DomainScore(msgspec.Struct):
    """Counts of one domain.

    Attributes:
        domain: Name of the domain.
        found: Same pairs that match.
        missed: Same pairs that do not.
        apart: Different pairs that do not match.
        wrong: Different pairs that do.
        right_matches: Matches of payloads that are right.
        wrong_matches: Matches of payloads that are wrong.
        missed_matches: Matches of payloads that are missing.
        errors: Domain, kind of error, what was asked, what was seen.
    """

    domain: str
    found: int = 0
    missed: int = 0
    apart: int = 0
    wrong: int = 0
    right_matches: int = 0
    wrong_matches: int = 0
    missed_matches: int = 0
    errors: list[tuple[str, str, str, str]] = []


def pairs(part: Part) -> Iterator[Pair]:
    """Return the labelled pairs of a set."""
    with FILES.joinpath("pairs.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["set"] == part:
                yield Pair(**row)


def payloads(part: Part) -> Iterator[Payload]:
    """Return the labelled payloads of a set."""
    for line in FILES.joinpath("payloads.jsonl").read_text(encoding="utf-8").splitlines():
        payload = msgspec.json.decode(line, type=Payload)
        if payload.set == part:
            yield payload


def payload_subscriptions() -> dict[str, str]:
    """Return the texts of the subscriptions by their ids."""
    with FILES.joinpath("subscriptions.tsv").open(encoding="utf-8") as file:
        return {row["id"]: row["subscription"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


def score_names(part: Part) -> list[DomainScore]:
    """Score the default matcher on a set.

    Args:
        part: `dev` or `test`.

    Returns:
        The counts of each domain.
    """
    scores: dict[str, DomainScore] = {}
    for pair in pairs(part):
        _score_pair(pair, scores.setdefault(pair.domain, DomainScore(pair.domain, errors=[])))
    subscriptions = payload_subscriptions()
    matcher = lw.Matcher()
    matcher.add_many([{"id": id, "text": text} for id, text in subscriptions.items()])
    for payload in payloads(part):
        _score_payload(payload, matcher, subscriptions, scores[payload.domain])
    return list(scores.values())


def _score_pair(pair: Pair, score: DomainScore) -> None:
    met = _meets(pair)
    if pair.label == "1":
        score.found += met
        score.missed += not met
    else:
        score.wrong += met
        score.apart += not met
    if met != (pair.label == "1"):
        score.errors.append((pair.domain, "wrong" if met else "missed", pair.asked, pair.seen))


def _meets(pair: Pair) -> bool:
    asked, is_state, state = pair.asked.partition(" = ")
    name, _, value = pair.seen.partition(" = ") if is_state else (pair.seen, "", pair.value or "1")
    text = f'{{"{asked}"~ = "{state}"~}}' if is_state else f'{{"{asked}"~ exists}}'
    try:
        return lw.match({name: _value(value)}, text) is not None
    except LikewiseError:
        return False


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _score_payload(payload: Payload, matcher: lw.Matcher, subscriptions: dict[str, str], score: DomainScore) -> None:
    items = payload.data if isinstance(payload.data, list) else [payload.data]
    matched = {match.subscription_id for item in items for match in matcher.match(lw.event(item, id=payload.id))}
    for id in subscriptions.keys() - set(payload.unclear):
        right, met = id in payload.yes, id in matched
        score.right_matches += right and met
        score.wrong_matches += met and not right
        score.missed_matches += right and not met
        if right != met:
            score.errors.append((payload.id, "wrong" if met else "missed", subscriptions[id], payload.maker))
