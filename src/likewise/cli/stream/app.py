"""`likewise stream`: match streams on Spark, list the subscriptions that they follow, and maintain the lake."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import (
    AnnotationsFile,
    AsJson,
    MeasureName,
    SpaceName,
    SparkMaster,
    SparkMemory,
    Subscriptions,
    SubscriptionsFile,
    Threshold,
    command_group,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from likewise.lake.maintenance import MaintenanceReport
    from likewise.lake.subscription_snapshot import SubscriptionSnapshot
    from likewise.spark.streaming.batch_report import BatchCounts, BatchReport

app = command_group("Match streams and stored events on Spark.", "likewise stream run --help")


@app.command()
def run(
    inlet: Annotated[str, typer.Option("--from", metavar="ADDRESS", help="files:DIR or kafka://host:port/topic.")],
    outlet: Annotated[
        str, typer.Option("--to", metavar="ADDRESS", help="parquet:DIR, delta:DIR or kafka://host:port/topic.")
    ],
    subscriptions: Annotated[
        str, typer.Option("--subscriptions", "-s", metavar="DIR", help="The change log of subscriptions to follow.")
    ],
    checkpoint: Annotated[str, typer.Option(metavar="DIR", help="What the query remembers; the same at a restart.")],
    keep: Annotated[str, typer.Option(help="matches alone, the wanted events too, or all events.")] = "matches",
    once: Annotated[bool, typer.Option("--once", help="End when everything that is there was read.")] = False,
    every: Annotated[str, typer.Option(help="How long to wait when there is nothing to read.")] = "1 s",
    most: Annotated[int, typer.Option("--max-events", min=1, help="About how many events a batch has.")] = 1_000_000,
    bad: Annotated[str, typer.Option(metavar="DIR", help="A folder for what is no event, with its reason.")] = "",
    tenant: Annotated[str, typer.Option(help="Whose events these are; part of the lake's paths.")] = "default",
    annotations: AnnotationsFile = None,
    threshold: Threshold = None,
    measure: MeasureName = None,
    space: SpaceName = None,
    lateness: Annotated[str, typer.Option(help="How far behind an event may move rankings and alerts.")] = "0 s",
    shards: Annotated[int, typer.Option(min=1, help="Into how many parts their state is cut.")] = 4,
    kafka: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings of librdkafka; ${NAME} is of the environment.")
    ] = None,
    reader: Annotated[
        str, typer.Option(help="Who reads Kafka: own (librdkafka), or spark, its connector where the cluster has it.")
    ] = "own",
    metrics: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rates, sums and lag after each batch, for Prometheus.")
    ] = None,
    payload: Annotated[
        str, typer.Option(help="auto, json, cloudevents, senml, ttl, nt, nq, trig, jsonld, avro or protobuf.")
    ] = "auto",
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An Avro schema, or descriptors that protoc wrote.")
    ] = None,
    message: Annotated[str, typer.Option(help="Which message of the descriptors payloads are.")] = "",
    master: SparkMaster = None,
    memory: SparkMemory = "1g",
    as_json: AsJson = False,
) -> None:
    """Match what comes into a folder or a topic against a change log of subscriptions, batch by batch.

    Each goes exactly once into a lake, and at least once to a topic.

    Files are JSON lines (.jsonl, .jsonl.gz), Parquet or Arrow streams in EventBatch's schema. Ctrl-C ends it; started
    again with the same checkpoint, it goes on where it was. With --json each batch is one line.

    Example: `likewise stream run --from files:in --to parquet:lake -s subscriptions --checkpoint state --once`
    """
    from likewise.lake.storage import storage_path
    from likewise.spark.session import QUICK_COMPILER, spark_session
    from likewise.spark.stream import Stream, StreamSettings
    from likewise.spark.streaming.batch_report import BatchCounts
    from likewise.spark.streaming.deserialisers.deserialiser import parse_payload_format
    from likewise.spark.streaming.kafka_settings import read_settings
    from likewise.spark.streaming.matchers import MeaningChoice
    from likewise.spark.streaming.metrics import StreamMetrics

    annotation_table = "" if annotations is None else annotations.read_text(encoding="utf-8")
    wait = _seconds(every, "--every")
    folder = str(storage_path(subscriptions))
    settings = StreamSettings(_absolute(inlet), _absolute(outlet), folder, keep, tenant, shards)
    librdkafka = {} if kafka is None else read_settings(kafka)
    stream = Stream(
        settings,
        storage_path(checkpoint),
        MeaningChoice(
            space, measure, threshold, annotation_table, lateness=round(_seconds(lateness, "--lateness") * 1_000_000)
        ),
        most=most,
        bad=bad,
        kafka=librdkafka,
        form=parse_payload_format(payload, schema, message, librdkafka),
        reader=reader,
    )
    stream_metrics = StreamMetrics(tenant)
    began, total, batches = time.perf_counter(), BatchCounts(), 0
    java = QUICK_COMPILER if reader == "own" else {}
    with spark_session(master, memory=memory, settings=java) as spark:
        try:
            for report in stream.run(spark, None if once else wait):
                total, batches = total.plus(report.counts), batches + 1
                _show(report, as_json)
                if metrics is not None:
                    stream_metrics.add(
                        report.counts,
                        batch=report.batch,
                        seconds=report.seconds,
                        lag=report.lag,
                        subscriptions=report.subscriptions,
                    )
                    stream_metrics.write(metrics)
        except KeyboardInterrupt:
            output.print_note("Stopped; start it again with the same checkpoint to go on.")
    if not as_json:
        _sum_up(total, batches, time.perf_counter() - began)


def _absolute(address: str) -> str:
    """Return an address with an absolute folder, because workers have other working directories."""
    kind, _, place = address.partition(":")
    return f"{kind}:{Path(place).absolute()}" if place and kind != "kafka" and "://" not in place else address


def _seconds(text: str, option: str) -> float:
    from likewise.errors import InputError
    from likewise.model.time import duration

    microseconds = duration(text)
    if microseconds < 0:
        raise InputError(f"{option} is a duration such as '1 s', found {text!r}")
    return microseconds / 1_000_000


def _show(report: BatchReport, as_json: bool) -> None:
    if as_json:
        output.print_json(report)
        return
    counts = report.counts
    rate = f"{counts.events / report.seconds:,.0f} a second" if report.seconds else "at once"
    again = ", repeated" if report.repeated else ""
    behind = f", {report.lag:,} behind" if report.lag else ""
    output.console(stderr=True).print(
        f"batch {report.batch}{again}: {counts.events:,} events ({rate}), {counts.matches:,} matches, "
        f"{_notification_count(counts)}{counts.bad:,} bad, version {report.subscriptions}{behind}",
        soft_wrap=True,
    )


def _sum_up(total: BatchCounts, batches: int, seconds: float) -> None:
    output.print_line(
        f"{total.events:,} events in {batches:,} batches: {total.matched:,} met something, {total.matches:,} matches, "
        f"{_notification_count(total)}{total.bad:,} bad; {seconds:.1f} s."
    )


def _notification_count(counts: BatchCounts) -> str:
    return f"{counts.said:,} said by rankings and alerts, " if counts.said else ""


subscriptions_app = command_group(
    "The subscriptions that streams follow: a log of changes in a folder.",
    "likewise stream subscriptions list subscriptions/",
)
app.add_typer(subscriptions_app, name="subscriptions")
ChangeLogFolder = Annotated[
    str, typer.Argument(metavar="DIR", help="The folder of the change log, or an object store's address.")
]


@subscriptions_app.command()
def add(
    folder: ChangeLogFolder,
    subscriptions: Subscriptions = None,
    file: SubscriptionsFile = None,
    as_json: AsJson = False,
) -> None:
    """Hold subscriptions, in place of those with the same name; a stream follows from its next batch on.

    Example: `likewise stream subscriptions add subscriptions/ 'warm: {temperature > 25 degC}'`
    """
    from likewise.cli.terminal.text_input import collect_subscriptions
    from likewise.formats.json.subscriptions import with_default_id
    from likewise.lake.change_log import ChangeLog
    from likewise.matching.matcher import system_clock

    parsed = [with_default_id(each) for each in collect_subscriptions(subscriptions, file)]
    active = ChangeLog(folder).add(parsed, at=system_clock())
    _print_version(active, as_json, numbers={each.id: active.number(each.id) for each in parsed})


@subscriptions_app.command()
def remove(
    folder: ChangeLogFolder,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Which ones.")],
    as_json: AsJson = False,
) -> None:
    """Hold subscriptions no longer.

    Example: `likewise stream subscriptions remove subscriptions/ warm`
    """
    from likewise.lake.change_log import ChangeLog

    active = ChangeLog.opened(folder).remove(names)
    _print_version(active, as_json, removed=names)


def _print_version(active: SubscriptionSnapshot, as_json: bool, **changed: object) -> None:
    count = len(active.subscriptions)
    facts = {"version": active.version, "subscriptions": count, **changed}
    output.print_result(facts, as_json, f"Version {active.version} holds {count:,} subscriptions.")


@subscriptions_app.command("list")
def list_subscriptions(
    folder: ChangeLogFolder,
    version: Annotated[int | None, typer.Option(min=0, help="As they were at this version.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what is held: its number, which is never another one's, its name, its kind and its text.

    Example: `likewise stream subscriptions list subscriptions/ --version 3`
    """
    from likewise.lake.change_log import ChangeLog
    from likewise.language import subscription_text
    from likewise.model.rendering import KINDS

    active = ChangeLog.opened(folder).snapshot(version)
    listed = [(n, each.subscription) for n, each in active.subscriptions.items()]
    if as_json:
        shown = [{"number": n, "id": s.id, "kind": s.kind, "text": subscription_text(s)} for n, s in listed]
        output.print_json({"version": active.version, "subscriptions": shown})
    elif not listed:
        output.print_line(f"Version {active.version} holds no subscription.")
    else:
        rows = [(str(n), s.id, KINDS[s.kind], subscription_text(s)) for n, s in listed]
        output.print_table(("number", "name", "kind", "subscription"), rows)


