"""The application, and the server that runs it."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from likewise import __version__
from likewise.api.origins import OriginPolicy
from likewise.broker.broker import Broker
from likewise.broker.certificates import check_certificate, server_context
from likewise.broker.config import Config, ServerSettings
from likewise.broker.tenants.access import AccessControl
from likewise.defaults import EDGE_MESSAGE_BYTES, HEADER_SECONDS, LAST_SECONDS, STOP_SECONDS, TENANT
from likewise.errors import LikewiseError, StateError, Unavailable
from likewise.server.connection_limits import accept_backlog, file_limit
from likewise.server.executors import ServerExecutors
from likewise.server.gateway import Gateway
from likewise.server.http.mobile import page as http_me
from likewise.server.http.mobile import updates as http_news
from likewise.server.http.openapi import components
from likewise.server.http.path_ids import PathIdMiddleware
from likewise.server.http.problems import handle_likewise_error, internal_error, problem_response, simple_problem
from likewise.server.http.publishing import PublishMiddleware
from likewise.server.http.requests import gateway_in
from likewise.server.http.routes import dead_letters as http_dead_letters
from likewise.server.http.routes import edges as http_edges
from likewise.server.http.routes import events as http_events
from likewise.server.http.routes import health as http_operations
from likewise.server.http.routes import history as http_looking_back
from likewise.server.http.routes import live_views as http_watching
from likewise.server.http.routes import matching as http_matching
from likewise.server.http.routes import semantics as http_meaning
from likewise.server.http.routes import sources as http_sources
from likewise.server.http.routes import subscribers as http_subscribers
from likewise.server.http.routes import subscriptions as http_subscriptions
from likewise.server.http.routes import targets as http_targets
from likewise.server.http.streams import edge as edge_stream
from likewise.server.http.streams import mqtt as mqtt_stream
from likewise.server.http.streams import publishing as publish_stream
from likewise.server.http.streams import sse, websocket
from likewise.server.http.streams.websocket_lifecycle import LARGEST_MESSAGE
from likewise.server.http.streams.websocket_protocol import BoundedWebSocketProtocol
from likewise.server.http.timeouts import TimeoutProtocol, abort_connections, abort_stalled, close_slow
from likewise.server.paced_reading import PacedConnection
from likewise.server.receive_buffers import ReceiveMetrics
from likewise.server.sinks.sender import TargetSenders
from likewise.server.tls import TlsHandshake

_log = structlog.get_logger("likewise.broker")
DRAIN_SECONDS = 2.0  # how long what reads the store may take at a stop, once everybody was answered or told 503
_ROUTERS = (
    http_events,
    http_subscriptions,
    http_subscribers,
    http_matching,
    http_meaning,
    http_dead_letters,
    http_operations,
    http_watching,
    http_looking_back,
    http_targets,
    http_sources,
    http_me,
    http_news,
    sse,
    websocket,
    publish_stream,
    mqtt_stream,
    edge_stream,
    http_edges,
)


class InFlightRequests:
    """An application in front of another. It knows the requests under way that nothing was said to yet."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way: dict[asyncio.Task[object], RequestResponseCycle] = {}
        self._failed: LikewiseError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection; whether it is answered is asked of uvicorn, whose `send` is handed on."""
        cycle, task = getattr(send, "__self__", None), asyncio.current_task()
        if not isinstance(cycle, RequestResponseCycle) or task is None:
            await self._app(scope, receive, send)
            return
        self._under_way[task] = cycle
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if self._failed is None or cycle.response_started:
                raise
            task.uncancel()
            await problem_response(self._failed, scope)(scope, receive, send)
        finally:
            del self._under_way[task]
            gateway_in(scope).bodies.release(scope)

    def fail_all(self, error: LikewiseError) -> None:
        """Tell everybody who waits that no answer comes; on the loop."""
        self._failed = error
        for task, cycle in list(self._under_way.items()):
            if not cycle.response_started:
                task.cancel()


class OriginGuard:
    """An application in front of another. Where tokens are in force it looks at nothing: they decide."""

    def __init__(self, app: ASGIApp, server: ServerSettings) -> None:
        self._app = app
        listening = {server.host.lower()} - {"0.0.0.0", "::"}  # these are no names; who listens there has tokens
        self._origins = OriginPolicy(
            frozenset(name.lower() for name in server.hosts) | listening, frozenset(server.origins)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "lifespan" or not gateway_in(scope).authenticator.open:
            await self._app(scope, receive, send)
            return
        refused = self._origins.refusal_of(
            scope.get("method", "GET"), scope["headers"], path=scope["path"], scheme=scope["scheme"]
        )
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused.code})
        else:
            await simple_problem(*refused)(scope, receive, send)


class RunningGateway:
    """A gateway on the running event loop, with its metrics and the senders to targets."""

    def __init__(self, broker: Broker, executors: ServerExecutors | None = None) -> None:
        self.gateway = Gateway(broker, executors)
        self._registry = broker.metrics.registry
        self._collectors = (self.gateway.connection_limits, ReceiveMetrics(self.gateway.bodies, self.gateway.packets))
        for collector in self._collectors:
            self._registry.register(collector)
        self._sending = asyncio.create_task(TargetSenders(self.gateway).run())
        self._sending.add_done_callback(_log_connector_end)

    def unregister(self) -> None:
        """Remove the metrics, so that another gateway of the broker may register its own."""
        for collector in self._collectors:
            self._registry.unregister(collector)

    async def close(self) -> None:
        """End streams and the senders."""
        self.unregister()
        self.gateway.stopping.set()
        self._sending.cancel()
        await asyncio.wait({self._sending}, timeout=STOP_SECONDS)


def make_app(broker: Broker) -> FastAPI:
    """Return the FastAPI application of a broker."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Gateway]]:
        running = RunningGateway(broker, getattr(app.state, "executors", None))
        app.state.gateway = running.gateway
        yield {"gateway": running.gateway}
        await running.close()

    app = FastAPI(title="Likewise", version=__version__, summary="Publish/subscribe by meaning.", lifespan=lifespan)
    for module in _ROUTERS:
        app.include_router(module.router)
    app.add_middleware(PathIdMiddleware)
    app.add_exception_handler(LikewiseError, handle_likewise_error)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(ClientDisconnect, _on_disconnect)
    app.add_exception_handler(Exception, _on_internal_error)
    described: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not described:
            from fastapi.openapi.utils import get_openapi

            described.update(get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes))
            described["components"] = {
                "schemas": components(),
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            }
            for path in described["paths"].values():
                for operation in path.values():
                    operation["responses"].pop("422", None)  # parameters are read by us, and refused with 400
        return described

    app.openapi = openapi  # type: ignore[method-assign]
    return app


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "unknown_address", 405: "unknown_method"}.get(error.status_code, "http")
    detail = f"{request.method} {request.url.path}: {error.detail}; see /docs for what is served"
    response = simple_problem(error.status_code, code, detail)
    response.headers.update(error.headers or {})
    return response


