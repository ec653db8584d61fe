"""Everyday work in a real browser: a form, what was, a map, files; and whether everybody can use it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.dashboard.accessibility import faults, pale, settled
from tests.dashboard.conftest import NEEDS_CHROMIUM, SLOW, Running, expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = NEEDS_CHROMIUM
PAGES = ("live", "subscriptions", "history", "map", "sources", "words", "rankings", "edges", "health")
PLAIN = {"Content-Type": "text/plain"}


def sideways(page: Page) -> list[str]:
    """By how much a page is wider than its window."""
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return [f"a telephone would scroll sideways by {wide}"] if wide > 0 else []


def subscribe(broker: str, id: str, text: str) -> None:
    url = f"{broker}/v1/subscribers/me"
    httpx.put(url, timeout=300).raise_for_status()
    httpx.put(f"{url}/subscriptions/{id}", content=text, headers=PLAIN, timeout=300).raise_for_status()


@pytest.fixture(scope="module")
def page(browser: Browser, dashboard: Running, broker: Running) -> Page:
    """A page over a broker with a reading that rose, an alert about it, and sources with places."""
    subscribe(broker.url, "hot", "{temp > 25 degC}")
    said = [
        {
            "v": 1,
            "id": f"r{n}",
            "source": "roof",
            "payload": {"temp": {"value": 20 + n, "unit": "degC"}, "note": "=1+1"},
        }
        for n in range(10)
    ]
    said += [
        {
            "v": 1,
            "id": f"p{n}",
            "source": f"post {n}",
            "payload": {"lat": 53.27 + n / 1000, "long": -9.05, "noise": 50 + n},
        }
        for n in range(3)
    ]
    httpx.post(f"{broker.url}/v1/events", json=said, timeout=300).raise_for_status()
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(SLOW)
    page.goto(dashboard.url)
    page.locator(".lw-rows").first.locator(".lw-row").first.wait_for()
    return page


def test_a_form_builds_a_subscription_and_saves_it(page: Page, dashboard: Running, broker: Running) -> None:
    """What, comparison, unit, where and how often become the text, which is saved and counted."""
    page.goto(f"{dashboard.url}/subscriptions")
    page.get_by_label("Reading", exact=True).fill("temperature")
    page.get_by_label("Value", exact=True).fill("21")
    page.get_by_label("Unit", exact=True).fill("degC")
    page.get_by_label("Place", exact=True).click()
    page.get_by_role("option", name="where the").click()
    page.get_by_label("is", exact=True).fill("Galway")
    page.get_by_label("Repeat it", exact=True).click()
    page.get_by_role("option", name="at most every").click()
    wanted = "{temperature~ > 21 degC, city = Galway} at most every 10 min"
    text = page.get_by_label("Subscription", exact=True)
    page.wait_for_function("w => document.querySelector('textarea').value === w", arg=wanted)
    page.get_by_label("Name", exact=True).fill("warm")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="End warm").wait_for()
    held = httpx.get(f"{broker.url}/v1/subscribers/me/subscriptions/warm", timeout=300).json()
    assert held["text"] == wanted
    expect(text).to_have_value(wanted)


def test_the_form_follows_the_text_or_says_that_it_cannot(page: Page, dashboard: Running) -> None:
    """Typed text fills the fields; a ranking is named as what has no field; the form can start anew."""
    page.goto(f"{dashboard.url}/subscriptions")
    text = page.get_by_label("Subscription", exact=True)
    text.fill("{noise~ between 40 and 60 dB} for 5 min")
    page.wait_for_function("() => [...document.querySelectorAll('input')].some(e => e.value === 'noise')")
    expect(page.get_by_label("To", exact=True)).to_have_value("60")
    expect(page.get_by_label("Say it: how long", exact=True)).to_have_value("5 min")
    text.fill("{NO2 exists} top 3 by value(NO2) highest")
    page.get_by_text("The form has no field for a ranking").wait_for()
    page.get_by_role("button", name="Start the form anew").click()
    expect(text).to_have_value("")
    expect(page.get_by_label("Reading", exact=True)).to_be_focused()


@pytest.mark.parametrize("typed", ["{NO2 exists} top 4 by value(NO2) highest", "{noise~ > 60 dB}"])
def test_starting_anew_wins_over_what_was_still_being_typed(page: Page, dashboard: Running, typed: str) -> None:
    """What was typed just before the click, and waits to be said, does not come back after it."""
    page.goto(f"{dashboard.url}/subscriptions")
    text = page.get_by_label("Subscription", exact=True)
    text.fill("{NO2 exists} top 3 by value(NO2) highest")
    anew = page.get_by_role("button", name="Start the form anew")
    anew.wait_for()
    text.evaluate(
        """(area, typed) => { area.focus(); area.value = typed; area.dispatchEvent(new Event('input'));
           [...document.querySelectorAll('button')].find(e => e.innerText === 'Start the form anew').click(); }""",
        typed,
    )
    expect(page.get_by_label("Reading", exact=True)).to_be_focused()
    expect(text).to_have_value("")
    page.wait_for_timeout(600)  # longer than a field waits before it says what was typed
    expect(text).to_have_value("")
    expect(anew).to_be_hidden()


def test_held_subscriptions_say_how_often_they_were_met(page: Page, dashboard: Running) -> None:
    """The count, and a link to why the last one came."""
    page.goto(f"{dashboard.url}/subscriptions")
    row = page.locator(".lw-row").filter(has_text="{temp > 25 degC}")
    row.get_by_text("4 matches").wait_for()
    row.get_by_role("link").click()
    page.get_by_text("It was delivered.").click()
    page.get_by_text("It met the subscription with a score of 1.00").wait_for()
    page.keyboard.press("Escape")


def test_why_an_event_was_not_delivered_then(page: Page, dashboard: Running, broker: Running) -> None:
    """A trace says that it was compared and missed, also after the subscription has ended."""
    subscribe(broker.url, "gone", "{temp > 90 degC}")
    event = {"v": 1, "id": "cool", "source": "roof", "payload": {"temp": {"value": 24.0, "unit": "degC"}}}
    httpx.post(f"{broker.url}/v1/events", json=event, timeout=300).raise_for_status()
    why = f"{dashboard.url}/why?id=cool&source=roof&subscriber=me&subscription=gone"
    page.goto(why)
    page.get_by_text("It was not delivered.").click()
    page.get_by_text("and missed it").wait_for()
    httpx.delete(f"{broker.url}/v1/subscribers/me/subscriptions/gone", timeout=300).raise_for_status()
    for _ in range(20):  # the dashboard looks for what is held every few seconds
        page.goto(why)
        page.get_by_text("delivered.").first.wait_for()
        if page.get_by_text("The subscription gone of me has ended.").is_visible():
            break
        page.wait_for_timeout(1_000)
    page.get_by_text("The subscription gone of me has ended.").wait_for()
    page.get_by_text("{temp > 90 degC}").first.wait_for()
    page.keyboard.press("Escape")


def test_history_draws_a_reading_and_what_was_said(page: Page, dashboard: Running) -> None:
    """The chart says in words what it shows; its marks are listed and lead to why."""
    page.goto(f"{dashboard.url}/history?source=roof&attribute=temp")
    page.get_by_text("values of temp from 20 to 29 degC").wait_for()
    page.get_by_label("What was said").locator(".lw-row").first.wait_for()
    page.get_by_text(" matches, counted").or_(page.get_by_text("events and")).first.wait_for()
    for name in ("a day", "an hour"):
        page.get_by_role("button", name=name).first.click()
        expect(page.get_by_role("button", name=name).first).to_have_attribute("aria-pressed", "true")
    page.get_by_role("img", name="events and").wait_for()


def test_stored_events_are_filtered_kept_and_given_out(page: Page, dashboard: Running, tmp_path: Path) -> None:
    """The filter stands in the address, is kept by the browser, and files hold what it lets through."""
    page.goto(f"{dashboard.url}/history")
    page.get_by_label("With the words").fill("post 1")
    page.get_by_role("button", name="Find").click()
    page.get_by_text("1 shown").wait_for()
    expect(page).to_have_url(re.compile(r"words=post\+1"))
    page.get_by_role("button", name="Keep this filter").click()
    page.get_by_role("dialog").get_by_label("Name").fill("that post")
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="that post", exact=True).wait_for()
    page.goto(f"{dashboard.url}/history?words=temp&source=roof")
    page.get_by_role("button", name="that post", exact=True).wait_for()
    page.get_by_text("shown").first.wait_for()
    found = {}
    for label in ("Events as CSV", "Matches as JSON lines"):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as coming:
            page.get_by_role("menuitem", name=label).or_(page.get_by_text(label)).first.click()
        coming.value.save_as(tmp_path / label)
        found[label] = (tmp_path / label).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(found["Events as CSV"])))
    assert {row["source"] for row in rows} == {"roof"}
    assert {row["value"] for row in rows if row["attribute"] == "note"} == {"'=1+1"}
    matches = [json.loads(line) for line in found["Matches as JSON lines"].splitlines()]
    assert {match["subscription"] for match in matches} >= {"hot"}
    page.get_by_role("button", name="that post", exact=True).click()
    page.get_by_text("1 shown").wait_for()
    page.get_by_role("button", name="Forget the filter that post").click()
    page.get_by_role("button", name="that post", exact=True).wait_for(state="detached")


def test_the_map_shows_sources_and_leads_to_their_events(page: Page, dashboard: Running) -> None:
    """Places stand on it without anything loaded from elsewhere; a dot opens its event."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{dashboard.url}/map")
    page.locator("a.lw-dot").nth(2).wait_for()
    page.get_by_role("button", name="Nearer").click()
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("link", name="post 1").click()
    page.get_by_text("What meets this?").wait_for()
    page.keyboard.press("Escape")
    assert all(url.startswith((dashboard.url, "data:", "blob:")) for url in asked)


