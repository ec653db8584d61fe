"""A page whose broker takes its time, or goes: what it says meanwhile, and that all is there again afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.dashboard.conftest import NEEDS_CHROMIUM, SLOW, Running, expect, free_port
from tests.dashboard.slow import Slow, slow_broker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def slow(broker: Running) -> Iterator[Slow]:
    """What stands between the dashboard and the broker."""
    with slow_broker(broker.url) as between:
        yield between


@pytest.fixture(scope="module")
def page(browser: Browser, slow: Slow) -> Iterator[Page]:
    """A page of a dashboard whose broker takes its time."""
    pytest.importorskip("nicegui", reason="the extra `dashboard` is not installed")
    running = Running(["dashboard", "--address", slow.url], free_port(), "/")
    running.start()
    found = browser.new_page(base_url=running.url, viewport={"width": 1280, "height": 900})
    found.set_default_timeout(SLOW)
    yield found
    running.stop()


def test_a_page_that_loads_says_so_and_claims_nothing(page: Page, slow: Slow) -> None:
    """Before the first answer nobody knows whether there are events; a tab that is read for the first time says it."""
    slow.hold("/")
    page.goto("/live")
    page.get_by_text("Asking the broker").wait_for()
    expect(page.get_by_text("No event yet")).to_be_hidden()
    expect(page.get_by_role("alert")).to_be_hidden()
    slow.hold("/v1/edges")
    page.get_by_text("No event yet").wait_for()
    expect(page.get_by_text("Asking the broker")).to_be_hidden()
    page.get_by_role("tab", name="Edges").click()
    page.get_by_text("Asking the broker").wait_for()
    slow.hold()
    page.get_by_text("No edge has connected yet").wait_for()
    expect(page.get_by_text("Asking the broker")).to_be_hidden()


def test_what_was_read_stays_while_the_broker_is_away_and_goes_on_afterwards(page: Page, broker: Running) -> None:
    """It says from when it is; the list of sources, which was asked for in vain, is there again."""
    announced = {"attributes": [{"name": "moisture", "unit": "%"}], "controllable": True}
    httpx.put(f"{broker.url}/v1/sources/cellar/announcement", json=announced, timeout=60).raise_for_status()
    page.get_by_role("tab", name="Sources").click()
    page.get_by_text("It is woken as soon as one does").wait_for()
    chosen = page.get_by_role("button", name="cellar", exact=True)
    expect(chosen).to_have_attribute("aria-current", "true")
    broker.stop()
    page.get_by_text("What stands below is from").wait_for()
    page.get_by_role("tab", name="Health").click()
    page.get_by_text("The rest of this page").wait_for()
    broker.start()
    page.get_by_text("What stands below is from").wait_for(state="hidden")
    page.get_by_text("of them met something").wait_for()
    page.get_by_role("tab", name="Sources").click()
    chosen.wait_for()
