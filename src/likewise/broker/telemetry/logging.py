"""Write structured logs to standard error: one line an entry, as JSON or as text."""

from __future__ import annotations

import logging
import sys

import structlog

from likewise.broker.config import LoggingSettings
from likewise.broker.telemetry.event_trace import EventTrace
from likewise.errors import InputError


def log_to_stderr(settings: LoggingSettings) -> EventTrace:
    """Let structlog, and what libraries log, go to standard error; what a broker says of single events at that level.

    Lines of other libraries are shown from `warning` on, in the same form, with the name of their logger.
    """
    level = logging.getLevelNamesMapping().get(settings.level.upper())
    if level is None or settings.format not in ("json", "text"):
        raise InputError("[logging] takes a level like info and the format json or text")
    renderers: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if settings.format == "json"
        else [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                exception_formatter=structlog.dev.plain_traceback,  # the other shows variables, among them secrets
            )
        ]
    )
    added: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*added, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    others = logging.StreamHandler(sys.stderr)
    others.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
            foreign_pre_chain=[*added, structlog.stdlib.add_logger_name],
        )
    )
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[others])
    return EventTrace(level)
