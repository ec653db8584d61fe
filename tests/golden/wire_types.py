"""Describe the types that cross a process as lines of text, without the names of classes and modules.

A line says one fact: where a field is, what it is called on the wire, its type and its default.

    edge to hub/hello/epoch: string(min_length=1, max_length=200)
    edge to hub/hello/epoch is required

A struct with a label of its own (`tests.golden.labels`) is named by the label in angle brackets and described there;
any other struct is described in place. Fields of a struct that is written as an array go by their position, since
their names never reach the wire. So a class or a module may be renamed and moved without a change here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect

Labels = Mapping[object, str]

_SCALARS = {
    inspect.AnyType: "anything",
    inspect.NoneType: "null",
    inspect.BoolType: "boolean",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.StrType: "string",
    inspect.BytesType: "bytes",
    inspect.RawType: "raw",
    inspect.ByteArrayType: "bytes",
}
_ARRAYS = (inspect.ListType, inspect.SetType, inspect.FrozenSetType, inspect.VarTupleType, inspect.CollectionType)
_BOUNDS = ("gt", "ge", "lt", "le", "multiple_of", "pattern", "min_length", "max_length")


class Unlabelled(Exception):
    """A struct that contains itself, or a type without JSON: it needs a label, or does not belong on the wire."""


def describe(label: str, type_: Any, labels: Labels) -> list[str]:
    """Return the facts of one type, sorted.

    Args:
        label: where the type is used, such as `edge to hub`; every line begins with it.
        type_: a type that msgspec can read or write.
        labels: the label of every struct that is described on its own.

    Raises:
        Unlabelled: if a struct contains itself without a label.
    """
    return sorted(set(_facts(label, inspect.type_info(type_), labels, ())))


def structs_in(type_: Any) -> set[type]:
    """Return every struct class that a type reaches, however deep."""
    found: set[type] = set()

    def visit(described: inspect.Type) -> None:
        if isinstance(described, inspect.StructType):
            if described.cls in found:
                return
            found.add(described.cls)
            for field in described.fields:
                visit(field.type)
            return
        for child in _children(described):
            visit(child)

    visit(inspect.type_info(type_))
    return found


def _children(described: inspect.Type) -> Iterator[inspect.Type]:
    match described:
        case inspect.UnionType(types=types):
            yield from types
        case inspect.TupleType(item_types=types):
            yield from types
        case inspect.DictType(key_type=key, value_type=value):
            yield from (key, value)
        case inspect.NamedTupleType(fields=fields) | inspect.DataclassType(fields=fields):
            yield from (field.type for field in fields)
        case inspect.TypedDictType(fields=fields):
            yield from (field.type for field in fields)
        case inspect.Metadata(type=inner):
            yield inner
        case _ if isinstance(described, _ARRAYS):
            yield described.item_type


def _facts(path: str, described: inspect.Type, labels: Labels, above: tuple[type, ...]) -> Iterator[str]:
    """Yield a line for each thing that may stand at a path, and for what is inside it."""
    if (name := _SCALARS.get(type(described))) is not None:
        yield f"{path}: {name}{_bounds(described)}"
        return
    if isinstance(described, _ARRAYS):
        yield f"{path}: array{_bounds(described)}"
        yield from _facts(f"{path}[]", described.item_type, labels, above)
        return
    match described:
        case inspect.Metadata(type=inner):
            yield from _facts(path, inner, labels, above)
        case inspect.LiteralType(values=values):
            yield from (f"{path}: {msgspec.json.encode(value).decode()}" for value in values)
        case inspect.EnumType(cls=cls):
            yield from (f"{path}: {msgspec.json.encode(each.value).decode()}" for each in cls)
        case inspect.UnionType(types=types):
            for each in types:
                yield from _facts(path, each, labels, above)
        case inspect.TupleType(item_types=types):
            yield f"{path}: array of {len(types)}"
            for position, each in enumerate(types):
                yield from _facts(f"{path}[{position}]", each, labels, above)
        case inspect.NamedTupleType(fields=fields):  # written as an array: names never reach the wire
            yield f"{path}: array"  # without its length: an item with a default may join at the end
            for position, field in enumerate(fields):
                yield from _field(f"{path}[{position}]", field, labels, above)
        case inspect.DictType(key_type=key, value_type=value):
            yield f"{path}: map{_bounds(described)}"
            yield from _facts(f"{path}{{key}}", key, labels, above)
            yield from _facts(f"{path}{{}}", value, labels, above)
        case inspect.TypedDictType(fields=fields) | inspect.DataclassType(fields=fields):
            yield f"{path}: object"
            for field in fields:
                yield from _field(f"{path}/{field.encode_name}", field, labels, above)
        case inspect.StructType():
            yield from _struct(path, described, labels, above)
        case inspect.CustomType(cls=cls) if cls is object:
            yield f"{path}: anything"
        case inspect.CustomType(cls=cls):
            raise Unlabelled(f"{path} is a {cls.__name__}, which has no JSON of its own")
        case _:
            yield f"{path}: {type(described).__name__.removesuffix('Type').lower()}{_bounds(described)}"


def _struct(path: str, described: inspect.StructType, labels: Labels, above: tuple[type, ...]) -> Iterator[str]:
    if described.cls in labels and (above or labels[described.cls] != path):
        yield f"{path}: <{labels[described.cls]}>"
        return
    if described.cls in above:
        raise Unlabelled(f"{described.cls.__name__} contains itself: give it a label in tests/golden/labels.py")
    at = path if described.tag is None else f"{path}/{described.tag}"
    yield f"{at}: {'array' if described.array_like else 'object'}"
    if described.tag is not None:
        yield f'{at}: tagged {0 if described.array_like else described.tag_field}="{described.tag}"'
    if described.forbid_unknown_fields:
        yield f"{at}: unknown fields are refused"
    if described.cls.__struct_config__.omit_defaults:
        yield f"{at}: defaults are left out"
    first = 1 if described.tag is not None else 0
    for position, field in enumerate(described.fields, first):
        where = f"{at}[{position}]" if described.array_like else f"{at}/{field.encode_name}"
        yield from _field(where, field, labels, (*above, described.cls))


def _field(path: str, field: Any, labels: Labels, above: tuple[type, ...]) -> Iterator[str]:
    yield from _facts(path, field.type, labels, above)
    yield f"{path} {'is required' if field.required else f'= {_default(field)}'}"


def _bounds(described: inspect.Type) -> str:
    said = [f"{name}={value}" for name in _BOUNDS if (value := getattr(described, name, None)) is not None]
    return f"({', '.join(said)})" if said else ""


def _default(field: Any) -> str:
    """Return the default as JSON; a field that may be unset has none and is left out."""
    value = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return "absent" if value is msgspec.NODEFAULT else msgspec.json.encode(value, order="sorted").decode()
