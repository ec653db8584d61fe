"""The published JSON Schemas (draft 2020-12) of events, subscriptions, matches and explanations.

They are made from the very types that are read and written, so they cannot say something else; what
types cannot say (which fields exclude each other) is added here. `docs/schemas` holds them as files,
written by `python -m likewise.formats.json.schemas docs/schemas`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from likewise.errors import FormatError
from likewise.formats.json.events import EventDocument
from likewise.formats.json.results import MatchDocument
from likewise.formats.json.subscriptions import OPTIONS, SubscriptionDocument
from likewise.formats.version import JSON_VERSION
from likewise.model import Explanation

_TYPES: Final[dict[str, type]] = {
    "event": EventDocument,
    "subscription": SubscriptionDocument,
    "match": MatchDocument,
    "explanation": Explanation,
}
SCHEMAS: Final = tuple(_TYPES)

_EXCLUDED_BY_TEXT: Final = ("body", "themes", *OPTIONS)
# What types cannot say.
_RULES: Final[dict[str, dict[str, object]]] = {
    "event": {
        "anyOf": [{"required": [name]} for name in ("payload", "tuples", "graph", "vector")],
        "not": {"required": ["payload", "tuples"]},
    },
    "subscription": {
        "oneOf": [
            {"required": ["body"], "not": {"required": ["text"]}},
            {
                "required": ["text"],
                "not": {"anyOf": [{"required": [name]} for name in _EXCLUDED_BY_TEXT]},
            },
        ],
    },
}


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one kind of document.

    >>> schema("event")["properties"]["v"]
    {'enum': [1]}
    """
    if name not in _TYPES:
        raise FormatError(f"there is no schema {name!r}; there are {', '.join(SCHEMAS)}")
    made = msgspec.json.schema(_TYPES[name], ref_template="#/$defs/{name}")
    components = made.pop("$defs")
    top = components.pop(_TYPES[name].__name__)
    readable = [v for v in (JSON_VERSION - 1, JSON_VERSION) if v > 0]
    top["title"] = name.capitalize()
    top["description"] = f"A Likewise {name}, version {JSON_VERSION}."
    top["properties"] = {"v": {"enum": readable}} | {k: s for k, s in top["properties"].items() if k != "v"}
    top["required"] = ["v", *(field for field in top.get("required", ()) if field != "v")]
    # What a type leaves out when it is as usual (`default`) may also be left out by others.
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:likewise:schema:{name}:v{JSON_VERSION}",
        **top,
        **_RULES.get(name, {}),
        "$defs": components,
    }


def schema_text(name: str) -> str:
    """Return the text of a schema's file."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> list[Path]:
    """Write every schema into a folder and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in SCHEMAS:
        path = folder / f"{name}.v{JSON_VERSION}.json"
        path.write_text(schema_text(name), encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    for path in write_schemas(Path(sys.argv[1])):
        print(path)
