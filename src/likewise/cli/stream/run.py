"""`likewise stream run`: match what comes into a folder or a topic, on Spark, and keep what was found in a lake."""

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
    Threshold,
)

if TYPE_CHECKING:
    from likewise.spark.streaming.checkpoint import BatchCounts
    from likewise.spark.streaming.run import BatchReport


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
    from likewise.spark.session import spark_session
    from likewise.spark.streaming.checkpoint import BatchCounts, Query
    from likewise.spark.streaming.deserialisers.deserialiser import parse_payload_format
    from likewise.spark.streaming.kafka_settings import read_settings
    from likewise.spark.streaming.matchers import MeaningChoice
    from likewise.spark.streaming.metrics import StreamMetrics
    from likewise.spark.streaming.run import StreamQuery

    annotation_table = "" if annotations is None else annotations.read_text(encoding="utf-8")
    wait = _seconds(every, "--every")
    folder = str(storage_path(subscriptions))
    query = Query(_absolute(inlet), _absolute(outlet), folder, keep, tenant, shards)
    settings = {} if kafka is None else read_settings(kafka)
    stream = StreamQuery(
        query,
        storage_path(checkpoint),
        MeaningChoice(
            space, measure, threshold, annotation_table, lateness=round(_seconds(lateness, "--lateness") * 1_000_000)
        ),
        most=most,
        bad=bad,
        kafka=settings,
        form=parse_payload_format(payload, schema, message, settings),
        reader=reader,
    )
    stream_metrics = StreamMetrics(tenant)
    began, total, batches = time.perf_counter(), BatchCounts(), 0
    with spark_session(master, memory=memory) as spark:
        try:
            while True:
                for report in stream.batches(spark):
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
                if once:
                    break
                time.sleep(wait)
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
