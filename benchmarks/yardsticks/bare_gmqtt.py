"""A bare gmqtt client: it receives messages of QoS 1, acknowledges each, and does nothing else.

python -m benchmarks.yardsticks.bare_gmqtt PORT COUNT      prints the seconds of CPU that COUNT messages took
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any


async def receive(port: int, count: int) -> float:
    """Seconds of CPU from the first message to the last."""
    import gmqtt

    done = asyncio.Event()
    received, begun = 0, 0.0
    client = gmqtt.Client("bare", clean_session=False, optimistic_acknowledgement=False, session_expiry_interval=600)

    async def on_message(client: Any, topic: str, payload: bytes, qos: int, properties: Any) -> int:
        nonlocal received, begun
        if not received:
            begun = time.process_time()
        received += 1
        if received == count:
            done.set()
        return 0

    client.on_message = on_message
    await client.connect("127.0.0.1", port)
    client.subscribe("#", qos=1)
    print(json.dumps({"ready": True}), flush=True)
    await done.wait()
    took = time.process_time() - begun
    await client.disconnect()
    return took


if __name__ == "__main__":
    import uvloop

    print(json.dumps({"cpu_seconds": uvloop.run(receive(int(sys.argv[1]), int(sys.argv[2])))}), flush=True)
