"""The subscription language: parser and printer (docs/language.md).

The grammar is loaded when something is first parsed; printing needs no grammar.
"""

from likewise.language.parser import parse, read_subscriptions
from likewise.language.printer import node_text, predicate_text, subscription_id, subscription_text, value_text

__all__ = [
    "node_text",
    "parse",
    "predicate_text",
    "read_subscriptions",
    "subscription_id",
    "subscription_text",
    "value_text",
]
