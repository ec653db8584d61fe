"""`likewise normalize`: every device in common names and units, beside the MQTT broker that people have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.broker_process import handle_stop_signals, replace_given
from likewise.cli.terminal.options import AsJson, ConfigFile, Host, MqttPort, Port, command_group

app = command_group(
    "Publish every device's readings under common names and in common units, beside your MQTT broker.",
    "likewise normalize --bridge 'mqtt://localhost/#' --to 'mqtt://localhost/norm/{source}/{name}'",
    alone=True,
)


@app.callback()
def normalize(
    called: typer.Context,
    bridge: Annotated[
        list[str] | None,
        typer.Option("--bridge", metavar="URL", help="What to read: mqtt://host/#. May be given several times."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="URL", help="Where to publish: mqtt://host/norm/{source}/{name}."),
    ] = None,
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The folder that keeps everything.")] = Path(
        "likewise-data"
    ),
    names: Annotated[
        str | None, typer.Option("--names", metavar="FILE", help="Common names; `likewise normalize init` writes them.")
    ] = None,
    form: Annotated[str | None, typer.Option("--format", metavar="FORM", help="json, value, senml or ngsi-ld.")] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="P", help="The probability that a name needs: 0.8.")
    ] = None,
    retain: Annotated[str | None, typer.Option("--retain", metavar="WHEN", help="original, always or never.")] = None,
    home_assistant: Annotated[
        bool, typer.Option("--home-assistant", help="Announce what is understood to Home Assistant.")
    ] = False,
    config: ConfigFile = None,
    host: Host = None,
    port: Port = None,
    mqtt: MqttPort = None,
    as_json: AsJson = False,
) -> None:
    """Run a broker that reads yours and publishes every reading it understands under its common name and unit.

    What is not certain is not sent: `likewise vocabulary review` lists it.

    Example: `likewise normalize --bridge 'mqtt://localhost/#' --to 'mqtt://localhost/norm/{source}/{name}'`
    """
    if called.invoked_subcommand is not None:
        return
    with handle_stop_signals() as signals:
        from likewise.broker.config import BridgeSettings, NormalizeSettings, read_config
        from likewise.cli.serve import serve_settings
        from likewise.errors import InputError

        settings = read_config(config)
        given = {"to": to, "names": names, "format": form, "confidence": confidence, "retain": retain}
        fields = msgspec.structs.asdict(settings.normalize) | {k: v for k, v in given.items() if v is not None}
        try:
            normalized = msgspec.convert(fields, NormalizeSettings)
        except msgspec.ValidationError as error:
            raise InputError(f"an option of normalize cannot be used: {error}") from None
        if normalized.to is None:
            raise typer.BadParameter("say where to publish: mqtt://host/norm/{source}/{name}", param_hint="--to")
        bridges = (*settings.mqtt.bridge, *map(BridgeSettings, bridge or ()))
        settings = msgspec.structs.replace(
            settings,
            normalize=normalized,
            home_assistant=replace_given(settings.home_assistant, publish=home_assistant or None),
            server=replace_given(settings.server, host=host, port=port),
            mqtt=replace_given(settings.mqtt, bridge=bridges, port=mqtt),
        )
        serve_settings(settings, data, signals, as_json)


@app.command()
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to.")] = Path("common-names.csv"),
) -> None:
    """Write the common names and units that come with Likewise, as a file to edit.

    Example: `likewise normalize init common-names.csv`
    """
    from likewise.errors import InputError
    from likewise.matching.common_names.table import default_text

    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(default_text())
    except FileExistsError:
        raise InputError(f"{file} exists; name another file, or remove it") from None
    output.print_line(f"Wrote {file}. Edit it, and name it with --names {file}, or as [normalize] names.")
