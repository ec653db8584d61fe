"""A tenant that means harm to its neighbours: everything at once that takes a broker time.

Relaxed subscriptions over stored events, again and again; events whose words nobody has said before; backtests; and a
backlog as large as it is let. It runs as a process of its own and comes again as soon as it is told to.
"""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx

STORED = 5_000  # events that relaxed subscriptions are matched against
LAST_SECONDS = 2.0  # for what is under way at the end
TERMS = ("temperature", "humidity", "power", "device", "room", "light", "pressure", "noise", "speed", "level")


def word(chance: random.Random) -> str:
    """A word that nobody has said before."""
    return "".join(chance.choice("bcdfgklmnprst") + chance.choice("aeiou") for _ in range(4))


def client(address: str, token: str) -> httpx.Client:
    """A client of the tenant."""
    return httpx.Client(base_url=address, timeout=120, headers={"authorization": f"Bearer {token}"})


def stock(address: str, token: str) -> None:
    """Store events that earlier events and backtests look at."""
    chance = random.Random(5)
    with client(address, token) as http:
        http.put("/v1/subscribers/eve").raise_for_status()
        for _ in range(STORED // 500):
            events = [{chance.choice(TERMS): chance.random(), "unit": f"u{chance.randrange(50)}"} for _ in range(500)]
            http.post("/v1/events", json=events).raise_for_status()


def subscribe(http: httpx.Client, chance: random.Random) -> httpx.Response:
    """A relaxed subscription over everything that is stored."""
    text = f"{{{chance.choice(TERMS)} {word(chance)}~ > 0.5}}"
    return http.put("/v1/subscribers/eve/subscriptions/again", json={"v": 1, "text": text})


def new_words(http: httpx.Client, chance: random.Random) -> httpx.Response:
    """Events whose attributes and values are all new."""
    return http.post(
        "/v1/events",
        json=[{f"{word(chance)} {word(chance)}": word(chance) for _ in range(10)} for _ in range(10)],
    )


def backtest(http: httpx.Client, chance: random.Random) -> httpx.Response:
    """A subscription tried on everything that is stored."""
    return http.post("/v1/backtest", json={"text": f"{{{word(chance)}~ > 1}}", "events": STORED})


def backlog(http: httpx.Client, chance: random.Random) -> httpx.Response:
    """More than can be matched."""
    return http.post("/v1/events", json=[{"lat": chance.random(), "no2": chance.random()} for _ in range(1_000)])


def _work(address: str, token: str, stop: Any, done: Any) -> None:
    """Every kind of harm, each on a thread of its own, until told to stop; how often each was done."""
    lock = threading.Lock()

    def again(seed: int, harm: Callable[[httpx.Client, random.Random], httpx.Response]) -> None:
        chance = random.Random(f"{seed} {time.time()}")
        with client(address, token) as http:
            for _ in count():
                if stop.is_set():
                    return
                try:
                    answer = harm(http, chance)
                    name = harm.__name__ if answer.is_success else f"{harm.__name__} {answer.status_code}"
                except httpx.TimeoutException:  # it waits behind its own backlog
                    answer, name = None, f"{harm.__name__} without an answer"
                with lock:
                    done[name] = done.get(name, 0) + 1
                if answer is not None and answer.status_code == 429:
                    stop.wait(float(answer.headers.get("retry-after", 1)))

    threads = [
        threading.Thread(target=again, args=(n, harm))
        for n, harm in enumerate((subscribe, new_words, backtest, backlog))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def attack(address: str, token: str) -> Iterator[dict[str, int]]:
    """Do harm while the block runs; afterwards how often each kind was done."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        stop, shared = manager.Event(), manager.dict()
        process = context.Process(target=_work, args=(address, token, stop, shared))
        process.start()
        found: dict[str, int] = {}
        deadline = time.monotonic() + 60
        while not shared and time.monotonic() < deadline:
            time.sleep(0.1)
        try:
            yield found
        finally:
            stop.set()
            process.join(LAST_SECONDS)
            found.update(shared)
            process.terminate()  # it may wait for long behind its own backlog
            process.join()
