"""Names that mean the same, and payloads that meet a subscription, over 32 domains.

The pairs and payloads were written from knowledge of each field by an author who had not seen the encyclopaedia. The
domains of the set `test` are scored to report them and never looked at to improve anything.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
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
        probabilities: Probability of each match of a payload, and whether it is right.
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
    probabilities: list[tuple[float, bool]] = []


class ConfidencePoint(msgspec.Struct, frozen=True):
    """What `confidence` keeps of the matches of payloads.

    Attributes:
        confidence: Lowest probability that is kept.
        matches: Number of matches with at least this probability.
        said: Mean of their probabilities.
        precision: Share of them that is right.
        recall: Share of the wanted matches that they are.
    """

    confidence: float
    matches: int
    said: float
    precision: float
    recall: float


LEVELS = (0.0, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


def confidence_curve(scores: Iterable[DomainScore]) -> list[ConfidencePoint]:
    """Return precision and recall of payloads at several confidences.

    >>> some = DomainScore("x", right_matches=1, missed_matches=1, probabilities=[(0.9, True), (0.6, False)])
    >>> [(point.confidence, point.precision, point.recall) for point in confidence_curve([some])][:3:2]
    [(0.0, 0.5, 0.5), (0.7, 1.0, 0.5)]
    """
    listed = list(scores)
    matches = [each for score in listed for each in score.probabilities]
    wanted = sum(score.right_matches + score.missed_matches for score in listed)
    points = []
    for level in LEVELS:
        kept = [(probability, right) for probability, right in matches if probability >= level]
        good, said = sum(right for _, right in kept), sum(probability for probability, _ in kept)
        count = max(1, len(kept))
        points.append(ConfidencePoint(level, len(kept), said / count, good / count, good / max(1, wanted)))
    return points


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
        _score_pair(pair, scores.setdefault(pair.domain, DomainScore(pair.domain, errors=[], probabilities=[])))
    subscriptions = payload_subscriptions()
    matcher = lw.Matcher()
    matcher.add_many([{"id": id, "text": text} for id, text in subscriptions.items()])
    for payload in payloads(part):
        _score_payload(payload, matcher, subscriptions, scores[payload.domain])
    return list(scores.values())


def match_scores(part: Part, least: float) -> list[tuple[float, bool]]:
    """Return the scores of the payloads' matches at a low threshold, and whether each match is right.

    Args:
        part: `dev` or `test`.
        least: Threshold of the matcher.
    """
    texts = payload_subscriptions()
    matcher = lw.Matcher(threshold=least)
    matcher.add_many([{"id": id, "text": text} for id, text in texts.items()])
    scores = []
    for payload in payloads(part):
        for item in payload.data if isinstance(payload.data, list) else [payload.data]:
            for match in matcher.match(lw.event(item, id=payload.id)):
                if match.subscription_id not in payload.unclear:
                    scores.append((match.score, match.subscription_id in payload.yes))
    return scores


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
    matched: dict[str, float] = {}
    for item in items:
        for match in matcher.match(lw.event(item, id=payload.id)):
            matched[match.subscription_id] = max(match.probability, matched.get(match.subscription_id, 0.0))
    for id in subscriptions.keys() - set(payload.unclear):
        right, met = id in payload.yes, id in matched
        if met:
            score.probabilities.append((matched[id], right))
        score.right_matches += right and met
        score.wrong_matches += met and not right
        score.missed_matches += right and not met
        if right != met:
            score.errors.append((payload.id, "wrong" if met else "missed", subscriptions[id], payload.maker))
