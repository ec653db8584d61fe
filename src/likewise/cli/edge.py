"""`likewise edge`: run a broker near the sensors, which dials another."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from likewise.cli.terminal.broker_process import handle_stop_signals, print_listening, replace_given, run_broker
from likewise.cli.terminal.options import AsJson, ConfigFile, Host, MqttPort, Port

if TYPE_CHECKING:
    from likewise.broker.broker import Broker


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
    config: ConfigFile = None,
    host: Host = None,
    port: Port = None,
    mqtt: MqttPort = None,
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
        from likewise.edge.memory_tuning import reduce_memory

        reduce_memory()  # before the broker's modules are loaded
        from likewise.broker.config import read_config
        from likewise.broker.telemetry.logging import log_to_stderr
        from likewise.edge.app import attach_uplink, make_edge_broker
        from likewise.edge.bounds import Bounds
        from likewise.edge.uplink import parse_hub_addresses
        from likewise.server.http.server import serve
        from likewise.server.mqtt.broker.listener import listener_connectors, open_sockets

        addresses = parse_hub_addresses(upstream)
        bounds = {"bytes": outbox_bytes, "keep": outbox_keep, "policy": outbox_policy}
        outbox_bounds = msgspec.convert({key: value for key, value in bounds.items() if value is not None}, Bounds)
        settings = read_config(config)
        server = replace_given(settings.server, host=host, port=port)
        settings = msgspec.structs.replace(settings, server=server, mqtt=replace_given(settings.mqtt, port=mqtt))
        token = os.environ.get("LIKEWISE_EDGE_TOKEN") if token_file is None else token_file.read_text("utf-8").strip()
        trace = log_to_stderr(settings.logging)
        devices = open_sockets(settings)
        name = id or socket.gethostname().split(".")[0]
        facts = {"data": data, "id": name, "upstream": addresses}
        lines = (f"keeping everything in {data}.", f"The edge {name!r} dials {', '.join(addresses)}.")

        def ready(port: int) -> None:
            print_listening(server, port, devices, facts, lines, as_json)

        def run(broker: Broker) -> None:
            uplink = attach_uplink(broker, name, addresses, token=token, bounds=outbox_bounds)
            serve(broker, on_ready=ready, connectors=[*listener_connectors(devices), uplink.run])

        run_broker(make_edge_broker(data, settings, trace=trace), signals, run)
