"""The states a dashboard can be in, made on purpose and photographed: empty, mistaken, alarmed, asleep, loading, away.

    python -m tests.dashboard.states --to artifacts/states

A small house with two processes that match, two edges (one of them cut off), an alert that is on, a source that sleeps,
a target that refuses; then without its broker. `pictures` has the pages of a city in good order.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.dashboard.conftest import ARGUMENTS, CHROMIUM, Running, free_port
from tests.dashboard.pictures import PATIENCE, SIZES, photographer, wait_for
from tests.dashboard.slow import Slow, slow_broker
from tests.server.sinks.receiver import receiving

TABS = ("live", "subscriptions", "history", "map", "sources", "rankings", "edges", "health")
HELD = {
    "warm": "{temperature~ > 25 degC}",
    "door": "{door = open} per room for 1 s once until false",
    "silent": "{temperature~ exists} absent for 1 h",
}
KEPT = {"house-sources": "asleep", "loading-live": "loading", "loading-history": "loading-history", "away-live": "away"}
Shot = Callable[[str], None]


def fill(broker: str, hook: str) -> None:
    """A house that has something to say."""
    with httpx.Client(base_url=broker, timeout=120) as http:
        http.put("/v1/subscribers/ann").raise_for_status()
        for id, text in HELD.items():
            path = f"/v1/subscribers/ann/subscriptions/{id}"
            http.put(path, content=text, headers={"Content-Type": "text/plain"}).raise_for_status()
        target = {"kind": "webhook", "url": hook}
        http.put("/v1/subscribers/ann/subscriptions/warm/targets/webhook", json=target).raise_for_status()
        asleep = {"attributes": [{"name": "moisture", "unit": "%"}], "model": "Cellar 1", "controllable": True}
        http.put("/v1/sources/cellar/announcement", json=asleep).raise_for_status()
        for n in range(12):
            events: list[dict[str, Any]] = [
                {"source": "roof", "id": f"r{n}", "payload": {"TempC_SHT": 20 + n % 8, "lat": 53.27, "long": -9.05}},
                {"source": "hall", "id": f"h{n}", "payload": {"door": "open", "room": "Hall", "battery": 90 - n}},
            ]
            http.post("/v1/events", json=[{"v": 1, **event} for event in events]).raise_for_status()
            time.sleep(0.2)
        http.post("/v1/events", content=b'{"broken', headers={"Content-Type": "application/json"})


def look_at_nothing(page: Any, url: str, shot: Shot) -> None:
    """Every page of a broker that has nothing yet."""
    for tab in TABS:
        page.goto(f"{url}/{tab}")
        page.get_by_role("tab", selected=True).wait_for()
        page.wait_for_timeout(3_500)
        shot(f"empty-{tab}")


def look_at_mistakes(page: Any, url: str, shot: Shot) -> None:
    """A form whose unit nobody knows, a text that is not understood, and one that no form can say."""
    page.goto(f"{url}/subscriptions")
    page.get_by_label("Reading", exact=True).fill("temperature")
    page.get_by_label("Value", exact=True).fill("25")
    page.get_by_label("Unit", exact=True).fill("bananas")
    page.locator(".lw-bad").first.wait_for()
    shot("mistake-form")
    page.get_by_label("Subscription", exact=True).fill("{temperature~ > }")
    page.get_by_text("line 1, column").wait_for()
    shot("mistake-text")
    page.get_by_label("Subscription", exact=True).fill("{NO2 exists} top 3 by value(NO2) highest")
    page.get_by_role("button", name="Start the form anew").wait_for()
    shot("mistake-no-field")


def look_at_the_house(page: Any, url: str, broker: str, shot: Shot) -> None:
    """Alerts that are on, a source asleep, an edge cut off, processes, a target that fails, traces of both kinds."""
    page.goto(f"{url}/subscriptions")
    page.locator(".lw-state-on").first.wait_for()
    page.wait_for_timeout(3_000)
    shot("house-subscriptions")
    for tab, seen in (("sources", "asleep"), ("edges", "away"), ("health", "who matches what"), ("map", "Nearer")):
        page.goto(f"{url}/{tab}")
        page.get_by_text(seen).or_(page.get_by_role("button", name=seen)).first.wait_for()
        page.wait_for_timeout(4_000)
        shot(f"house-{tab}")
    for name, id in (("made", "r7"), ("not-made", "r1")):
        page.goto(f"{url}/why?id={id}&source=roof&subscriber=ann&subscription=warm")
        page.get_by_text("It was not delivered." if name == "not-made" else "It was delivered.").click()
        page.wait_for_timeout(1_500)
        shot(f"trace-{name}")
    page.goto(f"{broker}/me?name=ann")
    page.locator("#news .cause").first.wait_for()
    shot("me")


def look_while_it_loads(page: Any, url: str, slow: Slow, shot: Shot) -> None:
    """A page before anything has come, one that is read for the first time, and the same with a broker that is gone."""
    slow.hold("/")
    page.goto(f"{url}/live")
    page.get_by_text("Asking the broker").wait_for()
    page.wait_for_timeout(1_000)
    shot("loading-live")
    slow.hold("/v1/tallies", "/v1/sources", "/v1/series")
    page.goto(f"{url}/history")
    page.get_by_text("subscriptions", exact=False).first.wait_for()
    page.get_by_text("Asking the broker").wait_for()
    page.wait_for_timeout(2_000)
    shot("loading-history")
    slow.hold()


def look_without_a_broker(page: Any, url: str, stop: Callable[[], None], shot: Shot) -> None:
    """What was read before the broker went, what was not, and a page opened then."""
    page.goto(f"{url}/sources")
    page.get_by_text("asleep").first.wait_for()
    page.goto(f"{url}/live")
    page.locator(".lw-row").first.wait_for()
    stop()
    page.get_by_text("does not answer").wait_for()
    shot("away-live")
    page.get_by_role("tab", name="History").click()
    page.get_by_text("The rest of this page").wait_for()
    page.wait_for_timeout(1_000)
    shot("away-history")
    page.goto(f"{url}/subscriptions")
    page.get_by_text("does not answer").wait_for()
    page.wait_for_timeout(1_000)
    shot("away-subscriptions")


def keep(folder: Path, kept: Path) -> None:
    """Put what the documentation keeps beside the pictures of the pages, under names of its own."""
    for state, name in KEPT.items():
        for picture in folder.glob(f"{state}-*-*.png"):
            shutil.copy(picture, kept / picture.name.replace(state, name, 1))


def main() -> None:
    """Make each state, and take its pictures."""
    asking = argparse.ArgumentParser(description="Pictures of the states of the dashboard.")
    asking.add_argument("--to", type=Path, default=Path("artifacts/states"), help="the folder to put them into")
    asking.add_argument("--keep", type=Path, help="a folder for those of a source asleep, of loading and of no broker")
    asked = asking.parse_args()
    folder = asked.to
    folder.mkdir(parents=True, exist_ok=True)
    if CHROMIUM is None:
        sys.exit("there is no chromium; apt-get install chromium, or name it in LIKEWISE_CHROMIUM")
    from playwright.sync_api import sync_playwright

    os.environ["LIKEWISE_MATCHING_WORKERS"] = "2"
    allowed = ["--allow-target", "127.0.0.0/8"]
    with tempfile.TemporaryDirectory() as data, receiving() as receiver, sync_playwright() as playwright:
        broker = Running(["serve", "--data", f"{data}/hub", *allowed], free_port(), "/readyz")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        page = browser.new_page(viewport={"width": 1400, "height": SIZES[1400]})
        page.set_default_timeout(PATIENCE * 1000)
        shot = photographer(page, folder, whole=True)
        running = [broker]
        try:
            broker.start()
            del os.environ["LIKEWISE_MATCHING_WORKERS"]
            view = Running(["dashboard", "--address", broker.url], free_port(), "/")
            running.append(view)
            view.start()
            look_at_nothing(page, view.url, shot)
            look_at_mistakes(page, view.url, shot)
            for name in ("roof", "cellar"):
                edge = ["edge", "--upstream", broker.url, "--data", f"{data}/{name}", "--id", name]
                running.append(Running(edge, free_port(), "/readyz"))
                running[-1].start()
            edges = f"{broker.url}/v1/edges"
            wait_for(lambda: len(httpx.get(edges, timeout=60).json()) == 2)
            running.pop().stop()
            receiver.answers += [503] * 50
            fill(broker.url, receiver.url)
            look_at_the_house(page, view.url, broker.url, shot)
            with slow_broker(broker.url) as slow:
                running.append(Running(["dashboard", "--address", slow.url], free_port(), "/"))
                running[-1].start()
                look_while_it_loads(page, running[-1].url, slow, shot)
            look_without_a_broker(page, view.url, broker.stop, shot)
        finally:
            browser.close()
            for each in reversed(running):
                each.stop()
    if asked.keep is not None:
        keep(folder, asked.keep)


if __name__ == "__main__":
    main()
