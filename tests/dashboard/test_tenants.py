"""Two tenants look at one broker through one dashboard, each in a browser of their own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import httpx
import msgspec
import pytest

from likewise.broker.log.tables import StoreTables
from likewise.broker.log.tokens import make_token
from likewise.broker.log.writer import Store
from tests.dashboard.conftest import NEEDS_CHROMIUM, SHOTS, SLOW, Running, expect, free_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = NEEDS_CHROMIUM
TABS = ("Live", "Subscriptions", "Rankings", "Health")


class Tenant(NamedTuple):
    """Whose it is, the word that marks everything of theirs, and their token."""

    name: str
    word: str
    token: str


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Tenant, ...]]:
    """A broker's folder with a token for each of two tenants."""
    data = tmp_path_factory.mktemp("broker")

    def admin_token(name: str, tables: StoreTables) -> str:
        return make_token(tables, name, name, ["admin"], 0)

    store = Store(data, clock=lambda: 0)
    made = []
    for name, word in (("north", "otter"), ("south", "heron")):
        token = store.commit(partial(admin_token, name))
        made.append(Tenant(name, word, token))
    store.close()
    return data, tuple(made)


@pytest.fixture(scope="module")
def broker(tenants: tuple[Path, tuple[Tenant, ...]]) -> Iterator[Running]:
    """A broker where each tenant has an event, a match that waits, a board and a dead letter."""
    data, everybody = tenants
    running = Running(["serve", "--data", str(data)], free_port(), "/readyz")
    running.start()
    for tenant in everybody:
        with httpx.Client(base_url=running.url, headers={"Authorization": f"Bearer {tenant.token}"}) as client:
            fill(client, tenant.word)
    yield running
    running.stop()


def fill(client: httpx.Client, word: str) -> None:
    """One of everything, each marked with a word."""

    def put(path: str, text: str = "") -> None:
        client.put(path, content=text, headers={"Content-Type": "text/plain"}, timeout=60).raise_for_status()

    put(f"/v1/subscribers/{word}-desk")
    put(f"/v1/subscribers/{word}-desk/subscriptions/{word}-seen", "{count > 1}")
    put(f"/v1/subscribers/{word}-desk/subscriptions/{word}-board", "{count exists} top 2 within 1 h by value(count)")
    event = {"v": 1, "id": f"{word}-1", "source": f"{word}/camera", "payload": {"animal": word, "count": 3}}
    client.post("/v1/events", json=event, timeout=60).raise_for_status()
    broken = client.post("/v1/events", content=f'{{"{word}'.encode(), headers={"Content-Type": "application/json"})
    assert broken.status_code == 400


def enter(page: Page, token: str) -> None:
    page.get_by_role("button", name="Enter a token").click()
    page.get_by_role("dialog").get_by_label("Token").fill(token)
    page.get_by_role("button", name="Use it").click()


@pytest.fixture(scope="module")
def pages(
    browser: Browser, dashboard: Running, tenants: tuple[Path, tuple[Tenant, ...]]
) -> list[tuple[Page, Tenant, Tenant]]:
    """Each tenant's page, with its own tenant and the other, in a browser profile of its own."""
    opened = []
    mine, theirs = tenants[1]
    for own, other in ((mine, theirs), (theirs, mine)):
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(SLOW)
        page.goto(dashboard.url)
        page.get_by_text("This broker wants a token").wait_for()
        enter(page, own.token)
        page.locator(".lw-row").first.wait_for()
        opened.append((page, own, other))
    return opened


def test_each_tenant_sees_its_own_and_nothing_of_the_other(pages: list[tuple[Page, Tenant, Tenant]]) -> None:
    """Events, matches, subscriptions, boards, queues and dead letters: everywhere the own word, nowhere the other's."""
    for page, own, other in pages:
        for tab in TABS:
            page.get_by_role("tab", name=tab).click()
            page.locator(".q-tab-panel", has_text=own.word).first.wait_for()
            if tab == "Health":
                page.get_by_text("could not be read", exact=True).wait_for()
                page.locator("tr", has_text=f"{own.word}-desk").wait_for()
                page.locator(".lw-figure", has_text="set aside").get_by_text("1", exact=True).wait_for()
            assert other.word not in page.content(), f"{own.name} sees {other.name} under {tab}"
            page.screenshot(path=SHOTS / f"tenant-{own.name}-{tab.casefold()}.png")


def test_explanations_compare_with_the_tenants_own_subscriptions(pages: list[tuple[Page, Tenant, Tenant]]) -> None:
    """A near miss is looked for among the tenant's own, and a match is explained from the tenant's own."""
    for page, own, other in pages:
        page.get_by_role("tab", name="Live").click()
        page.locator(".lw-rows").nth(1).locator(".lw-row").first.click()
        page.get_by_text("Compared with all 2 subscriptions held").wait_for()
        assert other.word not in page.content()
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")
        page.locator(".lw-rows").first.locator(".lw-row", has_text=f"{own.word}-seen").first.click()
        page.get_by_text("It matches").first.wait_for()
        assert other.word not in page.content()
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")


def test_a_wrong_token_is_refused_clearly_and_another_can_be_entered(
    browser: Browser, dashboard: Running, tenants: tuple[Path, tuple[Tenant, ...]]
) -> None:
    """The page says that the token is not known, shows nothing, and offers to enter another."""
    page = browser.new_context().new_page()
    page.set_default_timeout(SLOW)
    page.goto(dashboard.url)
    enter(page, "lw_wrong")
    page.get_by_text("This broker does not know your token, or no longer").wait_for()
    expect(page.locator(".lw-row")).to_have_count(0)
    expect(page.get_by_role("tab", name="Live")).to_be_hidden()
    page.screenshot(path=SHOTS / "wrong-token.png")
    enter(page, tenants[1][0].token)
    page.locator(".lw-row", has_text="otter").first.wait_for()


def test_a_token_that_ends_while_one_looks_takes_everything_away(
    browser: Browser, broker: Running, dashboard: Running, tenants: tuple[Path, tuple[Tenant, ...]]
) -> None:
    """What the token opened is gone from the page, which says why and lets one enter another."""
    with httpx.Client(base_url=broker.url, headers={"Authorization": f"Bearer {tenants[1][0].token}"}) as owner:
        made = owner.post("/v1/tokens", json={"name": "guest", "scopes": ["subscribe"]})
        page = browser.new_context().new_page()
        page.set_default_timeout(SLOW)
        page.goto(dashboard.url)
        enter(page, msgspec.json.decode(made.content)["token"])
        page.locator(".lw-row", has_text="otter").first.wait_for()
        page.get_by_role("tab", name="Health").click()
        page.get_by_text("are for administrators").wait_for()
        owner.delete("/v1/tokens/guest").raise_for_status()
        page.get_by_role("alert").get_by_text("This broker does not know your token, or no longer").wait_for()
        page.get_by_role("alert").get_by_role("button", name="Enter a token").wait_for()
        page.locator(".lw-row", has_text="otter").first.wait_for(state="detached")
        expect(page.get_by_role("tab", name="Live")).to_be_hidden()
