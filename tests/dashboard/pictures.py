"""Pictures of every page of the dashboard, in light and dark, wide and narrow, of a running demo city.

    python -m tests.dashboard.pictures --to docs/images

The pictures of the documentation are made by it (`make pictures`): a city with a fixed seed, the same steps each time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.dashboard.conftest import ARGUMENTS, CHROMIUM, free_port

PATIENCE = 180  # seconds until there is something to see
SIZES = {1400: 900, 420: 860}
# A reading whose past is shown once it has so many values.
STATION, READING, LASTING = "city/meteoria-204f-1", "outdoor.airTemperature", 14
# The picture of the README: wide and light.
FRONT = ("why", "light", 1400)


def wait_for(what: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + patience
    while not what():
        if time.monotonic() > deadline:
            raise SystemExit("there was nothing to see in time")
        time.sleep(0.3)


def answers(url: str) -> bool:
    """Whether somebody answers there."""
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.HTTPError:
        return False


def found_match(broker: str, subscription: str) -> dict[str, str]:
    """The newest match of a subscription, as the address of its explanation says it."""
    seen = httpx.get(f"{broker}/v1/activity", params={"limit": 1000}, timeout=30).json()
    events = {each["position"]: each["event"] for each in seen["events"]}
    for match in reversed(seen["matches"]):
        for met in match["met"]:
            if met["subscription"] == subscription and match["position"] in events:
                event = events[match["position"]]
                about = {"id": event["id"], "source": event["source"]}
                return {**about, "subscriber": met["subscriber"], "subscription": subscription}
    return {}


def readings(broker: str) -> int:
    """How many values the reading has whose past is shown."""
    asked = {"source": STATION, "attribute": READING}
    return len(httpx.get(f"{broker}/v1/series", params=asked, timeout=30).json()["points"])


def tour(page: Any, dashboard: str, broker: str, shot: Callable[[str], None]) -> None:
    """Go through every page; `shot` takes the pictures of what is seen."""
    wait_for(lambda: bool(found_match(broker, "loud")))
    page.goto(f"{dashboard}/live")
    page.locator("mark").nth(3).wait_for()
    shot("live")
    page.goto(f"{dashboard}/subscriptions")
    page.get_by_label("Reading", exact=True).fill("humidity")
    page.get_by_label("Value", exact=True).fill("45")
    page.get_by_label("Unit", exact=True).fill("%")
    page.get_by_text("humidity, in any words").wait_for()
    page.get_by_role("button", name="Try on the last events").click()
    page.get_by_text("would have matched").wait_for()
    shot("subscriptions")
    page.goto(f"{dashboard}/map")
    page.locator(".lw-dot").first.wait_for()
    shot("map")
    page.goto(f"{dashboard}/sources")
    page.get_by_role("button", name="Confirm").first.wait_for()
    shot("sources")
    page.goto(f"{dashboard}/words")
    page.get_by_text("texts both words occur in").wait_for()
    shot("words")
    page.goto(f"{dashboard}/rankings")
    page.locator(".lw-table td").nth(3).wait_for()
    shot("rankings")
    page.goto(f"{dashboard}/health")
    page.get_by_text("of them met something").wait_for()
    page.wait_for_timeout(8000)  # so that the chart has something to show
    shot("health")
    about = found_match(broker, "loud")
    page.goto(str(httpx.URL(f"{dashboard}/why", params=about)))
    page.locator("svg.lw-map").wait_for()
    page.get_by_role("button", name="(taken)").first.click()
    page.get_by_text("texts both words occur in").wait_for()
    shot("why")
    page.goto(str(httpx.URL(f"{dashboard}/event", params={name: about[name] for name in ("id", "source")})))
    page.get_by_text("Compared with").wait_for()
    shot("event")
    wait_for(lambda: readings(broker) >= LASTING, patience=900)
    page.goto(f"{dashboard}/history?source={STATION}&attribute={READING}")
    page.get_by_text("values of").wait_for()
    page.wait_for_timeout(2000)
    shot("history")


def photographer(page: Any, folder: Path, *, whole: bool = False) -> Callable[[str], None]:
    """Takes a picture in every mode and size: of what a window shows, or of the `whole` page."""

    def shot(name: str) -> None:
        for mode in ("light", "dark"):
            page.emulate_media(color_scheme=mode)
            for width, height in SIZES.items():
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_timeout(400)
                path = folder / f"{name}-{mode}-{width}.png"
                page.screenshot(path=path, full_page=whole)
                shrink(path)
                if (name, mode, width) == FRONT:
                    (folder / "dashboard.png").write_bytes(path.read_bytes())
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1400, "height": SIZES[1400]})

    return shot


def shrink(path: Path) -> None:
    """Store a picture with 128 colours: a third of the size, and no difference that an eye sees."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Run a city, look at it, and keep the pictures."""
    asking = argparse.ArgumentParser(description="Pictures of every page of the dashboard.")
    asking.add_argument("--to", type=Path, default=Path("docs/images"), help="the folder to put them into")
    folder = asking.parse_args().to
    folder.mkdir(parents=True, exist_ok=True)
    if CHROMIUM is None:
        sys.exit("there is no chromium; apt-get install chromium, or name it in LIKEWISE_CHROMIUM")
    from playwright.sync_api import sync_playwright

    port, view = free_port(), free_port()
    broker, dashboard = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{view}"
    likewise = [sys.executable, "-m", "likewise"]
    city = subprocess.Popen(
        [*likewise, "demo", "--city", "--no-dashboard", "--port", str(port)], stdout=subprocess.DEVNULL
    )
    shown = subprocess.Popen(
        [*likewise, "dashboard", "--address", broker, "--port", str(view)], stdout=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: answers(f"{broker}/readyz") and answers(dashboard))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
            page = browser.new_page(viewport={"width": 1400, "height": SIZES[1400]})
            page.set_default_timeout(PATIENCE * 1000)
            tour(page, dashboard, broker, photographer(page, folder))
            browser.close()
    finally:
        for process in (shown, city):
            process.terminate()
        for process in (shown, city):
            process.wait(timeout=60)


if __name__ == "__main__":
    main()
