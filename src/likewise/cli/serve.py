"""`likewise serve`: run the broker."""

from __future__ import annotations

import os
import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.broker_process import StopSignal, handle_stop_signals, tune_gc
from likewise.cli.terminal.options import AsJson


class Profile(StrEnum):
    """The choice of engines."""

    full = "full"
    small = "small"


def serve(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder that keeps everything.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A configuration in TOML.")] = None,
    host: Annotated[str | None, typer.Option("--host", help="Where to listen; this machine alone by default.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = None,
    ephemeral: Annotated[bool, typer.Option("--ephemeral", help="Keep everything in memory, nothing on disk.")] = False,
    profile: Annotated[
        Profile | None,
        typer.Option("--profile", help="full serves every kind of subscription, small exact ones in little memory."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="SPAN", help='How long events are kept: "7 days" by default, or "forever".'),
    ] = None,
    tls_certificate: Annotated[str | None, typer.Option("--tls-certificate", metavar="FILE")] = None,
    tls_key: Annotated[str | None, typer.Option("--tls-key", metavar="FILE")] = None,
    mqtt: Annotated[
        int | None,
        typer.Option("--mqtt", metavar="PORT", min=0, max=65535, help="Let devices connect over MQTT: 1883."),
    ] = None,
    mqtt_tls: Annotated[
        int | None,
        typer.Option("--mqtt-tls", metavar="PORT", min=0, max=65535, help="... over TLS, with its certificate: 8883."),
    ] = None,
    mqtt_bridge: Annotated[
        list[str] | None,
        typer.Option(
            "--mqtt-bridge",
            metavar="URL",
            help="Publish what a broker of MQTT passes on: mqtt://host/zigbee2mqtt/#. May be given several times.",
        ),
    ] = None,
    allow_target: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-target",
            metavar="NETWORK",
            help="Let targets reach a network that is not public: 192.168.0.0/16. May be given several times.",
        ),
    ] = None,
    stream_log: Annotated[
        str | None,
        typer.Option(
            "--stream-log",
            metavar="DIR",
            help="Write the change log of each tenant's subscriptions, for streams on Spark.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the broker until Ctrl-C or SIGTERM; then finish what is under way, and go on from there next time.

    Without --data the folder is `likewise-data` below the working directory. Environment variables such as
    LIKEWISE_SERVER_PORT override the configuration file, options override both.

    Example: `likewise serve --data city`
    """
    with handle_stop_signals() as signals:
        _serve(
            signals,
            data,
            config,
            host,
            port,
            profile,
            ephemeral,
            keep,
            tls_certificate,
            tls_key,
            {"port": mqtt, "tls_port": mqtt_tls},
            mqtt_bridge or [],
            allow_target or [],
            stream_log,
            as_json,
        )


def _serve(
    signals: StopSignal,
    data: Path | None,
    config: Path | None,
    host: str | None,
    port: int | None,
    profile: Profile | None,
    ephemeral: bool,
    keep: str | None,
    tls_certificate: str | None,
    tls_key: str | None,
    mqtt_ports: dict[str, int | None],
    mqtt_bridge: list[str],
    allow_target: list[str],
    stream_log: str | None,
    as_json: bool,
) -> None:
    from likewise.broker.broker import Broker
    from likewise.broker.config import BridgeSettings, StoreSettings, TargetNetworks, read_config
    from likewise.broker.telemetry.logging import log_to_stderr
    from likewise.cli.terminal.compiling import compile_ahead
    from likewise.errors import InputError
    from likewise.server.http.server import serve as run
    from likewise.server.mqtt.bridge import bridge_connectors
    from likewise.server.mqtt.broker.sockets import listener_connectors, open_sockets
    from likewise.server.sinks.networks import parse_networks

    if ephemeral and data is not None:
        raise InputError("--ephemeral keeps nothing on disk, --data names where to keep it; give one of them")
    settings = read_config(config)
    options = {"host": host, "port": port, "tls_certificate": tls_certificate, "tls_key": tls_key}
    server = msgspec.structs.replace(settings.server, **{k: v for k, v in options.items() if v is not None})
    matching = (
        settings.matching if profile is None else msgspec.structs.replace(settings.matching, profile=profile.value)
    )
    mqtt = msgspec.structs.replace(
        settings.mqtt,
        bridge=(*settings.mqtt.bridge, *(BridgeSettings(url) for url in mqtt_bridge)),
        **{name: port for name, port in mqtt_ports.items() if port is not None},
    )
    targets = TargetNetworks((*settings.targets.allow, *allow_target))
    parse_networks(targets.allow)  # refused before anything starts
    settings = msgspec.structs.replace(
        settings,
        targets=targets,
        server=server,
        matching=matching,
        mqtt=mqtt,
        store=settings.store if keep is None else StoreSettings(keep),
        lake=settings.lake if stream_log is None else msgspec.structs.replace(settings.lake, stream_log=stream_log),
    )
    trace = log_to_stderr(settings.logging)
    folder = None if ephemeral else data or Path("likewise-data")
    scheme = "https" if server.tls_certificate else "http"
    tasks = bridge_connectors(mqtt.bridge, folder)
    devices = open_sockets(settings)
    tasks += listener_connectors(devices)

    def ready(port: int) -> None:
        if as_json:
            address = f"{scheme}://{server.host}:{port}"
            report = {"listening": address, "data": folder, "keep": settings.store.text}
            output.print_json(report | ({"mqtt": [each.url for each in devices]} if devices else {}))
        else:
            store = "in memory" if folder is None else f"in {folder}"
            output.print_line(f"Listening on {scheme}://{server.host}:{port}, keeping everything {store}.")
            for each in devices:
                output.print_line(f"Devices connect at {each.url}.")
            output.print_line(
                f"Events are kept for {settings.store.text} unless they end sooner; --keep says how long."
                if settings.store.retention is not None
                else "Events are kept until they end by themselves."
            )

    if not compile_ahead(matching, lambda words: output.console(stderr=True).print(words, style="dim")):
        return
    with Broker(folder, settings, trace=trace) as broker, tune_gc():
        if not signals.stop:
            run(broker, on_ready=ready, connectors=tasks)  # which hears signals itself
        signals.starting = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signals.handle)
    if not broker.ended:  # a thread that was given up may be compiling: nothing is left that waits for it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
