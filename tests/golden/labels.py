"""Every type that one process writes and another reads, by where it is used.

A label is what stays when classes and modules are renamed: it stands in the golden files, the class does not. Give a
new frame, stored row or file a label here; `test_every_struct_that_is_read_or_written_has_a_label` says which lacks
one.
"""

from __future__ import annotations

from typing import Any, Final

from likewise.api import (
    deliveries,
    edge_frames,
    operations,
    sources,
    subscribers,
    workers,
)
from likewise.api import events as published
from likewise.api import (
    live_views as watching,
)
from likewise.api import (
    mobile as me,
)
from likewise.api import (
    queries as questions,
)
from likewise.api import (
    sinks as targets,
)
from likewise.broker import retention_clock as retention
from likewise.broker.catalogue import source_profiles as catalogue_saved
from likewise.broker.catalogue.observations import ProfileState
from likewise.broker.config import Config
from likewise.broker.edge_hub import pages as edge_pages
from likewise.broker.log import entries
from likewise.broker.log import sink_rows as target_rows
from likewise.broker.log.catalogue import naming
from likewise.broker.log.catalogue import records as catalogue_rows
from likewise.broker.log.edges import connections as lines
from likewise.broker.log.edges import hops, outbox, uplink
from likewise.broker.log.mqtt import messages as mqtt_messages
from likewise.broker.log.mqtt import sessions as mqtt_sessions
from likewise.broker.maintenance import window_snapshots as saved_windows
from likewise.broker.pool import protocol as worker_messages
from likewise.broker.pool import tcp_frames
from likewise.broker.pool.autoscaling import ScalingSettings as PoolSettings
from likewise.broker.queries import match_reasons as because
from likewise.broker.queries import select as selecting
from likewise.broker.sinks import retry_queue as waiting
from likewise.broker.telemetry import event_trace
from likewise.broker.tenants import normalized_sources
from likewise.cli import bench
from likewise.cli.broker.subscribe import MqttMessage
from likewise.cli.terminal.contexts import Contexts
from likewise.dashboard.history.panel import EventFilter
from likewise.edge import mqtt_uplink
from likewise.edge.bounds import Bounds
from likewise.edge.demand import StoredDemand
from likewise.edge.outbox import OutboxCounters as OutboxCounts
from likewise.edge.uplink import ChosenAddresses, EdgeEpoch
from likewise.formats.json.events import EventDocument
from likewise.formats.json.raw_payload import _Envelope
from likewise.formats.json.results import MatchDocument
from likewise.formats.json.subscriptions import SubscriptionDocument
from likewise.lake import change_log, plain_commits
from likewise.lake import maintenance as upkeep
from likewise.lake import subscription_snapshot as held_set
from likewise.matching.alerts import saved_state as alert_states
from likewise.matching.alerts.saved_state import SavedStateV1
from likewise.matching.bitmap import saved_index
from likewise.matching.common_names.table import CommonName
from likewise.matching.oracle import alerts as naive_alerts
from likewise.matching.oracle import engine as naive_engine
from likewise.matching.reference.window import Publication
from likewise.matching.storage import folder
from likewise.matching.storage import index_file as index
from likewise.matching.storage import subscriptions as saved_subscriptions
from likewise.model import Event, Explanation, Subscription
from likewise.model.alerts.notification import AlertNotification, DigestItem
from likewise.model.announcements.announcement import Announcement
from likewise.model.condition import All, Not, Some
from likewise.model.condition import Any as Either
from likewise.model.mapping import Mapping
from likewise.model.predicate import Predicate
from likewise.semantics.calibration import Calibration
from likewise.semantics.concepts.encyclopaedia.lexicon import _EncodedLexicon
from likewise.semantics.concepts.library import CompiledEncyclopaedia
from likewise.semantics.enrichment.corrections import Correction
from likewise.semantics.measures.embeddings import measure as bert
from likewise.semantics.spaces import manifest as space_manifest
from likewise.semantics.wordnet import compact, embedded
from likewise.server import adviser
from likewise.server.mqtt.codec import packets
from likewise.server.mqtt.topic_maps import Rule
from likewise.spark import stream
from likewise.spark.concepts import ConceptsSummary
from likewise.spark.ingest.ingest import IngestSummary
from likewise.spark.spaces.options import BuildSummary
from likewise.spark.streaming import backtest, batch_pins, batch_report, lake_sink, matchers
from likewise.spark.streaming.counts import BacktestTally
from likewise.spark.streaming.deserialisers import registry
from likewise.spark.streaming.state import shuffle as feeds

