"""`likewise edge`: run a broker near the sensors, which dials another; connect and disconnect it while it runs."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.broker_process import handle_stop_signals, print_listening, replace_given, run_broker
from likewise.cli.terminal.options import (
    AsJson,
    BrokerOptions,
    ConfigFile,
    Host,
    MqttPort,
    Port,
    command_group,
    with_option_groups,
)

if TYPE_CHECKING:
    from likewise.api.edge_frames import UplinkStatus
    from likewise.broker.broker import Broker

app = command_group(
    "Run a broker near the sensors, which dials another; connect and disconnect it while it runs.",
    "likewise edge --upstream http://hub:8787 --data edge-data --id roof",
    alone=True,
)


@app.callback()
def edge(
    called: typer.Context,
    upstream: Annotated[
        str | None,
        typer.Option(
            "--upstream",
            metavar="URL[,URL]",
            help="The broker above; further ones stand in for it. mqtts://host/prefix is any broker of MQTT. "
            "Without one it waits for `likewise edge connect`.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder that keeps everything; needed.")
    ] = None,
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
    if called.invoked_subcommand is not None:
        return
    if data is None:
        raise typer.BadParameter("name the folder that keeps everything", param_hint="--data")
    with handle_stop_signals() as signals:
        from likewise.edge.memory_tuning import reduce_memory

        reduce_memory()  # before the broker's modules are loaded
        from likewise.broker.config import read_config
        from likewise.broker.telemetry.logging import log_to_stderr
        from likewise.edge.app import ELSEWHERE, attach_mqtt_uplink, attach_uplink, make_edge_broker
        from likewise.edge.bounds import Bounds
        from likewise.edge.mqtt_uplink import SCHEMES
        from likewise.edge.uplink import parse_hub_addresses
        from likewise.model import Kind
        from likewise.server.http.server import serve
        from likewise.server.mqtt.bridge import bridge_connectors
        from likewise.server.mqtt.broker.listener import listener_connectors, open_sockets
        from likewise.server.mqtt.broker_urls import shown

        over_mqtt = upstream is not None and upstream.startswith(SCHEMES)
        addresses = [] if upstream is None else [shown(upstream)] if over_mqtt else parse_hub_addresses(upstream)
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
        dials = f"dials {', '.join(addresses)}" if addresses else "dials nobody: likewise edge connect URL"
        lines = (f"keeping everything in {data}.", f"The edge {name!r} {dials}.")

        def ready(port: int) -> None:
            print_listening(server, port, devices, facts, lines, as_json)

        def run(broker: Broker) -> None:
            beside = [*bridge_connectors(settings.mqtt.bridge, data), *listener_connectors(devices)]
            if over_mqtt:
                up = attach_mqtt_uplink(broker, name, str(upstream), password=token, bounds=outbox_bounds)
                serve(broker, on_ready=ready, connectors=[*beside, up.run])
                return
            uplink = attach_uplink(broker, name, addresses, token=token, bounds=outbox_bounds)
            serve(broker, on_ready=ready, connectors=[*beside, uplink.run])

        elsewhere = frozenset[Kind]() if over_mqtt else ELSEWHERE
        run_broker(make_edge_broker(data, settings, trace=trace, elsewhere=elsewhere), signals, run)


@app.command()
@with_option_groups
def connect(
    broker: BrokerOptions,
    upstream: Annotated[str, typer.Argument(metavar="URL[,URL]", help="The broker above; further ones stand in.")],
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="The token it shows there; else the one it showed before."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Connect a running broker at the edge to another broker above, now and after a restart.

    `--address` names the edge. The choice holds until the edge is started with another `--upstream`.

    Example: `likewise edge connect http://hub:8787 --address http://roof:8787`
    """
    token = None if token_file is None else token_file.read_text("utf-8").strip()
    with broker.publisher() as client:
        status = client.connect_to_broker(upstream, token)
    output.print_result(status, as_json, describe_uplink(status))


@app.command()
@with_option_groups
def disconnect(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """Disconnect a running broker at the edge: it serves its sensors and subscribers, and keeps what is to go up.

    Example: `likewise edge disconnect --address http://roof:8787`
    """
    with broker.publisher() as client:
        status = client.disconnect_from_broker()
    output.print_result(status, as_json, describe_uplink(status))


@app.command()
@with_option_groups
def status(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """Show where a running broker at the edge connects, and how its connection stands.

    Example: `likewise edge status --address http://roof:8787`
    """
    from likewise.api.edge_frames import UplinkStatus
    from likewise.cli.broker.queries import fetch

    with broker.publisher() as client:
        status = fetch(client, UplinkStatus, "/v1/uplink")
    output.print_result(status, as_json, describe_uplink(status))


def describe_uplink(status: UplinkStatus) -> str:
    """Describe where an edge connects.

    >>> from likewise.api.edge_frames import UplinkStatus
    >>> describe_uplink(UplinkStatus("roof", ("ws://hub:8787",), "away", "", 3))
    'roof dials ws://hub:8787: away; 3 items wait to go up.'
    """
    where = f"dials {', '.join(status.upstream)}: {status.state}" if status.upstream else "is disconnected"
    trouble = f" {status.trouble}." if status.trouble else ""
    return f"{status.id} {where}; {status.waiting:,} items wait to go up.{trouble}"
