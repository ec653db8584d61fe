"""`likewise targets`: where matches go out by themselves; list, set, change, remove, try dead letters again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.broker.queries import fetch, of_subscriber, read_text
from likewise.cli.terminal import output
from likewise.cli.terminal.completion import complete_subscribers, complete_subscriptions, complete_targets
from likewise.cli.terminal.options import AsJson, BrokerOptions, OptionGroup, command_group, with_option_groups

if TYPE_CHECKING:
    from likewise.api.sinks import TargetDetails

app = command_group("Send matches on by themselves: webhooks and topics of MQTT.", "likewise targets list")
Owner = Annotated[
    str, typer.Option("--for", help="The subscriber whose subscription it is.", autocompletion=complete_subscribers)
]
Subscribed = Annotated[
    str, typer.Argument(metavar="SUBSCRIPTION", help="The subscription's name.", autocompletion=complete_subscriptions)
]
Name = Annotated[str, typer.Argument(metavar="TARGET", help="The target's name.", autocompletion=complete_targets)]


class TargetOptions(OptionGroup):
    """The settings of a target; secrets come from files, so that no list of processes shows them."""

    form: Annotated[
        str | None,
        typer.Option(
            "--form",
            help="What is sent: json, event, cloudevents, text, template, or one sentence as plain, slack, discord, "
            "ntfy, telegram or home-assistant take it.",
        ),
    ] = None
    template: Annotated[
        Path | None,
        typer.Option("--template", metavar="FILE", help="A template: JSON (.json), else text; names in {{...}}."),
    ] = None
    topic: Annotated[
        str | None, typer.Option("--topic", help="The topic of MQTT, such as alerts/{{@subscription}}.")
    ] = None
    because: Annotated[
        bool | None, typer.Option("--because/--no-because", help="Say which readings met the subscription.")
    ] = None
    secret: Annotated[
        Path | None, typer.Option("--secret-file", metavar="FILE", help="The secret that signs; made if left out.")
    ] = None
    password: Annotated[
        Path | None, typer.Option("--password-file", metavar="FILE", help="The password of the broker of MQTT.")
    ] = None
    username: Annotated[str | None, typer.Option("--username", help="The user name there.")] = None
    headers: Annotated[
        Path | None, typer.Option("--header-file", metavar="FILE", help="Headers to send, one a line: Name: value.")
    ] = None
    timeout: Annotated[float | None, typer.Option("--timeout", help="Seconds for one attempt.")] = None
    patience: Annotated[
        float | None, typer.Option("--patience", help="Seconds until a match becomes a dead letter.")
    ] = None

    def to_dict(self) -> dict[str, Any]:
        """Return the options that were given, as a request states them."""
        import msgspec

        from likewise.errors import FormatError

        settings: dict[str, Any] = {
            "form": self.form,
            "topic": self.topic,
            "because": self.because,
            "username": self.username,
            "timeout": self.timeout,
            "patience": self.patience,
            "secret": _read_secret(self.secret),
            "password": _read_secret(self.password),
        }
        if self.template is not None:
            text = read_text(self.template)
            settings["form"] = self.form or "template"
            try:
                settings["template"] = (
                    msgspec.json.decode(text) if self.template.suffix == ".json" else text.rstrip("\n")
                )
            except msgspec.DecodeError as error:
                raise FormatError(f"{self.template} is not JSON: {error}") from None
        if self.headers is not None:
            settings["headers"] = _read_headers(self.headers)
        return {name: value for name, value in settings.items() if value is not None}


def _read_headers(path: Path) -> dict[str, str]:
    """Read headers from a file. An error names the number of a line, not its text, which may be a secret."""
    from likewise.errors import FormatError

    headers: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip():
            name, colon, value = line.partition(":")
            if not colon or not name.strip():
                raise FormatError(f"{path}, line {number}: write a header as Name: value")
            headers[name.strip()] = value.strip()
    return headers


def _read_secret(path: Path | None) -> str | None:
    return None if path is None else read_text(path).strip()


@app.command("list")
@with_option_groups
def list_targets(
    broker: BrokerOptions,
    owner: Annotated[str | None, typer.Option("--for", help="Only those of this subscriber.")] = None,
    as_json: AsJson = False,
) -> None:
    """List targets: whose, where to, and how they fare.

    Example: `likewise targets list --for ann`
    """
    from likewise.api.sinks import TargetDetails

    with broker.publisher() as client:
        every = fetch(client, list[TargetDetails], "/v1/targets")
    listed = of_subscriber(every, owner)
    output.print_list(
        listed,
        as_json,
        f"No target{f' for {owner}' if owner else ''}.",
        ("for", "subscription", "target", "address", "state"),
        lambda each: (each.subscriber, each.subscription, each.id, each.address, describe_state(each)),
    )


def describe_state(target: TargetDetails) -> str:
    """Describe the state of a target in a few words.

    >>> from likewise.api.sinks import TargetDetails, TargetStatus
    >>> state = TargetStatus(waiting=2, last_error="answered 500")
    >>> describe_state(TargetDetails("ann", "warm", "hook", "webhook", "https://example.org/", "json", 0, state))
    '2 wait; last error: answered 500'
    """
    from likewise.cli.terminal.rendering import time_of_day

    state = target.state
    parts = [f"last accepted {time_of_day(state.last_success)}"] if state.last_success else []
    parts += [f"{state.waiting} wait"] if state.waiting else []
    parts += [f"{state.dead} dead"] if state.dead else []
    parts += [f"last error: {state.last_error}"] if state.last_error else []
    return "; ".join(parts) or "nothing sent yet"


@app.command("set")
@with_option_groups
def set_target(
    broker: BrokerOptions,
    settings: TargetOptions,
    subscription: Subscribed,
    to: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="https://host/path, mqtt://host:1883, or smtp://host/ann@example.org."),
    ],
    owner: Owner = "me",
    name: Annotated[str | None, typer.Option("--name", help="The target's name; its kind if left out.")] = None,
    as_json: AsJson = False,
) -> None:
    """Send the matches of a subscription to an address, from now on; what is left out stays as it was.

    Example: `likewise targets set warm https://example.org/matches --for ann --because`
    """
    import msgspec

    from likewise.client.targets import parse_target

    options = settings.to_dict()
    made = {**msgspec.to_builtins(parse_target(to)), **options}
    with broker.subscriber(owner) as client:
        client.connect(patience=0)
        target = client.targets.set(subscription, _to_target(made), name)
    _print_target(target, as_json, f"Set {target.id} of {subscription}: {target.address}.")


def _to_target(document: dict[str, Any]) -> Any:
    import msgspec

    from likewise.api.sinks import TargetSettings
    from likewise.errors import FormatError

    try:
        return msgspec.convert(document, TargetSettings)
    except msgspec.ValidationError as error:
        raise FormatError(f"this is no target: {error}; see likewise targets set --help") from None


@app.command()
@with_option_groups
def change(
    broker: BrokerOptions,
    settings: TargetOptions,
    subscription: Subscribed,
    name: Name,
    owner: Owner = "me",
    to: Annotated[str | None, typer.Option("--to", metavar="ADDRESS", help="Another address.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change some settings of a target; how far it has come stays.

    Example: `likewise targets change warm webhook --for ann --no-because`
    """
    changes = settings.to_dict() | ({} if to is None else {"url": to})
    with broker.subscriber(owner) as client:
        client.connect(patience=0)
        target = client.targets.change(subscription, name, **changes)
    _print_target(target, as_json, f"Changed {name} of {subscription}.")


