"""The page of sources in a browser: devices and their words, confirmed and corrected there; the editor knows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.dashboard.conftest import NEEDS_CHROMIUM, SHOTS, SLOW, Running, expect, free_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def broker() -> Iterator[Running]:
    running = Running(["serve", "--ephemeral"], free_port(), "/readyz")
    running.start()
    yield running
    running.stop()


def test_sources_are_looked_at_confirmed_and_corrected(browser: Browser, dashboard: Running, broker: Running) -> None:
    """Their last values, units and lines; what is asleep; one click confirms, a dialog corrects, another undoes."""
    with httpx.Client(base_url=broker.url, timeout=60) as http:
        announced = {"attributes": [{"name": "temp1", "unit": "degC"}], "model": "X", "controllable": True}
        http.put("/v1/sources/cellar/announcement", json=announced).raise_for_status()
        for n in range(6):
            payload = {"TempC_SHT": 20 + n % 3, "mode": ["eco", "boost"][n % 2], "room": "attic"}
            http.post("/v1/events", json={"v": 1, "payload": payload, "source": "roof"}).raise_for_status()
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(SLOW)
        page.goto(f"{dashboard.url}/sources")
        page.get_by_role("button", name="roof", exact=True).click()
        page.get_by_text("6 events").first.wait_for()
        page.get_by_text("asleep").first.wait_for()
        page.get_by_role("button", name="Confirm TempC_SHT").click()
        page.get_by_text("a person said so").first.wait_for()
        page.get_by_role("button", name="Correct TempC_SHT").click()
        page.get_by_label("It is", exact=True).fill("soil temperature")
        page.get_by_role("button", name="Say so").click()
        page.locator("b", has_text="soil temperature").wait_for()
        page.screenshot(path=SHOTS / "sources.png")
        [held] = http.get("/v1/corrections").json()
        assert (held["attribute"], held["of"], held["name"], held["means"]) == (
            "TempC_SHT",
            "source",
            "roof",
            "soil temperature",
        )
        page.get_by_role("button", name="Take back what was said of TempC_SHT").click()
        page.get_by_text("a person said so").first.wait_for(state="hidden")
        assert http.get("/v1/corrections").json() == []


def test_the_editor_offers_the_streams_own_words(browser: Browser, dashboard: Running, broker: Running) -> None:
    """Attributes as they are begun, then the values that one of them has."""
    with httpx.Client(base_url=broker.url, timeout=60) as http:
        for mode in ("eco", "boost"):
            said = {"v": 1, "payload": {"operatingMode": mode}, "source": "heater"}
            http.post("/v1/events", json=said).raise_for_status()
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(SLOW)
        page.goto(f"{dashboard.url}/subscriptions")
        text = page.get_by_label("Subscription", exact=True)
        text.fill("{oper")
        page.get_by_role("button", name="operatingMode", exact=True).click()
        expect(text).to_have_value("{operatingMode")
        text.fill("{operatingMode = bo")
        page.get_by_role("button", name="boost", exact=True).click()
        expect(text).to_have_value("{operatingMode = boost")
        page.screenshot(path=SHOTS / "offered.png")
