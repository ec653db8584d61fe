"""Options that several commands share, so that each is declared once and reads the same everywhere.

Options that belong together form a group: a command takes one parameter of the group's type, and `grouped` gives it the
options.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from likewise import defaults
from likewise.errors import InputError

if TYPE_CHECKING:
    from likewise.client import Publisher, Subscriber
    from likewise.matching.matcher import Matcher
    from likewise.matching.registry import Choice
    from likewise.model import Kind

MeasureName = Annotated[
    str | None,
    typer.Option(
        "--measure",
        help="The measure: esa, thematic, latent, jcn, path, gloss, names, embeddings, combine or sameness; options "
        f"follow as in esa:metric=raw. By default {defaults.MEASURE}; `relate` uses {defaults.RELATEDNESS}.",
    ),
]
SpaceName = Annotated[
    str | None, typer.Option("--space", help="The space, by name or folder; the embedded one by default.")
]
ModelFolder = Annotated[
    str | None, typer.Option("--model", metavar="FOLDER", help="An embedding model to compare with, too.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Why = Annotated[bool, typer.Option(help="Say what met each part; --no-why is faster.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A configuration in TOML.")]
Host = Annotated[str | None, typer.Option("--host", help="Where to listen; this machine alone by default.")]
Port = Annotated[int | None, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")]
MqttPort = Annotated[
    int | None, typer.Option("--mqtt", metavar="PORT", min=0, max=65535, help="Let devices connect over MQTT: 1883.")
]
Subscriptions = Annotated[
    list[str] | None, typer.Argument(metavar="SUBSCRIPTION", help="Subscriptions; a name may stand in front.")
]
SubscriptionsFile = Annotated[
    str | None, typer.Option("--file", metavar="FILE", help="Subscriptions, one a line; - is standard input.")
]
SparkMaster = Annotated[
    str | None, typer.Option(help="The Spark master; else SPARK_REMOTE, else all cores of this machine.")
]
SparkMemory = Annotated[str, typer.Option(help="Memory of Spark's driver.")]
AnnotationsFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="What is known about sources, models and topics, as CSV.")
]
Threshold = Annotated[float | None, typer.Option(min=0, max=1, help="The score a match needs.")]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="Report what is bad and go on; count it at the end.")]


def command_group(help: str, example: str, *, alone: bool = False) -> typer.Typer:
    """Return an app of several commands; called `alone` it runs its callback, else it shows its help."""
    return typer.Typer(
        help=f"{help}\n\nExample: `{example}`",
        no_args_is_help=not alone,
        invoke_without_command=alone,
        rich_markup_mode="markdown",
        add_completion=False,
    )


class OptionGroup(msgspec.Struct):
    """Options that belong together; each field is an option, declared as a command's parameter is."""


class BrokerOptions(OptionGroup):
    """The broker to connect to: a context, or an address with its token."""

    context: Annotated[
        str | None,
        typer.Option("--context", envvar="LIKEWISE_CONTEXT", help="A broker by its name (`likewise context`)."),
    ] = None
    address: Annotated[
        str | None,
        typer.Option("--address", envvar="LIKEWISE_ADDRESS", help="The broker; http://127.0.0.1:8787 by default."),
    ] = None
    token: Annotated[
        str | None, typer.Option("--token", envvar="LIKEWISE_TOKEN", help="The token, where the broker wants one.")
    ] = None
    ca: Annotated[
        str | None,
        typer.Option(
            "--ca",
            envvar="LIKEWISE_CA",
            metavar="FILE",
            help="The certificate of who signed the broker's, where the machine does not know them.",
        ),
    ] = None

    def broker(self) -> tuple[str, dict[str, Any]]:
        """Return the broker's address, and the token and certificate that go with it."""
        from likewise.cli.terminal.contexts import resolve_context

        context, address = self.context, self.address
        if context is not None and address is not None:  # what is typed counts for more than the environment
            address = None if address == os.environ.get("LIKEWISE_ADDRESS") else address
            context = None if context == os.environ.get("LIKEWISE_CONTEXT") else context
        resolved = resolve_context(context, address)
        credentials = {"token": self.token or resolved.token or None, "ca": self.ca or resolved.ca or None}
        return resolved.address, {name: value for name, value in credentials.items() if value is not None}

    def publisher(self, source: str | None = None) -> Publisher:
        """Return a publisher that has checked that its broker answers."""
        from likewise.cli.terminal.reconnect_notice import install_retry_notice
        from likewise.client import Publisher

        install_retry_notice()
        address, options = self.broker()
        return Publisher(address, source=source, **options).connect(patience=0)

    def subscriber(self, id: str, **queue: Any) -> Subscriber:
        """Return a subscriber that is not registered yet."""
        from likewise.cli.terminal.reconnect_notice import install_retry_notice
        from likewise.client import Subscriber

        install_retry_notice()
        address, options = self.broker()
        return Subscriber(id, address, **options, **queue)


