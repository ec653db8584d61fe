"""`/me`: a page of three files, served as they are. It holds nothing of anybody: what it shows it asks for."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response

router = APIRouter(include_in_schema=False)
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


@cache
def _file(name: str) -> bytes:
    return (files("likewise.server.http.mobile") / name).read_bytes()


@router.get("/me")
async def page() -> Response:
    """Serve the page; its data needs a token."""
    return Response(_file("me.html"), media_type="text/html; charset=utf-8", headers=HEADERS)


@router.get("/me/me.js")
async def script() -> Response:
    """Serve the page's script."""
    return Response(_file("me.js"), media_type="text/javascript; charset=utf-8", headers=HEADERS)


@router.get("/me/me.css")
async def style() -> Response:
    """Serve the page's style."""
    return Response(_file("me.css"), media_type="text/css; charset=utf-8", headers=HEADERS)