@subscriptions_app.command()
def compact(
    folder: ChangeLogFolder,
    keep: Annotated[int, typer.Option(min=0, help="How many versions back can still be looked at.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Write a snapshot of what is held, so that starting is quick, and forget old versions.

    Example: `likewise stream subscriptions compact subscriptions/`
    """
    from likewise.lake.change_log import ChangeLog

    log = ChangeLog.opened(folder)
    removed, version = log.compact(keep), log.newest()
    text = f"Version {version} has a snapshot; {removed:,} files of old versions are gone."
    output.print_result({"version": version, "removed": removed}, as_json, text)


SHOWN = 20  # rows of a table on a terminal


LakeFolder = Annotated[str, typer.Argument(metavar="DIR", help="The lake's folder, or an object store's address.")]


@app.command()
def view(
    folder: LakeFolder,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", metavar="COLUMN", help='An attribute, as "temperature in degC as t"; several.'),
    ] = None,
    selected: Annotated[
        str, typer.Option("--selected", metavar="ID", help="What this subscription's `select` named, in its columns.")
    ] = "",
    tenant: Annotated[str | None, typer.Option(help="One tenant's alone.")] = None,
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="From this day on: 2024-05-01.")] = "",
    last: Annotated[str, typer.Option("--to", metavar="DAY", help="Up to this day.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write it to FILE.parquet or FILE.csv.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the events of a lake as a table: a row each, and a column for each attribute that is asked for.

    With --selected a row for each match of a subscription, and a column for each name of its `select`.

    Example: `likewise stream view lake -c "temperature in degC" -c city --out warm.parquet`
    """
    from likewise.errors import InputError
    from likewise.lake.view import selected as selected_by
    from likewise.lake.view import view as make

    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise InputError(f"a view is written to a file that ends with .parquet or .csv, not to {out}")
    if selected and columns:
        raise InputError("--selected has the columns that `select` names; leave --column out, or --selected")
    if selected:
        table = selected_by(folder, selected, tenant=tenant, first_day=first, last_day=last)
    else:
        table = make(folder, columns or (), tenant=tenant, first_day=first, last_day=last)
    if out is not None:
        _write_table(table, out)
        output.print_line(f"{out} has {table.num_rows:,} rows.")
    elif as_json:
        output.print_json(table.to_pylist())
    else:
        rows = table.slice(0, SHOWN).to_pylist()
        output.print_table(
            tuple(table.column_names), [tuple("" if v is None else str(v) for v in row.values()) for row in rows]
        )
        if table.num_rows > SHOWN:
            output.print_line(f"{table.num_rows - SHOWN:,} more; --out writes them all.")


def _write_table(table: pa.Table, out: Path) -> None:
    from pyarrow import csv, parquet

    if out.suffix == ".csv":
        csv.write_csv(table, out)
    else:
        parquet.write_table(table, out, compression="zstd")


@app.command("compact")
def compact_lake(folder: LakeFolder, as_json: AsJson = False) -> None:
    """Put the small files of each day together.

    Example: `likewise stream compact lake`
    """
    from likewise.lake.maintenance import compact as run
    from likewise.lake.storage import storage_path

    _print_report(run(storage_path(folder)), as_json)


@app.command()
def expire(
    folder: LakeFolder,
    older: Annotated[str, typer.Option("--older", metavar="SPAN", help='Days that ended this long ago: "90 d".')],
    as_json: AsJson = False,
) -> None:
    """Take out matches and events of days that are long over.

    Example: `likewise stream expire lake --older "90 d"`
    """
    from likewise.lake.maintenance import expire as run
    from likewise.lake.storage import storage_path
    from likewise.matching.matcher import system_clock
    from likewise.model.time import duration

    _print_report(run(storage_path(folder), duration(older), system_clock()), as_json)


def _print_report(report: MaintenanceReport, as_json: bool) -> None:
    output.print_result(report, as_json, f"{report.before:,} files before, {report.after:,} now.")