async def _on_disconnect(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # to nobody: who asked has left


async def _on_internal_error(request: Request, error: Exception) -> Response:
    return internal_error(request.url.path, error)


def check_listening(config: Config, *, tokens: bool) -> None:
    """Refuse to listen beyond this machine while anybody could come in.

    >>> from likewise.broker.config import Config, ServerSettings
    >>> check_listening(Config(server=ServerSettings(host="0.0.0.0")), tokens=False)
    Traceback (most recent call last):
    likewise.errors.StateError: '0.0.0.0' is reachable from other machines and there are no tokens; ...
    """
    server = config.server
    check_certificate(server)
    if tokens or server.host == "localhost":
        return
    try:
        local = ipaddress.ip_address(server.host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise StateError(
            f"{server.host!r} is reachable from other machines and there are no tokens; make one first: "
            "likewise admin token DATA --name ... --scope admin"
        )


class _UvicornServer(uvicorn.Server):
    """Leaves signals to us: uvicorn would raise them again when it is done, before the broker has closed its store.

    An address that cannot be listened on is said in words: uvicorn would end the process.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        try:
            await super().startup(sockets)
        except SystemExit as error:
            reason = error.__context__
            message = os.strerror(reason.errno) if isinstance(reason, OSError) and reason.errno else reason
            raise StateError(
                f"{self.config.host}:{self.config.port} cannot be listened on ({message}); "
                "choose another --port, or end what listens there"
            ) from None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


def _http_protocol(server: ServerSettings) -> Any:
    """Return what uvicorn makes for each connection. TLS is ours, so that its handshakes are counted and bounded."""
    context = server_context(server)

    def make(**named: Any) -> asyncio.Protocol:
        gateway: Gateway = named["app_state"]["gateway"]

        def paced() -> asyncio.Protocol:
            return PacedConnection(lambda: TimeoutProtocol(**named), gateway.turns)

        if context is None:
            return paced()
        return TlsHandshake(paced, context, gateway.connection_limits, HEADER_SECONDS)

    return make


Connector = Callable[[Gateway], Coroutine[object, object, None]]


class HttpServer:
    """A server that is told when to stop, and that ends its streams before it waits for its requests.

    `beside` are other connectors, which run from when it listens until its door says that it stops.
    """

    def __init__(
        self,
        broker: Broker,
        *,
        on_ready: Callable[[int], None] = lambda port: None,
        connectors: Sequence[Connector] = (),
    ) -> None:
        self.broker = broker
        self._connectors = connectors
        self.app = make_app(broker)
        server = broker.config.server
        authenticator = AccessControl(TENANT, broker.clock)
        with broker.store.reading() as tables:
            authenticator.load(tables)
        check_listening(broker.config, tokens=not authenticator.open)
        self._on_ready = on_ready
        self._in_flight = InFlightRequests(OriginGuard(PublishMiddleware(self.app), server))
        self._server = _UvicornServer(
            uvicorn.Config(
                self._in_flight,
                http=_http_protocol(server),
                host=server.host,
                port=server.port,
                log_config=None,
                access_log=False,
                backlog=accept_backlog(file_limit()),
                timeout_graceful_shutdown=LAST_SECONDS,
                ws=BoundedWebSocketProtocol,
                ws_max_size=max(
                    LARGEST_MESSAGE, EDGE_MESSAGE_BYTES, broker.config.mqtt.packet_bytes
                ),  # what is not MQTT is checked again
                ws_per_message_deflate=False,  # deliveries are small, and each connection would keep 300 KB for it
                server_header=False,
                proxy_headers=False,  # nothing here depends on who is asking beyond the token
                lifespan="on",
            )
        )

    async def run(self) -> None:
        """Serve until told to stop."""
        executors = ServerExecutors()
        executors.install()
        self.app.state.executors = executors
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started and not serving.done():
            await asyncio.sleep(0.01)
        listens = self._server.started and not self._server.should_exit  # it may have been told to stop meanwhile
        if listens:
            self.broker.note_listening()
            self._on_ready(self._server.servers[0].sockets[0].getsockname()[1])
        watching = asyncio.create_task(self._watch())
        running = [asyncio.create_task(each(self.app.state.gateway)) for each in self._connectors if listens]
        for task in running:
            task.add_done_callback(_log_connector_end)
        await serving
        watching.cancel()
        if running:
            await asyncio.wait(running, timeout=STOP_SECONDS)
        if not await executors.close(DRAIN_SECONDS):
            _log.warning("read_thread_still_running")
            self.broker.leave_readers()

    async def _watch(self) -> None:
        loop, gateway = asyncio.get_running_loop(), self.app.state.gateway
        last_check = loop.time()
        while not self._server.should_exit:
            await asyncio.sleep(0.05)
            if loop.time() - last_check > 1:
                last_check = loop.time()
                close_slow(self._server.server_state.connections, last_check)
                abort_stalled(self._server.server_state.connections, last_check)
        gateway.stopping.set()
        gateway.connection_limits.abort_handshakes()
        await asyncio.sleep(STOP_SECONDS)
        stopping_error = Unavailable("the broker is stopping; what was sent may be stored or not: send it again")
        gateway.bridge.fail_all(stopping_error)
        self._in_flight.fail_all(stopping_error)
        # uvicorn would cancel what is left after LAST_SECONDS, and log a traceback for each.
        abort_connections(self._server.server_state.connections, unread=True)
        await asyncio.sleep(LAST_SECONDS - STOP_SECONDS - 0.5)
        abort_connections(self._server.server_state.connections)

    def stop(self) -> None:
        """Stop taking requests, finish those under way, then end."""
        self._server.should_exit = True


def _log_connector_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error("connector_ended", exc_info=task.exception())


def serve(
    broker: Broker, *, on_ready: Callable[[int], None] = lambda port: None, connectors: Sequence[Connector] = ()
) -> None:
    """Serve a broker until SIGINT or SIGTERM, and other connectors beside it."""
    served = HttpServer(broker, on_ready=on_ready, connectors=connectors)

    async def run() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, served.stop)
        await served.run()

    with asyncio.Runner(loop_factory=_new_event_loop) as runner:
        runner.run(run())


def _new_event_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
