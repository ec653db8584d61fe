"""Notices while a broker does not answer: one line for each outage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from likewise.cli.terminal import output

if TYPE_CHECKING:
    from stamina.instrumentation import RetryDetails


def install_retry_notice() -> None:
    """Say that a connection is tried again when it first is, not at every attempt."""
    from stamina.instrumentation import set_on_retry_hooks

    set_on_retry_hooks([_print_retry])


@contextmanager
def replace_retry_notice(text: str) -> Iterator[None]:
    """Say this instead, and nothing more while it lasts."""
    from stamina.instrumentation import set_on_retry_hooks

    output.print_note(text)
    set_on_retry_hooks([])
    try:
        yield
    finally:
        install_retry_notice()


def _print_retry(details: RetryDetails) -> None:
    from likewise.client.endpoint import plain_reason

    if details.retry_num == 1:
        output.print_note(
            f"The broker does not answer: {plain_reason(details.caused_by)}. Trying again; Ctrl-C ends it."
        )
