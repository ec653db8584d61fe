"""`likewise serve`: run the broker."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.broker_process import (
    StopSignal,
    handle_stop_signals,
    print_listening,
    replace_given,
    run_broker,
)
from likewise.cli.terminal.options import AsJson, ConfigFile, Host, MqttPort, Port

if TYPE_CHECKING:
    from likewise.broker.config import Config
    from likewise.kernels.cache import Stage


class Profile(StrEnum):
    """The choice of engines."""

    full = "full"
    small = "small"


def serve(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder that keeps everything.")
    ] = None,
    config: ConfigFile = None,
    host: Host = None,
    port: Port = None,
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
    mqtt: MqttPort = None,
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
        from likewise.broker.config import BridgeSettings, StoreSettings, TargetNetworks, read_config
        from likewise.errors import InputError
        from likewise.server.sinks.networks import parse_networks

        if ephemeral and data is not None:
            raise InputError("--ephemeral keeps nothing on disk, --data names where to keep it; give one of them")
        settings = read_config(config)
        bridges = (*settings.mqtt.bridge, *map(BridgeSettings, mqtt_bridge or ()))
        targets = TargetNetworks((*settings.targets.allow, *(allow_target or ())))
        parse_networks(targets.allow)  # refused before anything starts
        settings = msgspec.structs.replace(
            settings,
            targets=targets,
            server=replace_given(
                settings.server, host=host, port=port, tls_certificate=tls_certificate, tls_key=tls_key
            ),
            matching=replace_given(settings.matching, profile=profile and profile.value),
            mqtt=replace_given(settings.mqtt, bridge=bridges, port=mqtt, tls_port=mqtt_tls),
            store=settings.store if keep is None else StoreSettings(keep),
            lake=replace_given(settings.lake, stream_log=stream_log),
        )
        serve_settings(settings, None if ephemeral else data or Path("likewise-data"), signals, as_json)


def serve_settings(settings: Config, folder: Path | None, signals: StopSignal, as_json: bool) -> None:
    """Run a broker with its bridges, its listener for devices and its normaliser until a signal stops it."""
    from likewise.broker.broker import Broker
    from likewise.broker.telemetry.logging import log_to_stderr
    from likewise.cli.terminal.compiling import compile_ahead, compile_meanwhile
    from likewise.server.adviser import adviser_connectors
    from likewise.server.http.server import serve as run
    from likewise.server.mqtt.bridge import bridge_connectors
    from likewise.server.mqtt.broker.listener import listener_connectors, open_sockets
    from likewise.server.mqtt.normalizer_connectors import normalizer_connectors

    trace = log_to_stderr(settings.logging)
    # The normaliser comes first: it knows what it must not read back before a bridge reads anything.
    beside = [
        *normalizer_connectors(settings),
        *adviser_connectors(settings),
        *bridge_connectors(settings.mqtt.bridge, folder),
    ]
    devices = open_sockets(settings)
    connectors = [*beside, *listener_connectors(devices)]
    facts = {"data": folder, "keep": settings.store.text}
    lines = (
        f"keeping everything {'in memory' if folder is None else f'in {folder}'}.",
        f"Events are kept for {settings.store.text} unless they end sooner; --keep says how long."
        if settings.store.retention is not None
        else "Events are kept until they end by themselves.",
    )

    def ready(port: int) -> None:
        print_listening(settings.server, port, devices, facts, lines, as_json)

    def serve_broker(broker: Broker) -> None:
        with compile_meanwhile(settings.matching, broker, output.print_note):
            run(broker, on_ready=ready, connectors=connectors)

    # What is stored may be of any kind; where nothing is, the first subscriptions decide what is needed first.
    stage: Stage = "first" if folder is None or not folder.exists() else "all"
    if compile_ahead(settings.matching, output.print_note, stage):
        run_broker(Broker(folder, settings, trace=trace), signals, serve_broker)
