"""`likewise context`: brokers by name, with their tokens, so that no command needs to be told again."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.contexts import Context, Contexts, contexts_file, read_contexts, write_contexts
from likewise.cli.terminal.options import AsJson, command_group
from likewise.errors import InputError

app = command_group(
    "Name brokers, and choose the one that commands mean.",
    "likewise context add city --address http://10.0.0.5:8787 --token lw_...",
)


def _names() -> list[str]:
    return sorted(read_contexts().contexts)


Name = Annotated[str, typer.Argument(metavar="NAME", help="The context's name.", autocompletion=_names)]


@app.command("list")
def list_contexts(as_json: AsJson = False) -> None:
    """List the contexts; the one in use is marked. Tokens are not shown.

    Example: `likewise context list`
    """
    stored = read_contexts()
    shown = [
        {"name": name, "address": each.address, "token": bool(each.token), "current": name == stored.current}
        for name, each in sorted(stored.contexts.items())
    ]
    output.print_list(
        shown,
        as_json,
        "No context yet. Make one: likewise context add NAME --address http://...",
        ("", "name", "address", ""),
        lambda c: ("*" if c["current"] else "", c["name"], c["address"], "with a token" if c["token"] else ""),
    )


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of your own.")],
    address: Annotated[str, typer.Option("--address", help="Where the broker is.")],
    token: Annotated[str, typer.Option("--token", help="The token; `-` reads it from standard input.")] = "",
    ca: Annotated[str, typer.Option("--ca", metavar="FILE", help="The certificate of who signed the broker's.")] = "",
    use: Annotated[bool, typer.Option(help="Use it from now on.")] = True,
) -> None:
    """Keep a broker under a name, in place of what has that name, and use it.

    Example: `likewise context add city --address http://10.0.0.5:8787`
    """
    import sys

    from likewise.client.endpoint import broker_address

    if not name.strip() or not name.isprintable():
        raise InputError("a context has a name of printable characters, such as city")
    secret = sys.stdin.readline().strip() if token == "-" else token
    stored = read_contexts()
    made = Context(broker_address(address), secret, ca)
    write_contexts(Contexts({**stored.contexts, name: made}, name if use else stored.current))
    output.print_line(f"Kept {name} in {contexts_file()}.{' Commands use it from now on.' if use else ''}")


@app.command()
def use(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one.", autocompletion=_names)] = None,
) -> None:
    """Choose the context that commands mean; without a name, none.

    Example: `likewise context use city`
    """
    stored = read_contexts()
    if name is not None:
        stored.named(name)
    write_contexts(msgspec.structs.replace(stored, current=name or ""))
    output.print_line(f"Commands use {name or 'no context'} from now on.")


@app.command()
def remove(name: Name) -> None:
    """Forget a context and its token.

    Example: `likewise context remove city`
    """
    stored = read_contexts()
    stored.named(name)
    rest = {each: context for each, context in stored.contexts.items() if each != name}
    write_contexts(Contexts(rest, "" if stored.current == name else stored.current))
    output.print_line(f"Forgot {name}.")
