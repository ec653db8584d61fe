"""HTTP, WebSocket and server-sent events.

`server` is the application; `routes` and `streams` have one module for each resource, the middleware and `publishing`
stand before them. `problems` writes errors, `openapi` describes the routes.
"""
