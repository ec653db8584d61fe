"""`likewise backtest`: stored events against subscriptions, on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import (
    AnnotationsFile,
    AsJson,
    MeasureName,
    SpaceName,
    SparkMaster,
    SparkMemory,
    Threshold,
)


def backtest(
    events: Annotated[Path, typer.Argument(metavar="EVENTS", help="A folder of events, or one file of them.")],
    subscriptions: Annotated[
        str, typer.Option("--subscriptions", "-s", metavar="DIR", help="The change log of subscriptions.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The new folder for what was found.")],
    version: Annotated[int | None, typer.Option(min=0, help="A version of the log; the newest by default.")] = None,
    against: Annotated[int | None, typer.Option(min=0, help="A version to compare it with.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="How many events to name for each subscription.")] = 5,
    annotations: AnnotationsFile = None,
    threshold: Threshold = None,
    measure: MeasureName = None,
    space: SpaceName = None,
    master: SparkMaster = None,
    memory: SparkMemory = "1g",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what a backtest wrote before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what subscriptions would have found in stored events, and with --against what another version would change.

    Writes summary.json, subscriptions.parquet (events and scores of each), examples.jsonl and changes.jsonl.

    Example: `likewise backtest lake/events --subscriptions subscriptions --against 1 --out found`
    """
    from likewise.errors import InputError
    from likewise.lake.change_log import ChangeLog
    from likewise.spark.session import spark_session
    from likewise.spark.streaming.backtest import backtest as run
    from likewise.spark.streaming.matchers import MeaningChoice

    if out.exists() and not overwrite:
        raise InputError(f"{out} exists already; choose another folder or say --overwrite")
    if not events.exists():
        raise InputError(f"there is no file or folder {events}")
    log = ChangeLog.opened(subscriptions)
    annotation_table = "" if annotations is None else annotations.read_text(encoding="utf-8")
    choice = MeaningChoice(space, measure, threshold, annotation_table)
    with spark_session(master, memory=memory) as spark:
        report = run(
            spark,
            events.absolute(),
            log,
            out.absolute(),
            version=version,
            against=against,
            choice=choice,
            examples=examples,
            overwrite=overwrite,
        )
    if as_json:
        output.print_json(report)
        return
    output.print_line(
        f"{report.events:,} events, {report.matched:,} met something, {report.matches:,} matches, {report.bad:,} bad; "
        f"{report.silent:,} of {report.subscriptions:,} subscriptions found nothing ({report.seconds:.1f} s)."
    )
    if against is not None:
        output.print_line(f"Against version {against}: {report.gained:,} matches more, {report.lost:,} fewer.")
    output.print_line(f"{out} has the figures of each subscription.")