@app.command()
@with_option_groups
def remove(
    broker: BrokerOptions, subscription: Subscribed, name: Name, owner: Owner = "me", as_json: AsJson = False
) -> None:
    """Remove a target, what waits for it, and its dead letters.

    Example: `likewise targets remove warm webhook --for ann`
    """
    from likewise.client.targets import target_path

    with broker.publisher() as client:
        client.request("DELETE", target_path(owner, subscription, name))
    removed = {"subscriber": owner, "subscription": subscription, "removed": name}
    output.print_result(removed, as_json, f"Removed {name} of {subscription}.")


@app.command()
@with_option_groups
def retry(
    broker: BrokerOptions, subscription: Subscribed, name: Name, owner: Owner = "me", as_json: AsJson = False
) -> None:
    """Try the dead letters of a target again; what is accepted leaves the list.

    Example: `likewise targets retry warm webhook --for ann`
    """
    from likewise.api.sinks import RetryReceipt
    from likewise.client.targets import target_path

    with broker.publisher() as client:
        path = target_path(owner, subscription, name, "retry")
        count = fetch(client, RetryReceipt, path, method="POST").letters
    text = f"{count} dead letters are tried again." if count else "There are no dead letters."
    output.print_result({"letters": count}, as_json, text)


def _print_target(target: TargetDetails, as_json: bool, words: str) -> None:
    secret = f"\nIt signs with {target.secret}, which is shown this once." if target.secret else ""
    output.print_result(target, as_json, words + secret)
