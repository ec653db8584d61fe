"""Start the broker and its dashboard as an add-on of Home Assistant.

The Supervisor writes the user's options to /data/options.json and tells, to who shows its token, where the add-on
"Mosquitto broker" is. Both become the broker's configuration; then both processes run until the Supervisor stops them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("LIKEWISE_ADDON_DATA", "/data"))
SUPERVISOR = os.environ.get("LIKEWISE_ADDON_SUPERVISOR", "http://supervisor")
BROKER = ("likewise", "serve", "--data", str(DATA / "broker"), "--config", str(DATA / "likewise.toml"))
TOKEN = ("likewise", "admin", "token", str(DATA / "broker"), "--name", "home-assistant", "--scope", "admin")
DASHBOARD = ("likewise", "dashboard", "--address", "http://127.0.0.1:8787", "--host", "0.0.0.0")


def mqtt_service() -> dict[str, Any] | None:
    """Where Mosquitto is, with a name and a password for it; None if there is none, which is said."""
    asked = urllib.request.Request(
        f"{SUPERVISOR}/services/mqtt", headers={"Authorization": f"Bearer {os.environ.get('SUPERVISOR_TOKEN', '')}"}
    )
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)["data"]
            return found
    except (urllib.error.URLError, KeyError, ValueError) as error:
        print(f"there is no MQTT service, so nothing is bridged: {error}", file=sys.stderr)
        return None


def configuration(options: dict[str, Any], mqtt: dict[str, Any] | None) -> str:
    """The broker's configuration in TOML; JSON's texts and lists are TOML's too."""
    lines = ["[server]", 'host = "0.0.0.0"', 'hosts = ["homeassistant.local", "homeassistant"]', ""]
    lines += ["[store]", f"keep = {json.dumps(options.get('keep', '7 days'))}", ""]
    if mqtt is not None:
        address = f"{'mqtts' if mqtt.get('ssl') else 'mqtt'}://{mqtt['host']}:{mqtt['port']}"
        secret = DATA / "mqtt.password"
        secret.touch(mode=0o600)
        secret.write_text(str(mqtt.get("password", "")), encoding="utf-8")
        lines += ["[[mqtt.bridge]]", f"url = {json.dumps(address)}"]
        lines += [f"topics = {json.dumps(options.get('topics', ['#']))}"]
        if mqtt.get("username"):
            lines += [f"username = {json.dumps(mqtt['username'])}"]
            lines += [f"password_file = {json.dumps(str(secret))}"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run both; when one ends, or the Supervisor says so, end the other and wait for it."""
    options = json.loads((DATA / "options.json").read_text(encoding="utf-8"))
    (DATA / "likewise.toml").write_text(configuration(options, mqtt_service()), encoding="utf-8")
    if not (DATA / "broker").exists():  # the broker listens beyond its container to nobody without one
        subprocess.run(TOKEN, check=True)  # which prints it into the add-on's log, once
    running = [subprocess.Popen(command) for command in (BROKER, DASHBOARD)]

    def stop(*_: object) -> None:
        for process in running:
            process.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    os.wait()
    stop()
    return max((process.wait() for process in running), default=0)


if __name__ == "__main__":
    raise SystemExit(main())
