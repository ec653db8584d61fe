"""What is said while a broker does not answer: one line for each time it goes away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.cli.terminal import output

if TYPE_CHECKING:
    from stamina.instrumentation import RetryDetails


def say_once() -> None:
    """Say that a connection is tried again when it first is, not at every attempt."""
    from stamina.instrumentation import set_on_retry_hooks

    set_on_retry_hooks([_said])


def _said(details: RetryDetails) -> None:
    from likewise.client.endpoint import plain_reason

    if details.retry_num == 1:
        output.remark(f"The broker does not answer: {plain_reason(details.caused_by)}. Trying again; Ctrl-C ends it.")
