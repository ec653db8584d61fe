"""Where the state of a subscription lies: a ranking and a digest wholly in one shard, other alerts by their keys.

What a digest tells is of all keys, and the rank of an event depends on all others in the window; of any other alert,
what one key says depends on nothing but the events of that key, and on time.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Final

import msgspec

from likewise.errors import ArtefactDamaged
from likewise.model import Subscription, fold
from likewise.model.alerts.notification import Key

SHARDS: Final = 4  # of each sort, if nothing else is said


class StatePlacement(msgspec.Struct, frozen=True):
    """Where a state lies: a sort of shards, and of them one, or the one that the values of `per` say."""

    sort: str
    shard: int | None = None
    per: tuple[str, ...] = ()

    def of(self, key: Key, shards: int) -> str:
        """The shard of a key.

        >>> StatePlacement("source").of(("s17",), 4) == StatePlacement("source").of(("s17",), 4)
        True
        """
        number = zlib.crc32(_joined(key).encode("utf-8", "surrogatepass")) % shards
        return shard_name(self.sort, number if self.shard is None else self.shard)


def state_placement(number: int, subscription: Subscription, shards: int) -> StatePlacement:
    """Where the state of a subscription lies, by the number it has in the change log.

    >>> from likewise.language import parse
    >>> texts = ("{t > 1} top 3 within 1 h by value(t)", "{t > 1} for 5 min")
    >>> [state_placement(9, parse(text), 4).sort for text in texts]
    ['top', 'source']
    """
    if subscription.kind == "top":
        return StatePlacement("top", number % shards)
    alert = subscription.alert
    if alert is None:
        raise ArtefactDamaged(f"{subscription.id!r} has no state")
    if alert.digest_every is not None:
        return StatePlacement("digest", number % shards)
    if not alert.per:
        return StatePlacement("source")
    names = tuple(fold(name) for name in alert.per)
    return StatePlacement(f"per.{hashlib.sha256(_joined(names).encode()).hexdigest()[:8]}", None, names)


def shard_name(sort: str, number: int) -> str:
    """What a shard is called, also as a folder.

    >>> shard_name("top", 3)
    'top-003'
    """
    return f"{sort}-{number:03d}"


def _joined(words: tuple[str, ...]) -> str:
    return "\x1f".join(words)
