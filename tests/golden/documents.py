"""Write down the outside of Likewise as lines of text: one fact a line, each complete on its own.

A line that begins with `#` is prose or an example: it is compared with the file of today, not with the first release's.
"""

from __future__ import annotations

import ast
import enum
import importlib
import pkgutil
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

import msgspec
import typer.main
from prometheus_client.metrics import MetricWrapperBase

import likewise
from likewise import errors
from likewise.broker.broker import Broker
from likewise.broker.config import Config
from likewise.broker.log.schema import APPLICATION, SCHEMA, VERSION
from likewise.cli.main import app
from likewise.cli.terminal.lazy import load
from likewise.formats.arrow.schema import batch_schema
from likewise.lake import parts
from likewise.model.matches import batch as table
from likewise.server.http.openapi import TYPES
from likewise.server.http.problems import status_of
from likewise.server.http.server import make_app
from tests.golden.labels import GROUPS, SHARED
from tests.golden.wire_types import describe

SOURCE: Final = Path(likewise.__file__).parent
_REFERENCE: Final = "#/components/schemas/"
_PROSE: Final = ("summary", "description", "example", "title")


def commands() -> Iterator[str]:
    """Yield every command with its arguments and options."""
    for path, command in _commands():
        yield f"{path}: {'group' if hasattr(command, 'commands') else 'command'}"
        for parameter in command.params:
            names = "/".join([*parameter.opts, *parameter.secondary_opts])
            at = f"{path} {names}"
            yield from (f"{at}: {kind}" for kind in _parameter_types(parameter.type_descriptor.annotation))
            said = [f"{bound} {value}" for bound in ("min", "max") if (value := getattr(parameter, bound)) is not None]
            said += ["required"] if parameter.required else []
            said += ["many"] if parameter.nargs != 1 or getattr(parameter, "multiple", False) else []
            said += [f"environment {parameter.envvar}"] if parameter.envvar else []
            said += ["hidden"] if parameter.hidden else []
            yield from (f"{at} {fact}" for fact in said)
            if _is_stable(parameter.default):
                yield f"{at} = {parameter.default!r}"


def help_pages() -> Iterator[str]:
    """Yield what `--help` says of each command and option."""
    for path, command in _commands():
        yield f"# {path}: {_one_line(command.help)}"
        for parameter in command.params:
            yield f"# {path} {'/'.join(parameter.opts)}: {_one_line(parameter.help)}"


def _commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with its path; typer has no public type for it."""

    def below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield path, command
        lazy = getattr(type(command), "lazy", {})
        for name, each in getattr(command, "commands", {}).items():
            yield from below(f"{path} {name}", load(name, lazy[name].target) if name in lazy else each)

    return below("likewise", typer.main.get_command(app))


def _parameter_types(annotation: Any) -> list[str]:
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return [f"may be {each.value}" for each in annotation]
    if get_origin(annotation) is Literal:
        return [f"may be {each}" for each in get_args(annotation)]
    return [str(getattr(annotation, "__name__", annotation))]


def _is_stable(value: object) -> bool:
    """Say whether a default is the same on every machine: neither a function, a path nor a sentinel."""
    if isinstance(value, list | tuple):
        return all(_is_stable(each) for each in value)
    return isinstance(value, str | int | float | bool) and not str(value).startswith("/")


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def openapi() -> Iterator[str]:
    """Yield what the OpenAPI document says of each route; an answer is described by its fields."""
    with Broker(None) as broker:
        document = make_app(broker).openapi()
    labels = {cls: label for label, cls in SHARED.items()}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            route = f"{method.upper()} {path}"
            yield from _flat(route, operation)
            for status, answer in operation["responses"].items():
                for name in _references(answer):
                    if name != "Problem":  # the answer to every error; it has a label of its own
                        yield from describe(f"{route} -> {status}", TYPES[name], labels)
    yield from _flat("document", {key: value for key, value in document.items() if key not in ("paths", "components")})


def _flat(path: str, value: Any) -> Iterator[str]:
    """Yield one line for each leaf of a JSON document; names of schemas are left out."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(f"{path} {key}", inner)
    elif isinstance(value, list) and value:
        for position, inner in enumerate(value):
            key = f"[{inner['name']}]" if isinstance(inner, dict) and "name" in inner else f"[{position}]"
            yield from _flat(f"{path}{key}", inner)
    else:
        text = msgspec.json.encode(value).decode()
        text = "a schema" if path.endswith("$ref") else text
        prose = "# " if any(f" {word}" in path for word in _PROSE) else ""
        yield f"{prose}{path}: {text}"


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner.removeprefix(_REFERENCE)
            else:
                yield from _references(inner)


def configuration() -> Iterator[str]:
    """Yield every section and key of the configuration file, and every environment variable that is read."""
    labels: dict[object, str] = {}
    for section in msgspec.structs.fields(Config):
        yield from describe(f"[{section.name}]", type(section.default), labels)
    named: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        named |= set(re.findall(r"\"(LIKEWISE_[A-Z_]+[A-Z])\"", path.read_text(encoding="utf-8")))
    yield from (f"environment: {name}" for name in named)


