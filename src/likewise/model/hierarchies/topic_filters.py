"""MQTT's topic filters: `+` stands for one level, `#` at the end for any number of levels (MQTT 5.0, section 4.7).

Text is compared as it is: no folding, no normal form. A wildcard at the beginning leaves out topics that
begin with `$`.
"""

from __future__ import annotations

from likewise.errors import InvalidSubscription


def check_filter(text: str) -> None:
    """Refuse an invalid topic filter."""
    levels = text.split("/")
    for depth, level in enumerate(levels):
        if "#" in level and (level != "#" or depth < len(levels) - 1):
            raise InvalidSubscription(f"in the topic filter {text[:60]!r} `#` stands alone in the last level only")
        if "+" in level and level != "+":
            raise InvalidSubscription(f"in the topic filter {text[:60]!r} `+` stands alone in its level only")


def filter_matches(topic_filter: str, topic: str) -> bool:
    """Return whether a topic matches a filter.

    >>> filter_matches("a/+/c/#", "a/b/c"), filter_matches("a/+/c/#", "a/b/c/d/e"), filter_matches("a/+", "a/b/c")
    (True, True, False)
    >>> filter_matches("#", "$SYS/load"), filter_matches("$SYS/#", "$SYS/load"), filter_matches("+/b", "/b")
    (False, True, True)
    """
    topic_levels, filter_levels = topic.split("/"), topic_filter.split("/")
    if topic.startswith("$") and filter_levels[0] in ("+", "#"):
        return False
    for depth, level in enumerate(filter_levels):
        if level == "#":
            return True
        if depth >= len(topic_levels) or (level != "+" and level != topic_levels[depth]):
            return False
    return len(topic_levels) == len(filter_levels)
