"""Ordinary MQTT works unchanged: clients that know nothing about Likewise, on one topic."""

from __future__ import annotations

import queue
import subprocess
from pathlib import Path

import pytest

from likewise.cli.demo.city import find_program
from likewise.server.mqtt.codec import MQTT_3_1_1, MQTT_5
from tests.server.mqtt.broker.conftest import PATIENCE, Devices
from tests.server.mqtt.conftest import find_mosquitto


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_two_paho_clients_on_one_topic_need_to_know_nothing_about_likewise(
    home: Devices, version: int, qos: int
) -> None:
    """What one publishes, the other gets: the same topic and bytes, whatever they are."""
    paho = pytest.importorskip("paho.mqtt.client")
    got: queue.Queue[tuple[str, bytes, int, bool]] = queue.Queue()
    ready: queue.Queue[object] = queue.Queue()
    topic = f"ordinary/{version}/{qos}"
    reader = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=f"reader-{version}-{qos}", protocol=version)
    reader.on_message = lambda client, user, said: got.put((said.topic, said.payload, said.qos, said.retain))
    reader.on_connect = lambda client, *rest: client.subscribe(topic, qos)
    reader.on_subscribe = lambda *said: ready.put(said)
    writer = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=f"writer-{version}-{qos}", protocol=version)
    for client in (reader, writer):
        client.connect("127.0.0.1", home.port)
        client.loop_start()
    try:
        ready.get(timeout=PATIENCE)
        payloads = [b"21.5", b'{"temperature": 21.5}', b"\x00\xff no text", b"", "grün".encode(), b"[1,2]", b"{"]
        for payload in payloads:
            writer.publish(topic, payload, qos).wait_for_publish(PATIENCE)
        assert [got.get(timeout=PATIENCE) for _ in payloads] == [(topic, payload, qos, False) for payload in payloads]
    finally:
        for client in (reader, writer):
            client.disconnect()
            client.loop_stop()


def test_mosquitto_pub_and_mosquitto_sub_work_unchanged(home: Devices) -> None:
    """Mosquitto's own programs, a retained message and one that comes."""
    program, environment = find_mosquitto()
    found = find_program()
    if program is None or found is None:
        pytest.skip("there is no mosquitto; `make test` as root unpacks it, or name it in LIKEWISE_MOSQUITTO")
    folders = [Path(found.path).parent, Path(found.path).parents[1] / "bin"]
    tools = {
        name: next((str(folder / name) for folder in folders if (folder / name).is_file()), None)
        for name in ("mosquitto_pub", "mosquitto_sub")
    }
    if None in tools.values():
        pytest.skip("mosquitto's clients are not beside it")
    where = ["-h", "127.0.0.1", "-p", str(home.port)]

    def publish(*said: str) -> None:
        subprocess.run([str(tools["mosquitto_pub"]), *where, *said], env=environment, check=True, timeout=PATIENCE)

    publish("-t", "mosquitto/kept", "-m", "1", "-q", "1", "-r")
    reading = subprocess.Popen(
        [str(tools["mosquitto_sub"]), *where, "-t", "mosquitto/#", "-q", "1", "-v", "-C", "2"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reading.stdout is not None
    assert reading.stdout.readline() == "mosquitto/kept 1\n"
    publish("-t", "mosquitto/come", "-m", "2", "-q", "2", "-V", "5")
    assert reading.communicate(timeout=PATIENCE)[0] == "mosquitto/come 2\n"