def database() -> Iterator[str]:
    """Yield the SQLite schema: each table's columns, and each index."""
    yield f"application_id: {APPLICATION:#x}"
    yield f"user_version: {VERSION}"
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(SCHEMA)
        for name, kind, sql in connection.execute("SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL"):
            if kind == "table":
                for _, column, type_, not_null, default, key in connection.execute(f"PRAGMA table_info({name})"):
                    said = f"{type_}{' NOT NULL' if not_null else ''}{f' DEFAULT {default}' if default else ''}"
                    yield f"table {name}.{column}: {said}{f' KEY {key}' if key else ''}"
            yield f"{kind} {name}: {_one_line(sql)}"
    connection.close()


def metrics() -> Iterator[str]:
    """Yield every metric of `/metrics` with its type and labels."""
    with Broker(None) as broker:
        registry = broker.metrics.registry
        for collector in list(registry._collector_to_names):
            families = list(collector.collect())
            for family in families:
                if family.type == "gauge" and family.name.endswith("_created"):
                    continue
                labels = {name for sample in family.samples for name in sample.labels} - {"le"}
                if isinstance(collector, MetricWrapperBase):
                    labels |= set(collector._labelnames)
                labels |= set(getattr(family, "_labelnames", ()))
                yield f"{family.name}: {family.type} by {', '.join(sorted(labels)) or 'nothing'}"
                yield f"# {family.name}: {family.documentation}"


def public_names() -> Iterator[str]:
    """Yield what `import likewise` offers, and every error code with its HTTP status."""
    yield from (f"likewise.{name}" for name in likewise.__all__)

    def below(kind: type[errors.LikewiseError]) -> Iterator[type[errors.LikewiseError]]:
        yield kind
        for child in kind.__subclasses__():
            if child.__module__.startswith("likewise"):
                yield from below(child)

    _import_everything()
    for kind in below(errors.LikewiseError):
        yield f"error {kind.code}: HTTP {status_of(kind.__new__(kind))}"


def arrow_tables() -> Iterator[str]:
    """Yield the columns of every Arrow table that is stored or exchanged."""
    schemas = {"event batch": batch_schema(), "matches": table.match_schema()}
    tables = parts.TABLES
    schemas |= {f"lake {name}": parts.lake_schema(name) for name in tables}
    for label, schema in schemas.items():
        for position, field in enumerate(schema):
            yield f"{label}[{position}] {field.name}: {field.type}{'' if field.nullable else ' not null'}"
        for key, value in (schema.metadata or {}).items():
            yield f"{label} metadata {key.decode()}: {value.decode()}"


def wire(group: str) -> Callable[[], Iterator[str]]:
    """Return what yields the facts of one group of types."""

    def facts() -> Iterator[str]:
        labels = {cls: label for label, cls in SHARED.items()}
        for label, type_ in GROUPS[group].items():
            yield from describe(label, type_, labels)

    return facts


def _import_everything() -> None:
    for module in pkgutil.walk_packages(likewise.__path__, "likewise."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def classes_as_values() -> dict[type, str]:
    """Return every struct class that the sources pass to a function as a value, and where.

    `msgspec.json.decode(body, type=Plan)`, `Decoder(Plan)` and `read(body, Plan)` are all of this form, so a class
    that is read from bytes is found without knowing which function reads it.
    """
    _import_everything()
    found: dict[type, str] = {}
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("likewise.") or name.startswith("likewise.testing") or not module.__file__:
            continue
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if ast.unparse(call.func) in ("isinstance", "issubclass", "cast", "TypeVar", "super"):
                continue
            for argument in (*call.args, *(each.value for each in call.keywords)):
                if isinstance(argument, ast.Name | ast.Attribute | ast.Subscript | ast.BinOp):
                    for cls in _structs_named(argument, vars(module)):
                        found.setdefault(cls, f"{name}:{call.lineno}")
    return found


def _structs_named(expression: ast.expr, names: dict[str, Any]) -> Iterator[type]:
    """Yield the struct classes that `BatchPlan`, `module.Plan`, `list[Plan]` or `Plan | Done` names."""
    match expression:
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            for part in parts:
                yield from _structs_named(part, names)
        case ast.Subscript(slice=part):
            yield from _structs_named(part, names)
        case ast.BinOp(left=left, right=right):
            yield from _structs_named(left, names)
            yield from _structs_named(right, names)
        case ast.Name(id=name):
            yield from _structs(names.get(name))
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            yield from _structs(getattr(names.get(name), attribute, None))


def _structs(value: Any) -> Iterator[type]:
    for each in (value, *get_args(value)):
        if isinstance(each, type) and issubclass(each, msgspec.Struct):
            yield each


DOCUMENTS: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "commands": commands,
    "help": help_pages,
    "openapi": openapi,
    "configuration": configuration,
    "database": database,
    "metrics": metrics,
    "public-names": public_names,
    "arrow-tables": arrow_tables,
    **{f"wire-{group}": wire(group) for group in GROUPS},
}


def text_of(name: str) -> str:
    """Return a document as it stands in its golden file."""
    return "".join(f"{line}\n" for line in sorted(set(DOCUMENTS[name]())))
