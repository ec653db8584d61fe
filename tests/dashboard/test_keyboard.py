"""The dashboard without a mouse: everything is reached with the tab key, shows its focus, and does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tests.dashboard.accessibility import settled
from tests.dashboard.conftest import NEEDS_CHROMIUM, SHOTS, SLOW, Running, expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = NEEDS_CHROMIUM
# What has the focus: its role or tag, its name, and whether one can see that it has the focus.
FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const style = getComputedStyle(e), field = e.closest('.q-field'), toggle = e.closest('.q-toggle');
  const shown = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0)
    || style.boxShadow !== 'none' || (field && field.classList.contains('q-field--focused'))
    || (toggle && getComputedStyle(toggle).boxShadow !== 'none');
  return {kind: e.getAttribute('role') || e.tagName.toLowerCase(), seen: !!shown,
          name: (e.getAttribute('aria-label') || e.innerText || '').trim().replace(/\\s+/g, ' ').slice(0, 120)};
}"""
UNNAMED = """() => [...document.querySelectorAll('button, [role=button], [role=tab], input, textarea, [role=switch]')]
  .filter(e => e.offsetParent && !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.title
    || [...e.querySelectorAll('.block, .q-tab__label, code, div')].some(i => i.innerText && i.innerText.trim())
    || (e.labels && [...e.labels].some(l => l.innerText.trim())) || (e.tagName === 'BUTTON' && !e.querySelector('i')
    && e.innerText.trim())))
  .map(e => e.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def page(browser: Browser, dashboard: Running, broker: Running) -> Page:
    """A page with one match and one event that meets nothing."""
    url = f"{broker.url}/v1/subscribers/me"
    httpx.put(url, timeout=30).raise_for_status()
    plain = {"Content-Type": "text/plain"}
    httpx.put(f"{url}/subscriptions/loud", content="{noise~ > 60 dB}", headers=plain, timeout=60).raise_for_status()
    event = {"v": 1, "id": "k1", "source": "key/1", "themes": ["city"], "payload": {"loudness_dB": 77, "battery": 91}}
    httpx.post(f"{broker.url}/v1/events", json=event, timeout=30).raise_for_status()
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(SLOW)
    page.goto(dashboard.url)
    page.locator(".lw-rows").first.locator(".lw-row").first.wait_for()
    return page


def focused(page: Page) -> dict[str, object] | None:
    found: dict[str, object] | None = page.evaluate(FOCUSED)
    return found


def tab_to(page: Page, name: str, most: int = 60) -> None:
    """Press the tab key until something of this name has the focus, and see that one sees it."""
    passed = []
    for _ in range(most):
        page.keyboard.press("Tab")
        page.wait_for_timeout(30)
        found = focused(page)
        passed.append(found)
        if found is not None and name in str(found["name"]):
            assert found["seen"], f"nothing shows that {name} has the focus"
            return
    raise AssertionError(f"the tab key never came to {name!r}, only to {[p and p['name'] for p in passed]}")


def test_a_subscription_is_written_and_saved_by_keyboard(page: Page) -> None:
    """Arrows go along the tabs; the editor, its examples and its buttons follow in the order they are read."""
    tab_to(page, "Live")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What do you want to know?").wait_for()
    tab_to(page, "Subscription")
    page.keyboard.type("{battery~ > 50}")
    page.get_by_text("battery, in any words").wait_for()
    tab_to(page, "Try on the last events")
    page.keyboard.press("Space")
    page.get_by_text("would have matched").wait_for()
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="End battery-50").wait_for()


def test_a_match_is_explained_judged_and_closed_by_keyboard(page: Page) -> None:
    """Enter opens a row, arrows go through the heat map, Enter says what is behind a cell, Space presses a thumb."""
    page.get_by_role("tab", name="Live").focus()
    page.keyboard.press("Enter")
    tab_to(page, "loud")
    page.keyboard.press("Enter")
    page.locator(".lw-heat").wait_for()
    tab_to(page, "noise~ > 60 dB against loudness_dB: 77")
    page.screenshot(path=SHOTS / "keyboard-cell.png")
    page.keyboard.press("Enter")
    page.get_by_text("all together").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.wait_for_function(
        "() => (document.activeElement.getAttribute('aria-label') || '').includes('against battery: 91')"
    )
    page.keyboard.press("Space")
    page.get_by_text("“noise” and “battery”").wait_for()
    tab_to(page, "Yes, it is meant")
    page.keyboard.press("Space")
    page.get_by_text("You said yes").wait_for()
    page.screenshot(path=SHOTS / "keyboard-thumb.png")
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")


@pytest.mark.parametrize("tab", ["Live", "Subscriptions", "Words", "Rankings", "Health"])
def test_everything_that_can_be_pressed_has_a_name(page: Page, tab: str) -> None:
    """Buttons that show only a picture say in words what they do."""
    page.get_by_role("tab", name=tab).click()
    expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    page.wait_for_timeout(300)  # so that what is asked for after the page is there, too
    assert settled(lambda: page.evaluate(UNNAMED)) == []


def test_terms_are_compared_by_keyboard(page: Page) -> None:
    """Enter in a field asks."""
    page.get_by_role("tab", name="Words").focus()
    page.keyboard.press("Enter")
    tab_to(page, "Found")
    page.keyboard.press("Enter")
    page.get_by_text("texts both words occur in").wait_for()


def test_the_page_says_its_language_and_its_rows_stand_in_lists(page: Page) -> None:
    """What reads the page aloud knows how to say it, and how many rows a list has."""
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.evaluate("[...document.querySelectorAll('[role=listitem]')].every(e => e.closest('[role=list]'))")
