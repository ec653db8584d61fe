"""How the dashboard bears a busy broker: the share of time its page and its process work, and how soon it answers.

python -m tests.dashboard.busy --rate 200 --sources 1000 --seconds 15

prints JSON: for each page the share of time that its thread works (the browser's own count, processor time of what it
runs), the process of the dashboard beside it, and the machine's load.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from likewise.demo import DEMO_SUBSCRIPTIONS, City, due_reports
from tests.dashboard.conftest import ARGUMENTS, CHROMIUM, Running, free_port

PAGES = ("live", "subscriptions", "history", "map", "sources", "health")


def publish(broker: str, rate: int, sources: int, stop: threading.Event) -> None:
    """Publish a large city's reports at a rate, until told to stop."""
    seconds = [0.0]
    due, sent = due_reports(City(seed=1, devices=sources, run="1"), lambda: seconds[0]), 0
    waiting: list[Any] = []
    began = time.monotonic()
    with httpx.Client(base_url=broker, timeout=60) as client:
        while not stop.wait(0.05):
            wanted = int((time.monotonic() - began) * rate)
            while len(waiting) < wanted - sent:
                seconds[0] += 1
                waiting += due()
            batch, waiting = waiting[: wanted - sent], waiting[wanted - sent :]
            if batch:
                taken = client.post("/v1/events", json=[report.envelope() for report in batch])
                if taken.status_code != 429:  # a machine that is too busy takes fewer; the status shows how many
                    taken.raise_for_status()
            sent = wanted


def subscribe(broker: str) -> None:
    """The demo's subscriptions."""
    with httpx.Client(base_url=broker, timeout=60, headers={"Content-Type": "text/plain"}) as client:
        for wanted in DEMO_SUBSCRIPTIONS:
            client.put(f"/v1/subscribers/{wanted.subscriber}").raise_for_status()
            path = f"/v1/subscribers/{wanted.subscriber}/subscriptions/{wanted.id}"
            client.put(path, content=wanted.text).raise_for_status()


def processor_seconds(pid: int) -> float:
    """Processor time a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(dashboard: Running, seconds: float) -> dict[str, object]:
    """Look at the dashboard for a while, then use it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(60_000)
        inside = page.context.new_cdp_session(page)
        inside.send("Performance.enable")

        def worked() -> float:
            found = inside.send("Performance.getMetrics")["metrics"]
            return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))

        shares: dict[str, dict[str, float]] = {}
        for tab in PAGES:
            page.goto(f"{dashboard.url}/{tab}")
            page.get_by_role("tab", selected=True).wait_for()
            page.wait_for_timeout(6_000)  # what a page asks for once it is open is not what it costs to look at
            began, page_before, process_before = time.monotonic(), worked(), processor_seconds(dashboard.pid)
            page.wait_for_timeout(seconds * 1_000)
            took = time.monotonic() - began
            shares[tab] = {
                "page": round((worked() - page_before) / took, 3),
                "process": round((processor_seconds(dashboard.pid) - process_before) / took, 3),
            }
            print(tab, shares[tab], file=sys.stderr, flush=True)
        found: dict[str, object] = {"status": page.locator(".lw-status").first.inner_text(), "shares": shares}
        page.goto(f"{dashboard.url}/live")
        row = page.get_by_role("list", name="Matches").locator(".lw-row").first
        row.wait_for()
        switching, explaining = [], []
        for _ in range(5):
            for tab, heading in (("Subscriptions", "What do you want to know?"), ("Live", "Matches")):
                began = time.monotonic()
                page.get_by_role("tab", name=tab).click()
                page.get_by_role("heading", name=heading, exact=True).wait_for()
                switching.append(time.monotonic() - began)
            row.wait_for()
            began = time.monotonic()
            row.evaluate("row => row.click()")  # the list moves on; a mouse over it would hold it still
            page.locator("svg.lw-map").wait_for()
            explaining.append(time.monotonic() - began)
            page.keyboard.press("Escape")
            page.get_by_role("dialog").wait_for(state="detached")
        for what, times in (("tab", switching), ("explanation", explaining)):
            found[f"{what}_opens_ms"] = {"median": round(median(times) * 1000), "most": round(max(times) * 1000)}
        browser.close()
        return found


def main() -> None:
    """Run a broker, a dashboard, a city and a browser, and print what was measured."""
    asking = argparse.ArgumentParser(description="How the dashboard bears a busy broker.")
    asking.add_argument("--rate", type=int, default=200, help="events a second")
    asking.add_argument("--sources", type=int, default=1_000, help="devices that send them")
    asking.add_argument("--seconds", type=float, default=15, help="how long to look")
    asked = asking.parse_args()
    broker = Running(["serve", "--ephemeral"], free_port(), "/readyz")
    broker.start()
    dashboard = Running(["dashboard", "--address", broker.url], free_port(), "/")
    stop = threading.Event()
    publisher = threading.Thread(target=publish, args=(broker.url, asked.rate, asked.sources, stop))
    try:
        dashboard.start()
        subscribe(broker.url)
        publisher.start()
        time.sleep(2 + 2 * asked.sources / asked.rate)  # until most sources were heard
        found = measure(dashboard, asked.seconds)
        heard = httpx.get(f"{broker.url}/v1/sources", params={"limit": 1}, timeout=60).json()["total"]
        print(json.dumps({**vars(asked), "sources_heard": heard, **found, "load": os.getloadavg()}, indent=1))
    finally:
        stop.set()
        if publisher.ident is not None:
            publisher.join()
        dashboard.stop()
        broker.stop()


if __name__ == "__main__":
    main()
