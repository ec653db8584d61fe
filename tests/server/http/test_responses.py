"""Answers to publishers over a real socket: each whole, in the order of the requests, however they come and end."""

from __future__ import annotations

import json
import re
import socket
import threading
from urllib.parse import urlsplit

from tests.server.conftest import serving

ONE = b'{"v":1,"payload":{"no2":45},"id":"%b"}'


def request(id: str, *lines: str, body: bytes | None = None, version: str = "1.1") -> bytes:
    body = ONE % id.encode() if body is None else body
    head = [f"POST /v1/events HTTP/{version}", "host: localhost", f"content-length: {len(body)}", *lines]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def connected(address: str) -> socket.socket:
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60)


def answers(line: socket.socket, count: int) -> list[tuple[int, dict[str, str], bytes]]:
    """So many answers as they came, read to the byte."""
    found: list[tuple[int, dict[str, str], bytes]] = []
    with line.makefile("rb") as read:
        while len(found) < count:
            status = int(read.readline().split()[1])
            headers: dict[str, str] = {}
            while (said := read.readline()) not in (b"\r\n", b""):
                name, _, value = said.decode().partition(":")
                headers[name.lower()] = value.strip()
            found.append((status, headers, read.read(int(headers["content-length"]))))
    return found


def receipts(body: bytes) -> list[str]:
    return [receipt["id"] for receipt in json.loads(body)["events"]]


def test_requests_sent_at_once_on_one_connection_are_answered_in_their_order() -> None:
    """A refused one among them is, too, and the connection stays."""
    with serving() as address, connected(address) as line:
        line.sendall(request("a") + request("b") + request("c", body=b"{") + request("d"))
        found = answers(line, 4)
        assert [status for status, _, _ in found] == [200, 200, 400, 200]
        assert [receipts(body) for status, _, body in found if status == 200] == [["a"], ["b"], ["d"]]
        assert all(re.search("GMT$", headers["date"]) for _, headers, _ in found)
        assert found[0][1]["content-type"] == "application/json"


def test_a_connection_is_closed_where_that_was_asked_for() -> None:
    """By a header, or by speaking HTTP/1.0; the answer comes whole before."""
    with serving() as address:
        for one in (request("a", "connection: close"), request("b", version="1.0")):
            with connected(address) as line:
                line.sendall(one)
                [(status, headers, body)] = answers(line, 1)
                assert status == 200
                assert headers["connection"] == "close"
                assert len(receipts(body)) == 1
                assert line.recv(1) == b""


def test_a_publisher_that_goes_away_before_its_answer_harms_nobody() -> None:
    """What it sent whole is stored; others on other connections get theirs."""
    with serving() as address:
        for n in range(20):
            with connected(address) as line:
                line.sendall(request(f"gone-{n}"))
        with connected(address) as line:
            line.sendall(request("here"))
            assert answers(line, 1)[0][0] == 200


def test_a_publisher_that_reads_no_answers_gets_every_one_later() -> None:
    """Its requests wait on its own connection; nothing is cut or mixed."""
    count = 3_000
    with serving() as address, connected(address) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        sending = threading.Thread(target=lambda: line.sendall(b"".join(request(f"e{n}") for n in range(count))))
        sending.start()
        with connected(address) as other:
            other.sendall(request("other"))
            assert answers(other, 1)[0][0] == 200
        found = answers(line, count)
        sending.join()
        assert [receipts(body) for _, _, body in found] == [[f"e{n}"] for n in range(count)]
