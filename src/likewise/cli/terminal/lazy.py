"""Commands that are imported when they are called, so that `likewise --help` stays quick."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import typer
from typer.core import TyperGroup

from likewise.errors import MissingDependency

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


GROUP: Final = "likewise.commands"  # the entry points by which another distribution brings a command
EXTRA: Final = "extra"  # stands for a module in a target: `extra:experiments`


class LazyCommand(NamedTuple):
    """The target of a command (`module:name`, a function or a Typer app), and its line in the list of commands.

    `extra:NAME` is a command that another distribution brings, the one that the extra of this name installs.
    """

    target: str
    help: str
    panel: str | None = None
    hidden: bool = False  # an old name that still works


class LazyGroup(TyperGroup):
    """A group whose commands stand for others until one of them is called."""

    lazy: ClassVar[Mapping[str, LazyCommand]] = {}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command that is called, and return it in place of its entry."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name in self.lazy:
            command = load(name, self.lazy[name].target)
        return name, command, rest


def load(name: str, target: str) -> Any:
    """Load the command behind `module:name`, or behind an entry point.

    Raises:
        MissingDependency: if the distribution that brings it is not installed.
    """
    module, _, attribute = target.partition(":")
    command = (
        _load_entry_point(name, attribute) if module == EXTRA else getattr(importlib.import_module(module), attribute)
    )
    if not isinstance(command, typer.Typer):
        function, command = command, typer.Typer(add_completion=False, rich_markup_mode="markdown")
        # A command may hand options it does not know to something else (`bench`).
        command.command(name, context_settings=getattr(function, "context_settings", None))(function)
    return plain_help(typer.main.get_command(command))


def _load_entry_point(name: str, extra: str) -> Any:
    """Return the command that another distribution brings under this name."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP, name=name):
        return entry.load()
    raise MissingDependency(f"the command `likewise {name}`", extra)


def plain_help(command: Any) -> Any:
    """Remove the types from a command's help: `--rate  Events a second`, without `<float range> [x>=0.001]`."""
    helping = command.get_help_option

    def get_help_option(ctx: Any) -> Any:
        return _plain(helping(ctx))

    command.get_help_option = get_help_option
    for parameter in command.params:
        _plain(parameter)
    for each in getattr(command, "commands", {}).values():
        plain_help(each)
    return command


def _plain(parameter: Any) -> Any:
    if parameter is not None:
        shown = parameter.metavar if parameter.metavar and parameter.param_type_name == "option" else ""
        parameter.display_type_rich = lambda ctx: shown
        parameter._get_number_range_help_str = lambda: ""
    return parameter


def lazy_app(commands: Mapping[str, LazyCommand], *, help: str, completion: bool = False) -> typer.Typer:
    """Make an app that lists the commands without importing them.

    >>> parse = LazyCommand("likewise.cli.parse:parse", "Check subscriptions.")
    >>> app = lazy_app({"parse": parse}, help="Some commands.")
    >>> [command.name for command in app.registered_commands]
    ['parse']
    """
    group = type("Group", (LazyGroup,), {"lazy": commands})
    app = typer.Typer(
        cls=group,
        help=help,
        no_args_is_help=True,
        add_completion=completion,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    for name, entry in commands.items():
        app.command(name, help=entry.help, rich_help_panel=entry.panel, hidden=entry.hidden)(_stand_in(name))
    app.callback()(lambda: None)  # with a callback it stays a group when it has one command only
    return app


def _stand_in(name: str) -> Callable[[], None]:
    def stand_in() -> None:
        raise AssertionError(f"{name} was called without being loaded")

    return stand_in
