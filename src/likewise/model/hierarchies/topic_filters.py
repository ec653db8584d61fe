"""MQTT's topic filters: `+` stands for one level, `#` at the end for any number of levels (MQTT 5.0, section 4.7).

Text is compared as it is: no folding, no normal form. A wildcard at the beginning leaves out topics that
begin with `$`.
"""

from __future__ import annotations

from likewise.errors import InvalidSubscription


def check_filter(text: str) -> None:
    """Refuse what is no topic filter."""
    levels = text.split("/")
    for place, level in enumerate(levels):
        if "#" in level and (level != "#" or place < len(levels) - 1):
            raise InvalidSubscription(f"in the topic filter {text[:60]!r} `#` stands alone in the last level only")
        if "+" in level and level != "+":
            raise InvalidSubscription(f"in the topic filter {text[:60]!r} `+` stands alone in its level only")


def filter_matches(asked: str, topic: str) -> bool:
    """Whether a topic meets a filter.

    >>> filter_matches("a/+/c/#", "a/b/c"), filter_matches("a/+/c/#", "a/b/c/d/e"), filter_matches("a/+", "a/b/c")
    (True, True, False)
    >>> filter_matches("#", "$SYS/load"), filter_matches("$SYS/#", "$SYS/load"), filter_matches("+/b", "/b")
    (False, True, True)
    """
    levels, wanted = topic.split("/"), asked.split("/")
    if topic.startswith("$") and wanted[0] in ("+", "#"):
        return False
    for place, level in enumerate(wanted):
        if level == "#":
            return True
        if place >= len(levels) or (level != "+" and level != levels[place]):
            return False
    return len(levels) == len(wanted)
