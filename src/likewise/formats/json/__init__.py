"""JSON codec of the model: events, subscriptions, results, schemas."""

from likewise.formats.json.events import event_from_json, event_to_json, read_events
from likewise.formats.json.results import (
    explanation_from_json,
    explanation_to_json,
    mapping_from_json,
    mapping_to_json,
    match_from_json,
    match_to_json,
)
from likewise.formats.json.schemas import SCHEMAS, schema
from likewise.formats.json.subscriptions import read_subscriptions, subscription_from_json, subscription_to_json

__all__ = [
    "SCHEMAS",
    "event_from_json",
    "event_to_json",
    "explanation_from_json",
    "explanation_to_json",
    "mapping_from_json",
    "mapping_to_json",
    "match_from_json",
    "match_to_json",
    "read_events",
    "read_subscriptions",
    "schema",
    "subscription_from_json",
    "subscription_to_json",
]