@pytest.mark.parametrize("tab", PAGES)
def test_everybody_can_use_the_page(page: Page, dashboard: Running, tab: str) -> None:
    """Names, roles, headings and lists are right, and texts stand out, in light and in dark, wide and narrow."""
    page.goto(f"{dashboard.url}/{tab}")
    page.get_by_role("tab", selected=True).wait_for()
    page.wait_for_timeout(1500)  # so that what is asked for after the page is there, too
    for mode in ("light", "dark"):
        page.emulate_media(color_scheme=mode, reduced_motion="reduce")
        assert settled(lambda: pale(page)) == [], mode
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    assert settled(lambda: faults(page)) == []
    page.set_viewport_size({"width": 420, "height": 860})
    assert settled(lambda: sideways(page)) == []
    page.set_viewport_size({"width": 1280, "height": 900})


def test_the_form_is_filled_in_with_the_keyboard_alone(page: Page, dashboard: Running) -> None:
    """The tab key leads through the fields in the order in which they are read."""
    page.goto(f"{dashboard.url}/subscriptions")
    page.get_by_label("Reading", exact=True).focus()
    seen = []
    for _ in range(40):
        found = page.evaluate(
            "() => { const e = document.activeElement, of = e.closest('label'); return e.getAttribute('aria-label') "
            "|| (e.labels && e.labels[0] && e.labels[0].innerText) || (of && of.innerText) || e.innerText }"
        )
        seen.append(str(found).split("\n")[0].strip())
        if seen[-1] == "Subscription":
            break
        page.keyboard.press("Tab")
    order = [
        name
        for name in ("Reading", "Comparison", "Value", "Unit", "Place", "Say it", "Repeat it", "Send it")
        if name in seen
    ]
    assert order == ["Reading", "Comparison", "Value", "Unit", "Place", "Say it", "Repeat it", "Send it"]
    assert [seen.index(name) for name in order] == sorted(seen.index(name) for name in order)
    assert seen[-1] == "Subscription"
