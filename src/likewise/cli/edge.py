"""`likewise edge`: run a broker near the sensors, which dials another."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.broker_process import StopSignal, handle_stop_signals, tune_gc
from likewise.cli.terminal.options import AsJson


def edge(
    upstream: Annotated[
        str, typer.Option("--upstream", metavar="URL[,URL]", help="The broker above; further ones stand in for it.")
    ],
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The folder that keeps everything.")],
    id: Annotated[
        str | None, typer.Option("--id", metavar="NAME", help="Its name above; the name of this machine by default.")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="The token it shows above; else LIKEWISE_EDGE_TOKEN."),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A configuration in TOML.")] = None,
    host: Annotated[str | None, typer.Option("--host", help="Where to listen; this machine alone by default.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = None,
    mqtt: Annotated[
        int | None,
        typer.Option("--mqtt", metavar="PORT", min=0, max=65535, help="Let devices connect over MQTT: 1883."),
    ] = None,
    outbox_bytes: Annotated[
        int | None,
        typer.Option("--outbox-bytes", metavar="N", min=1, help="What may wait for the broker above: 64 MB."),
    ] = None,
    outbox_keep: Annotated[
        str | None, typer.Option("--outbox-keep", metavar="SPAN", help='For how long: "7 d".')
    ] = None,
    outbox_policy: Annotated[
        str | None,
        typer.Option("--outbox-policy", metavar="POLICY", help="What goes beyond it: drop-oldest, drop-newest, thin."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a broker near the sensors: it serves them and local subscribers by itself, and dials the broker above.

    Example: `likewise edge --upstream http://hub:8787 --data edge-data --id roof`
    """
    with handle_stop_signals() as signals:
        bounds = {"bytes": outbox_bytes, "keep": outbox_keep, "policy": outbox_policy}
        given_bounds = {name: value for name, value in bounds.items() if value is not None}
        _edge(signals, upstream, data, id, token_file, config, host, port, mqtt, given_bounds, as_json)


def _edge(
    signals: StopSignal,
    upstream: str,
    data: Path,
    id: str | None,
    token_file: Path | None,
    config: Path | None,
    host: str | None,
    port: int | None,
    mqtt: int | None,
    bounds: dict[str, int | str],
    as_json: bool,
) -> None:
    import socket

    from likewise.edge.memory_tuning import reduce_memory

    reduce_memory()
    from likewise.broker.config import read_config
    from likewise.broker.telemetry.logging import log_to_stderr
    from likewise.edge.app import attach_uplink, make_edge_broker
    from likewise.edge.bounds import Bounds
    from likewise.edge.uplink import parse_hub_addresses
    from likewise.server.http.server import serve as run
    from likewise.server.mqtt.broker.sockets import listener_connectors, open_sockets

    addresses, outbox_bounds = parse_hub_addresses(upstream), msgspec.convert(bounds, Bounds)
    settings = read_config(config)
    options = {"host": host, "port": port}
    server = msgspec.structs.replace(settings.server, **{k: v for k, v in options.items() if v is not None})
    devices_at = settings.mqtt if mqtt is None else msgspec.structs.replace(settings.mqtt, port=mqtt)
    settings = msgspec.structs.replace(settings, server=server, mqtt=devices_at)
    token = os.environ.get("LIKEWISE_EDGE_TOKEN") if token_file is None else token_file.read_text("utf-8").strip()
    trace = log_to_stderr(settings.logging)
    devices = open_sockets(settings)
    scheme = "https" if server.tls_certificate else "http"
    name = id or socket.gethostname().split(".")[0]

    def ready(port: int) -> None:
        if as_json:
            address = f"{scheme}://{server.host}:{port}"
            known = {"listening": address, "data": data, "id": name, "upstream": addresses}
            output.print_json(known | ({"mqtt": [each.url for each in devices]} if devices else {}))
            return
        output.print_line(f"Listening on {scheme}://{server.host}:{port}, keeping everything in {data}.")
        for each in devices:
            output.print_line(f"Devices connect at {each.url}.")
        output.print_line(f"The edge {name!r} dials {', '.join(addresses)}.")

    with make_edge_broker(data, settings, trace=trace) as broker, tune_gc():
        uplink = attach_uplink(broker, name, addresses, token=token, bounds=outbox_bounds)
        if not signals.stop:
            run(broker, on_ready=ready, connectors=[*listener_connectors(devices), uplink.run])
        signals.starting = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signals.handle)
    if not broker.ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
