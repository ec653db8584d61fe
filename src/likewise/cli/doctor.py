"""`likewise doctor`: what is wrong with this installation and the broker that it uses, and how to mend it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, ConfigFile, with_option_groups
from likewise.errors import LikewiseError, NotAllowed, Unavailable

FREE_BYTES: Final = 1 << 30  # a store, its log and the kernels want so much
CLOCK_S: Final = 60.0  # a broker's clock that is further off makes events look late, or to come
Level = Literal["ok", "note", "problem"]
MARKS: Final[dict[Level, tuple[str, str]]] = {
    "ok": ("ok", "green"),
    "note": ("note", "yellow"),
    "problem": ("problem", "red"),
}


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one check: what was looked at, what is so, and what to do."""

    level: Level
    check: str
    text: str
    fix: str = ""


@with_option_groups
def doctor(
    broker: BrokerOptions,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder of a broker on this machine.")
    ] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Check this installation, a configuration, a folder and the broker; say what is wrong and how to mend it.

    The exit code is 1 if there is a problem.

    Example: `likewise doctor --config likewise.toml`
    """
    findings = [each for check in _checks(broker, data, config) for each in _run(check)]
    if as_json:
        output.print_json(findings)
    else:
        for each in findings:
            _print(each)
    if any(each.level == "problem" for each in findings):
        raise typer.Exit(output.NO)


def _checks(broker: BrokerOptions, data: Path | None, config: Path | None) -> Iterator[Callable[[], Iterator[Finding]]]:
    yield _python
    yield _extras
    yield _kernels
    yield lambda: _configuration(config)
    yield lambda: _folder(data)
    yield lambda: _broker(broker)


def _run(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield what a check found; an error of ours that it does not expect is a problem."""
    try:
        yield from check()
    except (LikewiseError, OSError) as error:
        text = str(error) if isinstance(error, LikewiseError) else output.os_error_text(error)
        yield Finding("problem", "check", text)


def _python() -> Iterator[Finding]:
    from likewise import __version__

    yield Finding("ok", "likewise", f"{__version__}, Python {sys.version.split()[0]}, {sys.platform}")


def _extras() -> Iterator[Finding]:
    from likewise.extras import missing

    needed = {
        "match": "subscriptions with ~, rankings and alerts cannot be matched",
        "broker": "`likewise serve` cannot run",
        "dashboard": "`likewise dashboard` cannot run",
    }
    for extra, without in needed.items():
        level: Level = "note" if extra == "dashboard" else "problem"
        if lacking := missing(extra):
            fix = f'pip install "likewise[{extra}]"'
            yield Finding(level, extra, f"{', '.join(lacking)} missing: {without}", fix)
        else:
            yield Finding("ok", extra, "installed")


def _kernels() -> Iterator[Finding]:
    from likewise.extras import missing

    if missing("match"):
        return
    from likewise.kernels.cache import is_compiled_ahead, kernels_folder, portable_folders

    folder = kernels_folder()
    if is_compiled_ahead(native=True):
        yield Finding("ok", "kernels", f"compiled for this processor, in {folder}")
    elif is_compiled_ahead():
        level = portable_folders()[0][0] if portable_folders() else "this processor"
        yield Finding("ok", "kernels", f"portable, for {level}; the next broker compiles faster ones meanwhile")
    else:
        yield Finding(
            "note",
            "kernels",
            f"not compiled in {folder}: the first match or broker waits for that, up to half a minute",
            'pip install "likewise[kernels]", or compile them now: python -m likewise.matching.warm_up',
        )


def _configuration(path: Path | None) -> Iterator[Finding]:
    from likewise.broker.config import read_config

    shown = str(path) if path else "defaults and environment"
    try:
        read_config(path)
    except LikewiseError as error:
        yield Finding(
            "problem", "configuration", str(error), "likewise init OTHER-FILE writes every setting with its default"
        )
    else:
        yield Finding("ok", "configuration", shown)


def _folder(data: Path | None) -> Iterator[Finding]:
    named = data
    data = data or Path("likewise-data")
    if not data.exists():
        if named is not None:
            yield Finding("note", "folder", f"{data} does not exist; `likewise serve --data {data}` makes it")
        return
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        yield Finding("problem", "folder", f"{data} cannot be written by this user", f"chown -R $(id -un) {data}")
        return
    free = shutil.disk_usage(data).free
    if free < FREE_BYTES:
        text = f"{free / 1e9:.1f} GB are free in {data}; a full disk refuses events"
        yield Finding(
            "problem", "disk", text, "free some, or keep events for a shorter time: likewise serve --keep '1 day'"
        )
    else:
        yield Finding("ok", "folder", f"{data}, {free / 1e9:,.0f} GB free")


def _broker(options: BrokerOptions) -> Iterator[Finding]:
    from likewise.cli.broker.queries import fetch
    from likewise.cli.broker.status import read_status
    from likewise.matching.matcher import system_clock

    address, _ = options.broker()
    try:
        with options.publisher() as client:
            yield Finding("ok", "broker", f"{address} answers")
            state = read_status(client, address)
            from likewise.api.operations import ClockStatus

            clock = fetch(client, ClockStatus, "/v1/clock")
    except Unavailable as error:
        yield Finding("note", "broker", str(error), "likewise serve, or name another with --address or --context")
        return
    except NotAllowed as error:
        yield Finding("note", "broker", str(error), "likewise admin token FOLDER --name me --scope admin")
        return
    except LikewiseError as error:
        yield Finding("problem", "broker", str(error))
        return
    for trouble in state.troubles:
        yield Finding("problem", "broker", trouble)
    if clock.trouble:
        yield Finding("problem", "clock", clock.trouble, "likewise admin clock show")
    if abs(off := (clock.time - system_clock()) / 1e6) > CLOCK_S:
        text = f"the broker's clock is {abs(off):,.0f} s {'ahead of' if off > 0 else 'behind'} this machine's"
        yield Finding("problem", "clock", text, "synchronise both with NTP")
    for target in state.failing_targets:
        yield Finding("problem", "target", target, "likewise targets list; then likewise targets retry")
    if state.dead_letters:
        yield Finding("note", "dead letters", f"{state.dead_letters:,}", "likewise dead-letters")


def _print(each: Finding) -> None:
    from rich.text import Text

    mark, style = MARKS[each.level]
    line = Text.assemble((f"{mark:<9}", style), f"{each.check}: {each.text}")
    output.console().print(line, soft_wrap=True)
    if each.fix:
        output.console().print(f"{'':<9}fix: {each.fix}", style="bold", soft_wrap=True)
