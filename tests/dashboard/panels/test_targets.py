"""Targets in the dashboard: set with a form, seen to fare well or badly, tried again, removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.dashboard.conftest import NEEDS_CHROMIUM, SHOTS, SLOW, Running, expect, free_port
from tests.server.sinks.receiver import receiving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def broker() -> Iterator[Running]:
    """A broker whose targets may reach this machine."""
    allowed = ["--allow-target", "127.0.0.0/8"]
    running = Running(["serve", "--ephemeral", "--profile", "small", *allowed], free_port(), "/readyz")
    running.start()
    yield running
    running.stop()


def test_a_target_is_set_watched_tried_again_and_removed(browser: Browser, dashboard: Running, broker: Running) -> None:
    """Its secret is shown once; the address's path never; last success, last error, what waits and what is dead are."""
    with httpx.Client(base_url=broker.url, timeout=60) as http, receiving() as receiver:
        http.put("/v1/subscribers/me").raise_for_status()
        body = {"v": 1, "text": "{no2 > 40}", "id": "bad air"}
        http.put("/v1/subscribers/me/subscriptions/bad%20air", json=body).raise_for_status()
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(SLOW)
        page.goto(f"{dashboard.url}/subscriptions")
        page.get_by_text("Nowhere: whoever subscribes reads them.").wait_for()
        page.get_by_label("Address").fill("ftp://example.org")
        page.get_by_role("button", name="Send there").click()
        page.get_by_text("a target's address begins with https://").wait_for()
        receiver.answers.append(404)
        page.get_by_label("Address").fill(receiver.url + "/hush")
        page.get_by_role("button", name="Send there").click()
        page.get_by_text("shown this once").wait_for()
        expect(page.locator("code", has_text="whsec_")).to_have_count(1)
        page.get_by_role("button", name="I have kept it").click()
        page.get_by_text("nothing accepted yet · 0 wait · 0 dead").wait_for()
        for id in ("e1", "e2"):
            http.post("/v1/events", json={"v": 1, "id": id, "payload": {"no2": 50}}).raise_for_status()
        page.get_by_text("1 dead").first.wait_for()
        page.get_by_text("answered 404").wait_for()
        page.screenshot(path=SHOTS / "targets.png")
        assert "hush" not in page.content()
        expect(page.locator("body")).not_to_contain_text("whsec_")
        page.get_by_role("button", name="Try the dead letters of webhook of bad air again").click()
        page.get_by_text("0 wait · 0 dead").wait_for()
        assert len(receiver.accepted) == 2
        page.get_by_role("button", name="Remove webhook of bad air").click()
        page.get_by_text("Nowhere: whoever subscribes reads them.").wait_for()
        page.close()
