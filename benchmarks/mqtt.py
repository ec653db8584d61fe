"""What a message costs that a bridge brings over MQTT, beside a bare client that only receives and acknowledges it.

    python -m benchmarks.mqtt --messages 20000 --rounds 5 --json

A real Mosquitto passes messages of QoS 1 on: in each round to a bare gmqtt client (`yardsticks/bare_gmqtt.py`), then to
`likewise serve --mqtt-bridge`, which stores each on disk before it acknowledges it. CPU is that of the receiving
process, a message; medians of the rounds.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from benchmarks.broker import cpu_seconds
from likewise.cli.demo.city import Mosquitto
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.publisher import MqttPublisher


def messages(count: int) -> list[MqttPublication]:
    """What devices say: JSON, bare values, and a vendor's nesting."""
    bodies = (
        ("zigbee2mqtt/room-%d", b'{"temperature": 21.%d, "humidity": 41.5, "linkquality": 90, "battery": 88}'),
        ("home/room-%d/temperature", b"21.%d"),
        ("tele/plug-%d/SENSOR", b'{"AM2301": {"Temperature": 70.%d, "Humidity": 44}, "TempUnit": "F"}'),
    )
    return [MqttPublication(bodies[n % 3][0] % (n % 200), bodies[n % 3][1] % (n % 100), qos=1) for n in range(count)]


def bare(mosquitto: Mosquitto, sent: list[MqttPublication]) -> float:
    """µs of CPU a message of the bare client."""
    port = mosquitto.url.rpartition(":")[2]
    running = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.yardsticks.bare_gmqtt", port, str(len(sent))], stdout=subprocess.PIPE
    )
    assert running.stdout is not None
    running.stdout.readline()
    with MqttPublisher(mosquitto.url) as out:
        out.publish(sent)
    said = json.loads(running.stdout.readline())
    running.wait(60)
    running.stdout.close()
    return float(said["cpu_seconds"]) / len(sent) * 1e6


def bridged(mosquitto: Mosquitto, sent: list[MqttPublication], data: Path) -> float:
    """µs of CPU a message of the broker with its bridge."""
    running = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "likewise",
            "serve",
            "--data",
            str(data),
            "--port",
            "0",
            "--json",
            "--mqtt-bridge",
            f"{mosquitto.url}/#",
        ],
        stdout=subprocess.PIPE,
    )
    assert running.stdout is not None
    try:
        address = json.loads(running.stdout.readline())["listening"]
        with httpx.Client(base_url=address, timeout=60) as http:
            _until(lambda: _figure(http, "connected") == 1)
            before = cpu_seconds(running.pid)
            with MqttPublisher(mosquitto.url) as out:
                out.publish(sent)
            _until(lambda: _figure(http, "stored") >= len(sent))
            return (cpu_seconds(running.pid) - before) / len(sent) * 1e6
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(60)
        running.stdout.close()


def _figure(http: httpx.Client, name: str) -> float:
    lines = http.get("/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(f"likewise_mqtt_bridge_{name}"))


def _until(holds: Any) -> None:
    deadline = time.monotonic() + 600
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("the bridge did not come so far")
        time.sleep(0.1)


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--messages", type=int, default=20_000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--json", action="store_true")
    said = arguments.parse_args()
    sent, rounds = messages(said.messages), []
    with Mosquitto() as mosquitto, tempfile.TemporaryDirectory(prefix="likewise-bench-") as folder:
        if mosquitto.absent:
            raise SystemExit(mosquitto.absent)
        for number in range(said.rounds):
            one = bare(mosquitto, sent)
            other = bridged(mosquitto, sent, Path(folder) / str(number))
            rounds.append({"bare_us": one, "bridged_us": other, "ratio": other / one})
    found = {
        "messages": said.messages,
        **{name: statistics.median(each[name] for each in rounds) for name in rounds[0]},
        "rounds": rounds,
    }
    if said.json:
        print(json.dumps(found))
    else:
        print(f"bare gmqtt      {found['bare_us']:8.1f} µs of CPU a message")
        print(f"bridge to disk  {found['bridged_us']:8.1f} µs of CPU a message, {found['ratio']:.1f} times as much")


if __name__ == "__main__":
    main()
