"""Writes the pages of docs/reference that list what the code has: errors, configuration, metrics, HTTP, commands.

python tools/make_reference.py           # write them
python tools/make_reference.py --check   # say which are out of date; exit code 1 if any is
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any, Final
from unittest.mock import MagicMock

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTE: Final = "<!-- Written by tools/make_reference.py; change the code it reads, then run it again. -->\n\n"


def _first(text: str | None) -> str:
    """The first sentence or line of a docstring."""
    return (text or "").strip().split("\n\n")[0].replace("\n", " ").strip()


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def _table(*heads: str) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)


def _row(*cells: object) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def errors_page() -> str:
    """Every error, by its code."""
    from likewise import errors
    from likewise.server.http.problems import status_of

    def below(kind: type[errors.LikewiseError]) -> Iterator[type[errors.LikewiseError]]:
        yield kind
        for child in kind.__subclasses__():
            if child.__module__ == errors.__name__:
                yield from below(child)

    lines = [
        "# Error codes",
        "",
        "Everything Likewise raises on purpose is a `LikewiseError` with a stable `code`. The command line prints it",
        "with `--json`, the HTTP interface as [problem+json](https://www.rfc-editor.org/rfc/rfc9457) with the status",
        "below. A code keeps its meaning; new ones may come.",
        "",
        *_table("code", "class", "HTTP", "what it means"),
    ]
    for kind in below(errors.LikewiseError):
        lines.append(_row(f"`{kind.code}`", f"`{kind.__name__}`", status_of(kind.__new__(kind)), _first(kind.__doc__)))
    return "\n".join(lines) + "\n"


def configuration_page() -> str:
    """Every setting, by section."""
    import msgspec

    from likewise.broker.config import Config

    lines = [
        "# Configuration",
        "",
        "`likewise serve --config FILE` reads one TOML file. Each value can be overridden from the environment:",
        "`LIKEWISE_<SECTION>_<NAME>` stands above `[section] name`. A name that is not known is refused.",
    ]
    for field in msgspec.structs.fields(Config):
        section: Any = type(field.default)
        lines += [
            "",
            f"## `[{field.name}]`",
            "",
            _first(section.__doc__),
            "",
            *_table("name", "type", "default", "environment"),
        ]
        for each in msgspec.structs.fields(section):
            kind = getattr(each.type, "__name__", None) if isinstance(each.type, type) else None
            shown = kind or str(each.type).replace("typing.Literal", "").replace("'", "`").strip("[]")
            default = "" if each.default is None else f"`{each.default}`"
            if isinstance(each.default, bool | int) and not isinstance(each.default, bool) and each.default >= 10_000:
                default = f"{each.default:,}"
            lines.append(_row(f"`{each.name}`", shown, default, f"`LIKEWISE_{field.name.upper()}_{each.name.upper()}`"))
    return "\n".join(lines) + "\n"


def collectors() -> Iterator[Any]:
    """One of each class that yields metrics, of a broker that has nothing to count."""
    from importlib import import_module
    from pkgutil import walk_packages

    from prometheus_client.registry import Collector

    from likewise import broker, server
    from likewise.broker.config import ServerSettings
    from likewise.server.connection_limits import ConnectionLimits

    for package in (broker, server):
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)
    for kind in Collector.__subclasses__():
        if kind.__module__.startswith("likewise."):
            given = [MagicMock() for name in signature(kind).parameters]
            yield ConnectionLimits(ServerSettings()) if kind is ConnectionLimits else kind(*given)


def metrics_page() -> str:
    """Every metric of `/metrics`."""
    from prometheus_client.parser import text_string_to_metric_families

    from likewise.broker.broker import Broker

    lines = [
        "# Metrics",
        "",
        "`GET /metrics` in Prometheus' text format. Counters start at zero with the process; gauges are read when the",
        "page is. Those of the lake, workers, devices, bridges and targets are there where the broker has such.",
        "",
        *_table("name", "type", "what it counts"),
    ]
    with Broker(None) as broker:
        broker.metrics.watch_lake(lambda tenant: 0, lambda: 0)
        families = {each.name: each for each in text_string_to_metric_families(broker.metrics.page().decode())}
    families |= {family.name: family for each in collectors() for family in each.collect()}
    for _, family in sorted(families.items()):
        if family.name.endswith("_created"):
            continue
        name = family.name + ("_total" if family.type == "counter" else "")
        lines.append(_row(f"`{name}`", family.type, family.documentation))
    return "\n".join(lines) + "\n"


def http_page() -> str:
    """Every address of the HTTP interface."""
    import msgspec

    from likewise.broker.broker import Broker
    from likewise.server.http.server import make_app

    with Broker(None) as broker:
        described = make_app(broker).openapi()
    lines = [
        "# HTTP interface",
        "",
        "A running broker describes itself at `/docs` (for people) and `/openapi.json` (for machines). Bodies are JSON",
        "unless said otherwise; errors are problem+json with [a stable code](errors.md). Where tokens are in force,",
        "send `Authorization: Bearer TOKEN`.",
    ]
    sections: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            section = sections.setdefault((operation.get("tags") or ["other"])[0], [])
            section += ["", f"### `{method.upper()} {path}`", "", operation.get("summary", "")]
            parameters = [p for p in operation.get("parameters", ()) if p["in"] == "query"]
            if parameters:
                section += ["", *_table("query", "type", "what it says")]
                for each in parameters:
                    kind, said = each["schema"].get("type", ""), each.get("description", "")
                    section.append(_row(f"`{each['name']}`", kind, said))
            for kind, body in operation.get("requestBody", {}).get("content", {}).items():
                example = body.get("example")
                shown = example if isinstance(example, str) else msgspec.json.encode(example).decode()
                section += ["", f"`{kind}`:", "", "```", shown.rstrip(), "```"]
    for name, section in sections.items():
        lines += ["", f"## {name.capitalize()}", *section]
    streams = "`GET /v1/subscribers/{id}/stream` as a WebSocket pushes deliveries and takes acknowledgements."
    lines += ["", "## Streams", "", streams]
    return "\n".join(lines) + "\n"


BROKER: Final = frozenset(("context", "address", "token", "ca"))  # options of every command that connects to a broker


def _broker_options(lazy: Any, main: Any) -> list[Any]:
    """The options that choose a broker, as one command has them."""
    command = lazy.load("publish", main.COMMANDS["publish"].target)
    return [each for each in command.params if each.name in BROKER]


def commands_page() -> str:
    """Every command of `likewise`, with its arguments and options."""
    import typer

    from likewise.cli import main
    from likewise.cli.terminal import lazy

    def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
        yield path, command
        for name, child in getattr(command, "commands", {}).items():
            if not child.hidden:
                yield from walk(child, f"{path} {name}")

    lines = [
        "# Commands",
        "",
        "Each command explains itself with `--help`. [The command line](../command-line.md) says what they are for and",
        "which exit codes they have. `likewise -q COMMAND` prints results and errors only, `likewise --version` the",
        "version. Where `--json` stands, results and errors are JSON. Commands marked *broker* take these, too:",
        "",
        *_table("option", "what it says", "environment"),
        *(_row(f"`{each.opts[0]}`", each.help, f"`{each.envvar}`") for each in _broker_options(lazy, main)),
    ]
    top: Any = typer.main.get_command(main.app)
    for name, entry in main.COMMANDS.items():
        if entry.hidden:
            continue
        for path, command in walk(lazy.load(name, entry.target), f"likewise {name}"):
            lines += _command_section(path, command, top.commands[name].help)
    return "\n".join(lines) + "\n"


def _command_section(path: str, command: Any, short: str) -> Iterator[str]:
    """The heading, help, arguments and options of one command."""
    text = "\n".join(line.strip() for line in (command.help or short or "").split("\f")[0].splitlines())
    names = {each.name for each in command.params}
    mark = " *broker*" if names >= BROKER else ""
    yield from ("", f"{'#' * (path.count(' ') + 1)} `{path}`{mark}", "", text.strip())
    common = {"help", "as_json"} | (BROKER if names >= BROKER else set())
    parameters = [each for each in command.params if each.name not in common and not getattr(each, "hidden", False)]
    if "as_json" in names:
        yield from ("", "Takes `--json`.")
    if not parameters:
        return
    yield from ("", *_table("argument or option", "what it says", "default"))
    for each in parameters:
        is_option = each.param_type_name == "option"
        shown = ", ".join((*each.opts, *each.secondary_opts)) if is_option else each.metavar or str(each.name).upper()
        note = f" (`{each.envvar}`)" if isinstance(each.envvar, str) else ""
        default = "" if each.default in (None, (), False) or callable(each.default) else f"`{each.default}`"
        yield _row(
            f"`{shown}`", f"{(getattr(each, 'help', '') or '').strip()}{note}", "required" if each.required else default
        )


PAGES: Final[dict[str, Callable[[], str]]] = {
    "errors.md": errors_page,
    "configuration.md": configuration_page,
    "metrics.md": metrics_page,
    "http.md": http_page,
    "commands.md": commands_page,
}


def main(arguments: list[str]) -> int:
    FOLDER.mkdir(exist_ok=True)
    stale = []
    for name, make in PAGES.items():
        text, path = NOTE + make(), FOLDER / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    print("out of date:" if "--check" in arguments else "written:", ", ".join(stale) or "none")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
