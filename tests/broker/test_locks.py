"""The order of the locks is what the page says, and it is kept."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.locks import ORDER, OutOfOrder, make_lock
from likewise.broker.log.commits import wait_for

PAGE = Path(__file__).parents[2] / "docs" / "contributing" / "locks.md"


def test_the_page_names_every_lock_in_its_order() -> None:
    """A lock that is added is described."""
    listed = [line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert tuple(listed) == ORDER


def test_waiting_against_the_order_is_refused_and_trying_is_not() -> None:
    """So that a test in which two threads could wait for each other fails at once, not now and then."""
    outer, inner = make_lock("matchers"), make_lock("queues")
    with outer, inner:
        pass
    with inner:
        with pytest.raises(OutOfOrder, match="matchers is waited for with queues held"):
            outer.acquire()
        assert outer.acquire(blocking=False)
        outer.release()


def test_two_of_a_kind_are_not_waited_for_together() -> None:
    """No thread holds the matchers of one tenant while it waits for another's."""
    with make_lock("matchers"), pytest.raises(OutOfOrder):
        make_lock("matchers").acquire()


def test_no_commit_is_waited_for_with_a_lock_held_that_the_writer_may_need() -> None:
    """The writer would wait for the lock, and the thread for the writer."""
    with make_lock("matchers"), pytest.raises(OutOfOrder, match="a commit is waited for"):
        wait_for(lambda done: done(1))
    with make_lock("making"):
        assert wait_for(lambda done: done(1)) == 1


def test_the_order_is_kept_under_load(tmp_path: Path) -> None:
    """Publishers, subscribers, questions, sweeps and new tenants at once: nobody is refused, nothing stops."""
    from likewise.broker.queries.dry_run import would_match

    failures: list[BaseException] = []
    with Broker(tmp_path / "data") as broker:

        def run(number: int) -> None:
            try:
                tenant = broker.tenant(f"t{number % 3}")
                broker.register(tenant, f"s{number}")
                text = "{x exists} top 1 within 1 h by value(x)" if number % 2 else "{x exists}"
                broker.subscribe(tenant, f"s{number}", [lw.parse(text, id="s")])
                for n in range(15):
                    broker.publish(tenant, [lw.event({"x": n})])
                    would_match(tenant, lw.event({"x": n}), 0)
                    broker.page(tenant, tenant.subscriber(f"s{number}"), after=0)
                    broker.acknowledge(tenant, f"s{number}", tenant.stored_number)
                broker.sweep()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        broker.wait_until_matched()
        assert broker.worker.failure is None
    assert failures == []
