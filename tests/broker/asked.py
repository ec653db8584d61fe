"""A question that uses a tenant's matchers for as long as a test wants."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from likewise.broker.tenants.tenant import Tenant


@contextmanager
def asked(tenant: Tenant) -> Iterator[None]:
    """Use them on a thread of its own until the block is left."""
    begun, over = threading.Event(), threading.Event()

    def question() -> None:
        with tenant.matchers:
            begun.set()
            over.wait(60)

    thread = threading.Thread(target=question)
    thread.start()
    assert begun.wait(60)
    try:
        yield
    finally:
        over.set()
        thread.join()
