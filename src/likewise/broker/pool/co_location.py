"""Which alerts have to stand in one share: those about the same, armed again by the same, by the same key.

How far each source is, which says whether an event comes too late, is known once for all of them: an alert that comes
new goes by what the others heard. So they are dealt, split and added together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from likewise.broker.pool.messages import NewSubscription
from likewise.matching.reference.alerts.transitions import watched
from likewise.model import Subscription

Kin = tuple[Subscription, Subscription | None, tuple[str, ...]]


def kin(subscription: Subscription) -> Kin | None:
    """What an alert has in common with those it has to stand beside; None for what stands for itself.

    >>> from likewise.language import parse
    >>> high, low = parse("{t > 30} per room once until false"), parse("{t < 5} per room for 9 s")
    >>> kin(high) == kin(low), kin(high) == kin(parse("{t > 30} once until false")), kin(parse("{t > 30}"))
    (True, False, None)
    """
    if subscription.alert is None:
        return None
    asked = watched(subscription)
    return asked.about or asked.condition, asked.until, subscription.alert.per


def has_kin(held: Iterable[NewSubscription], new: NewSubscription) -> bool:
    """Whether what is held has to stand beside a new subscription."""
    same = kin(new.subscription)
    return same is not None and any(kin(each.subscription) == same for each in held)


def deal_together(new: Sequence[NewSubscription], count: int) -> list[list[NewSubscription]]:
    """Subscriptions in so many parts, about even, in which kin stand together.

    >>> from likewise.language import parse
    >>> alerts = [parse("{t > 1} once until false"), parse("{x > 1}"), parse("{t > 2} once until false")]
    >>> [[each.number for each in part] for part in deal_together([NewSubscription(*n) for n in
    ...     zip(range(3), range(3), range(3), alerts)], 2)]
    [[0, 2], [1]]
    """
    groups: dict[object, list[NewSubscription]] = {}
    for each in new:
        groups.setdefault(kin(each.subscription) or each.number, []).append(each)
    parts: list[list[NewSubscription]] = [[] for _ in range(count)]
    place, done = 0, 0
    for group in groups.values():
        if place + 1 < count and done >= len(new) * (place + 1) / count:
            place += 1
        parts[place] += group
        done += len(group)
    return parts


def upper_half(held: Sequence[NewSubscription]) -> list[int]:
    """The numbers of the upper half of what a share holds; none if everything has to stay together."""
    return sorted(each.number for each in deal_together(sorted(held, key=lambda each: each.number), 2)[1])