SHARED: Final[dict[str, Any]] = {
    "event": Event,
    "subscription": Subscription,
    "predicate": Predicate,
    "condition and": All,
    "condition or": Either,
    "condition not": Not,
    "condition some": Some,
    "explanation": Explanation,
    "announcement": Announcement,
    "alert facts": AlertNotification,
    "correction": Correction,
    "delivery": deliveries.DeliveryDocument,
}
DOCUMENTS: Final[dict[str, Any]] = {
    "event document": EventDocument,
    "event document, around its payload": _Envelope,
    "subscription document": SubscriptionDocument,
    "match document": MatchDocument,
    "mapping document": Mapping,
}
REQUESTS: Final[dict[str, Any]] = {
    "token": operations.TokenRequest,
    "worker settings": workers.PoolSettings,
    "queue": subscribers.QueueRequest,
    "target": targets.TargetSettings,
    "question": questions.MatchRequest,
    "uplink wanted": edge_frames.UplinkRequest,
    "backtest": questions.BacktestRequest,
    "judgement": questions.JudgementRequest,
    "grid": questions.GridRequest,
    "correction of a word": sources.CorrectionRequest,
    "acknowledgement": deliveries.DeliveryAck,
    "history filter of the dashboard": EventFilter,
}
STREAMS: Final[dict[str, Any]] = {
    "pending deliveries": deliveries.DeliveryPage,
    "delivery as a target words it": deliveries.DeliverySummary,
    "publish stream": published.PublishProgress,
    "published batch": published.PublishReceipts,
    "my page": me.MobilePage,
    "news of my page": me.MobileNotification,
    "retried": targets.RetryReceipt,
    "place on the map": watching.BoardEntry,
    "sense": sources.SensingCommand,
    "MQTT message as printed": MqttMessage,
    "problem": operations.Problem,
    "imported corrections": sources.ImportReceipt,
}
EDGE_FRAMES: Final[dict[str, Any]] = {
    "edge to hub": edge_frames.EdgeFrame,
    "hub to edge": edge_frames.HubFrame,
}
WORKER_FRAMES: Final[dict[str, Any]] = {
    "broker to worker": worker_messages.WorkerRequest,
    "worker of another machine, hello": tcp_frames.Hello,
    "broker to a worker of another machine, welcome": tcp_frames.Welcome,
    "worker to broker": worker_messages.WorkerResponse,
}
STORE: Final[dict[str, Any]] = {
    "log, event": Event,
    "log, command": entries.Command,
    "catalogue, announcement": catalogue_rows.StoredAnnouncement,
    "catalogue, kept": catalogue_rows.PinnedSource,
    "catalogue, brought": catalogue_rows.SourceRoute,
    "edges, known": lines.EdgeRecord,
    "hops": hops.Hops | hops.EventRoute,
    "outbox, withdrawal": outbox.WithdrawnItem,
    "uplink, received": uplink.UplinkPosition,
    "uplink, epoch": EdgeEpoch,
    "uplink, chosen": ChosenAddresses,
    "uplink, demand": StoredDemand,
    "uplink, counts": OutboxCounts,
    "targets, settings": target_rows.StoredTarget,
    "messages": mqtt_messages.StoredMessage,
    "sessions": mqtt_sessions.SessionState,
    "delivery frame, reasons": because._Frame,
    "delivery frame, selected": selecting._Frame,
    "delivery frame, payload": selecting._Carried,
    "event body, name": edge_pages._Named,
    "event body, identity": event_trace._Identity,
    "event body, sent": event_trace._Sent,
    "target delivery, identity": waiting._Identity,
    "windows, checksums": saved_windows._Checksums,
    "clock of a broker": retention._ClockRecord,
    "learnt catalogue, head": catalogue_saved._Head,
    "learnt catalogue, words": ProfileState,
    "normalizer, topics": normalized_sources._Topics,
    "normalizer, shared topics": normalized_sources._Shared,
    "normalizer, uncertain": normalized_sources._Uncertain,
    "normalizer, announced": normalized_sources._Announced,
    "normalizer, advice": normalized_sources._Advice,
    "outbox for an MQTT broker, event": mqtt_uplink._Envelope,
}
MATCHER: Final[dict[str, Any]] = {
    "manifest.json": folder.MatcherManifest,
    "subscriptions.jsonl": saved_subscriptions.SubscriptionLine,
    "index/manifest.json": index.IndexManifest,
    "index, arrays": list[index.ArrayEntry],
    "index, bitmap questions": list[saved_index.SavedCode],
    "alerts.arrow, state": alert_states.SavedState,
    "alerts.arrow, unsaid": alert_states.SavedDigestCheckpoint,
    "alerts.arrow of version 1, state": SavedStateV1,
    "alerts.arrow of version 1, unsaid": alert_states.SavedDigestCheckpointV1,
    "alerts.arrow, marks": alert_states.SavedMarks,
    "alerts.arrow, digest": list[DigestItem],
    "alerts.arrow, facts": alert_states.SavedAlertHeader,
    "reference alerts": naive_alerts._SavedOracleAlerts,
    "reference windows, file": naive_engine._SavedWindows,
    "reference windows": Publication,
    "calibration": Calibration,
    "space manifest": space_manifest.SpaceManifest,
    "space manifest, version": space_manifest._Version,
    "embedding model, config.json": bert._Config,
    "compact WordNet, head": compact._PackedHeader,
    "compiled encyclopaedia": CompiledEncyclopaedia,
    "compiled lexicon": _EncodedLexicon,
    "latent WordNet": embedded.LatentCore,
}
LAKE: Final[dict[str, Any]] = {
    "change log, changes": change_log.Changes,
    "change log, snapshot head": change_log.SnapshotHead,
    "change log, subscription": held_set.LoggedSubscription,
    "commit": plain_commits.LakeCommit,
    "base": plain_commits.LakeCheckpoint,
    "upkeep report": upkeep.MaintenanceReport,
    "pin of a micro-batch": batch_pins.BatchPin,
    "checkpoint, stream": stream.StoredStream,
    "checkpoint, feeds": feeds.ShufflePlan,
    "checkpoint, counts": batch_report.BatchCounts,
    "backtest report": backtest.BacktestReport,
    "built space": BuildSummary,
    "ingested files": IngestSummary,
    "concepts": ConceptsSummary,
    "schema registry, schema": registry.RegisteredSchema,
}
SPARK_FRAMES: Final[dict[str, Any]] = {
    "task": lake_sink.LakeTask,
    "task done": lake_sink.LakeTaskResult,
    "backtest": backtest.BacktestTask,
    "backtest tally": BacktestTally,
    "meaning": matchers.MeaningChoice,
}
FILES: Final[dict[str, Any]] = {
    "topic map rule": Rule,
    "common name": CommonName,
    "adviser, completion": adviser._Completion,
    "adviser, advice": adviser.Advice,
    "contexts of the command line": Contexts,
    "benchmark history": bench.BenchmarkRun,
    "bounds of an edge": Bounds,
    "settings of workers, kept": PoolSettings,
}
# Each group is a golden file, `wire-GROUP.txt`.
GROUPS: Final[dict[str, dict[str, Any]]] = {
    "shared": SHARED,
    "documents": DOCUMENTS,
    "requests": REQUESTS,
    "streams": STREAMS,
    "edge-frames": EDGE_FRAMES,
    "worker-frames": WORKER_FRAMES,
    "store": STORE,
    "saved-matcher": MATCHER,
    "lake": LAKE,
    "spark-frames": SPARK_FRAMES,
    "files": FILES,
}
# Structs that are passed to a function as a class, and whose fields do not reach the wire by their names: packets of
# MQTT are written by a codec of their own; `Config` is described by `documents.configuration`.
WITHOUT_LABEL: Final[frozenset[type]] = frozenset(
    {
        packets.Puback,
        packets.Pubrec,
        packets.Pubrel,
        packets.Pubcomp,
        packets.Connack,
        packets.Suback,
        Config,
        naming._Body,  # as much of an event as an upgrade looks at
        outbox._Timed,  # ... and as an edge looks at before it sends it
    }
)
