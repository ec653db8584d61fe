"""`likewise init`: a commented configuration of a broker, with every setting and its default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.errors import StateError

WIDTH: Final = 100  # of the comments
HEAD: Final = """\
# Configuration of a Likewise broker: likewise serve --config {name}
# Each setting is shown with its default; remove the "# " in front of one to change it. The environment overrides the
# file: LIKEWISE_SERVER_PORT=9000 stands above [server] port. docs/reference/configuration.md lists the types.
"""


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path("likewise.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a commented configuration with every setting and its default; nothing in it changes anything yet.

    Example: `likewise init likewise.toml`
    """
    if file.exists() and not force:
        raise StateError(f"{file} exists; name another file, or replace it with --force")
    file.write_text(configuration_template(file.name), encoding="utf-8")
    output.print_line(f"Wrote {file}. Change it, then run: likewise serve --config {file}")


def configuration_template(name: str) -> str:
    """Return a configuration in TOML in which every setting is a comment.

    >>> "# port = 8787" in configuration_template("likewise.toml")
    True
    """
    from likewise.broker.config import Config

    lines = [HEAD.format(name=name)]
    for field in msgspec.structs.fields(Config):
        section: Any = field.default
        lines += [*_comment(type(section).__doc__ or ""), f"[{field.name}]", *_settings(section), ""]
    return "\n".join(lines)


def _comment(docstring: str) -> Iterator[str]:
    """Yield the docstring of a section as comments, without what it shows as an example."""
    text = textwrap.dedent(docstring).partition(">>>")[0]
    for paragraph in text.strip().split("\n\n"):
        yield from (f"# {line}" for line in textwrap.wrap(" ".join(paragraph.split()), WIDTH))


def _settings(section: Any) -> Iterator[str]:
    for each in msgspec.structs.fields(section):
        value = getattr(section, each.name)
        if isinstance(value, dict):
            yield f"# {each.name} = {{}}"
        elif value is None:
            yield f"# {each.name} ="
        else:
            yield f"# {each.name} = {_toml(value)}"


def _toml(value: object) -> str:
    """Return a default as TOML.

    >>> _toml(True), _toml("7 days"), _toml(("::1",)), _toml(0.5)
    ('true', '"7 days"', '["::1"]', '0.5')
    """
    return msgspec.json.encode(value).decode()
