"""`likewise`: the list of commands, and what happens to errors."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from likewise.cli.terminal.lazy import EXTRA, LazyCommand, lazy_app, plain_help
from likewise.errors import LikewiseError

COMMANDS: Final = {
    "demo": LazyCommand(
        "likewise.cli.demo.scripted:demo", "Show a few events, what they match, and why.", "Start here"
    ),
    "parse": LazyCommand("likewise.cli.parse:parse", "Check subscriptions and print them in their one form.", "Match"),
    "match": LazyCommand("likewise.cli.match:match", "Match a stream of events against subscriptions.", "Match"),
    "columns": LazyCommand(
        "likewise.cli.columns:columns", "Take columns from a table, by meaning and in your units.", "Match"
    ),
    "explain": LazyCommand(
        "likewise.cli.explain:explain", "Say why an event matches a subscription, or why not.", "Match"
    ),
    "serve": LazyCommand("likewise.cli.serve:serve", "Run the broker.", "Broker"),
    "normalize": LazyCommand(
        "likewise.cli.normalize:app", "Publish every device's readings in common names and units.", "Broker"
    ),
    "init": LazyCommand("likewise.cli.init:init", "Write a commented configuration.", "Broker"),
    "status": LazyCommand(
        "likewise.cli.broker.status:status", "Show a broker on one screen: rates, alerts, targets.", "Broker"
    ),
    "doctor": LazyCommand(
        "likewise.cli.doctor:doctor", "Say what is wrong with this set-up, and how to mend it.", "Broker"
    ),
    "edge": LazyCommand("likewise.cli.edge:app", "Run a broker near the sensors, which dials another.", "Broker"),
    "edges": LazyCommand("likewise.cli.broker.edges:app", "Show the brokers at the edge, and forget one.", "Broker"),
    "worker": LazyCommand("likewise.cli.worker:worker", "Match for a broker, which starts it itself.", "Broker"),
    "publish": LazyCommand("likewise.cli.broker.publish:publish", "Publish events to a broker.", "Broker"),
    "subscribe": LazyCommand(
        "likewise.cli.broker.subscribe:subscribe", "Print matching events as they come.", "Broker"
    ),
    "subscriptions": LazyCommand(
        "likewise.cli.broker.subscriptions:app", "List, add, remove, try subscriptions.", "Broker"
    ),
    "events": LazyCommand("likewise.cli.broker.events:app", "Show the newest events, and what they met.", "Broker"),
    "tail": LazyCommand("likewise.cli.broker.tail:tail", "Print events as they come, of one source or all.", "Broker"),
    "why": LazyCommand("likewise.cli.broker.why:why", "Say why a stored event matches a subscription.", "Broker"),
    "why-not": LazyCommand(
        "likewise.cli.broker.why:why_not", "Say why a stored event was not delivered for a subscription.", "Broker"
    ),
    "feedback": LazyCommand(
        "likewise.cli.broker.why:feedback", "Say whether an event is what a subscription asks for.", "Broker"
    ),
    "alerts": LazyCommand("likewise.cli.broker.alerts:alerts", "List alerts: what fires, since when.", "Broker"),
    "targets": LazyCommand("likewise.cli.broker.targets:app", "Send matches on: webhooks, topics of MQTT.", "Broker"),
    "sources": LazyCommand(
        "likewise.cli.broker.sources:app", "See who sends what; announce and keep sources.", "Broker"
    ),
    "vocabulary": LazyCommand(
        "likewise.cli.broker.vocabulary:app", "See the stream's words, and say what they mean.", "Broker"
    ),
    "dead-letters": LazyCommand(
        "likewise.cli.broker.dead_letters:app", "Show what could not be read or delivered.", "Broker"
    ),
    "letters": LazyCommand(
        "likewise.cli.broker.dead_letters:app", "The old name of dead-letters.", "Broker", hidden=True
    ),
    "context": LazyCommand("likewise.cli.broker.context:app", "Name brokers, and choose one.", "Broker"),
    "dashboard": LazyCommand("likewise.cli.dashboard:dashboard", "Look at a broker in a browser.", "Broker"),
    "admin": LazyCommand("likewise.cli.admin:app", "Look after a broker's store.", "Broker"),
    "relate": LazyCommand("likewise.cli.relate:relate", "Measure how related terms are.", "Meaning"),
    "space": LazyCommand("likewise.cli.space:app", "Build, list and check spaces of meaning.", "Meaning"),
    "concepts": LazyCommand("likewise.cli.concepts:app", "Kinds of readings, and vocabularies of your own.", "Meaning"),
    "ingest": LazyCommand("likewise.cli.ingest:ingest", "Make events of RDF files, on Spark.", "Meaning"),
    "stream": LazyCommand("likewise.cli.stream.app:app", "Match streams and stored events on Spark.", "Spark"),
    "backtest": LazyCommand(
        "likewise.cli.stream.backtest:backtest", "Say what subscriptions would have found in stored events.", "Spark"
    ),
    "data": LazyCommand(f"{EXTRA}:experiments", "Get the data of published experiments.", "Figures"),
    "eval": LazyCommand(f"{EXTRA}:experiments", "Evaluate measures on published data.", "Figures"),
    "bench": LazyCommand("likewise.cli.bench:bench", "Measure speed (from a source checkout).", "Figures"),
}

app = lazy_app(
    COMMANDS,
    help="Publish/subscribe by meaning: find the events that say the same in other words, and say why.\n\n"
    "Example: `likewise demo`",
    completion=True,
)


def _version(show: bool) -> None:
    if show:
        from likewise import __version__

        print(f"likewise {__version__}")
        raise typer.Exit


def _quiet(quiet: bool) -> None:
    from likewise.cli.terminal import output

    output.set_quiet(quiet)


@app.callback()
def options(
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", callback=_quiet, help="Print results and errors only, no notes on progress."),
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Options before the command."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors become one message and an exit code, never a traceback."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    from likewise.cli.terminal import output

    try:
        # Not app(...): that marks errors with an attribute of its own, which would show among their facts.
        code = plain_help(typer.main.get_command(app))(arguments, prog_name="likewise")
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # nobody reads the help any more
            return output.silence_stdout()
        return leaving.code if isinstance(leaving.code, int) else output.BAD_INPUT if leaving.code else output.YES
    except KeyboardInterrupt:
        return output.INTERRUPTED
    except output.PipeClosed:
        return output.silence_stdout()
    except (LikewiseError, OSError) as error:
        return _refused(error, arguments)
    except ModuleNotFoundError as error:
        from likewise.extras import for_module

        absent = for_module(error)
        if absent is None:
            raise
        return _refused(absent, arguments)
    return code if isinstance(code, int) else output.YES


def _refused(error: LikewiseError | OSError, arguments: list[str]) -> int:
    from likewise.cli.terminal import output

    output.print_error(error, as_json="--json" in arguments)
    return output.exit_code(error)
