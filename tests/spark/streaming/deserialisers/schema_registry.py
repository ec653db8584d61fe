"""A schema registry on loopback that speaks what Confluent's does of its interface: schemas by number and version."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Registry:
    """Schemas by number, and by subject and version; `asked` is what was asked for, `failing` how often to say 503."""

    def __init__(self) -> None:
        self.numbers: dict[int, dict[str, Any]] = {}
        self.subjects: dict[tuple[str, int], dict[str, Any]] = {}
        self.asked: list[str] = []
        self.failing = 0
        self.user_info = ""
        self.url = ""

    def register(self, number: int, schema: str, kind: str = "AVRO", serialized: str = "", **rest: Any) -> None:
        said: dict[str, Any] = {"schema": schema, **rest}
        if kind != "AVRO":
            said["schemaType"] = kind
        self.numbers[number] = said | {"serialized": serialized}
        self.subjects[f"subject-{number}", 1] = self.numbers[number]

    def answer(self, path: str, authorization: str) -> tuple[int, dict[str, Any]]:
        import base64

        self.asked.append(path)
        if self.failing:
            self.failing -= 1
            return 503, {"error_code": 50302, "message": "not now"}
        if self.user_info and authorization != f"Basic {base64.b64encode(self.user_info.encode()).decode()}":
            return 401, {"error_code": 401, "message": "who are you?"}
        said = urlsplit(path)
        parts = said.path.strip("/").split("/")
        found = None
        if parts[:2] == ["schemas", "ids"]:
            found = self.numbers.get(int(parts[2]))
        elif parts[0] == "subjects":
            found = self.subjects.get((parts[1], int(parts[3])))
        if found is None:
            return 404, {"error_code": 40403, "message": "Schema not found"}
        shown = {key: value for key, value in found.items() if key != "serialized"}
        if parse_qs(said.query).get("format") == ["serialized"] and found["serialized"]:
            shown["schema"] = found["serialized"]
        return 200, shown


@contextmanager
def served_registry() -> Iterator[Registry]:
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, said = registry.answer(self.path, self.headers.get("Authorization", ""))
            body = json.dumps(said).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)