class FormatOptions(OptionGroup):
    """The format of events."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="lines, ttl, nt, nq, trig, jsonld, senml, json or another media type; by default what the file's "
            "ending says, else lines.",
        ),
    ] = None
    whole: Annotated[bool, typer.Option("--whole", help="An RDF document is one event, not one for each subject.")] = (
        False
    )


class MeaningOptions(OptionGroup):
    """By what words are compared, and how related they must be."""

    threshold: Annotated[
        float | None,
        typer.Option("--threshold", min=0, max=1, help="The score a match needs; a subscription may say its own."),
    ] = None
    measure: MeasureName = None
    space: SpaceName = None
    annotations: Annotated[
        Path | None,
        typer.Option("--annotations", metavar="FILE", help="What is known about sources, models and topics, as CSV."),
    ] = None

    def matcher(self, engines: Mapping[Kind, Choice] | None = None) -> Matcher:
        """Return a matcher with this space, measure and threshold, each by default if it was not given.

        >>> MeaningOptions(0.4, "esa:metric=cosine").matcher().interpretation.threshold
        0.4
        """
        from likewise import Matcher, load_space

        if self.measure is None:
            return Matcher(space=self.space, threshold=self.threshold, annotations=self.annotations, engines=engines)
        name, options = parse_measure(self.measure)
        opened = load_space(self.space)
        measure = opened.measure(name, **options)
        return Matcher(
            space=opened,
            measure=measure,
            threshold=self.threshold,
            annotations=self.annotations,
            engines=engines,
        )


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its groups, as if it had declared each.

    >>> def show(name: str, meaning: MeaningOptions) -> None: ...
    >>> list(inspect.signature(with_option_groups(show)).parameters)
    ['name', 'threshold', 'measure', 'space', 'annotations']
    """
    declared = inspect.signature(command, eval_str=True).parameters
    groups = {name: p.annotation for name, p in declared.items() if _is_group(p.annotation)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in declared.items():
        if name not in groups:
            parameters.append(parameter)
            continue
        hints = inspect.get_annotations(groups[name], eval_str=True)
        for field in msgspec.structs.fields(groups[name]):
            keyword = inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
            )
            parameters.append(keyword)
    parameters.sort(key=lambda parameter: parameter.kind)  # stable: what a command names itself comes first

    @functools.wraps(command)
    def called(**said: Any) -> None:
        for name, group in groups.items():
            said[name] = group(**{field: said.pop(field) for field in group.__struct_fields__})
        command(**said)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del called.__wrapped__
    return called


def _is_group(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, OptionGroup)


def parse_measure(text: str) -> tuple[str, dict[str, str]]:
    """Parse the name of a measure and its options.

    >>> parse_measure("esa:metric=raw"), parse_measure("jcn")
    (('esa', {'metric': 'raw'}), ('jcn', {}))
    """
    name, _, rest = text.partition(":")
    options = {}
    for piece in rest.split(",") if rest else []:
        key, equals, value = piece.partition("=")
        if not equals:
            raise InputError(f"expected an option like metric=raw after the colon, found {piece!r}")
        options[key.strip()] = value.strip()
    return name, options
