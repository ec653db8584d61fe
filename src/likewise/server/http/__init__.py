"""HTTP, WebSocket and server-sent events: `server` is the application, each other module one group of addresses.

`publishing` answers `POST /v1/events` without a framework; `problems` writes errors, `openapi` describes all of it.
"""
