"""Run the steps of deploy/Dockerfile in a clean Debian root, where there is no Docker engine: as root,

    python tools/image_steps.py FOLDER

makes a root in FOLDER with debootstrap (once), then does what COPY, ENV, WORKDIR and RUN say, in order, inside it, and
at the end starts what ENTRYPOINT and CMD name as the image's user until /readyz answers. The root's Python is Debian's;
everything else is the image's own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SUITE, PACKAGES = "bookworm", "python3,python3-venv,ca-certificates"
KEPT = ("PIP_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")  # how this machine reaches its index


def steps(text: str) -> Iterator[tuple[str, str]]:
    """The instructions of a Dockerfile.

    >>> list(steps("# x\\nRUN a \\\\\\n  b\\nUSER c\\n"))
    [('RUN', 'a  b'), ('USER', 'c')]
    """
    lines = re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^\s*#.*\n", "", text)).splitlines()
    for line in filter(str.strip, lines):
        name, _, rest = line.partition(" ")
        yield name.upper(), rest.strip()


def run(root: Path, said: str, environment: dict[str, str], folder: str, user: str) -> None:
    """Run a command of the shell inside the root."""
    inner = f"cd {shlex.quote(folder)} && {said}"
    subprocess.run(["chroot", f"--userspec={user}", str(root), "/bin/sh", "-c", inner], env=environment, check=True)


def home_of(root: Path, user: str) -> str:
    """The folder of a user of the root."""
    users = (line.split(":") for line in (root / "etc/passwd").read_text(encoding="utf-8").splitlines())
    return next(fields[5] for fields in users if fields[0] == user)


def prepare(root: Path) -> None:
    """A clean root, made once."""
    if not (root / "usr/bin/python3").exists():
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)], check=True)
    for line in (root / "etc/passwd").read_text(encoding="utf-8").splitlines():
        if line.split(":")[2] == "10001":  # the image's user, of an earlier run
            subprocess.run(["chroot", str(root), "/usr/sbin/userdel", line.split(":")[0]], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    for name in KEPT[1:]:
        if (file := os.environ.get(name)) and Path(file).is_file():
            (root / file.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / file.lstrip("/"))
    if Path("/etc/pip.conf").exists():
        shutil.copy("/etc/pip.conf", root / "etc/pip.conf")


def build(root: Path) -> tuple[dict[str, str], str, str, list[str]]:
    """Do every step; what the image's process starts with: environment, folder, user, command."""
    environment = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    environment |= {name: os.environ[name] for name in KEPT if name in os.environ}
    folder, user, command = "/", "root", []
    for name, said in steps((PROJECT / "deploy/Dockerfile").read_text(encoding="utf-8")):
        print(f"== {name} {said[:100]}", flush=True)
        match name:
            case "ENV":
                environment |= dict(word.split("=", 1) for word in shlex.split(said))
            case "WORKDIR":
                folder = said
                (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "COPY":
                *sources, target = shlex.split(said)
                for source in sources:
                    place = root / target.lstrip("/")
                    if (PROJECT / source).is_dir():
                        ignored = shutil.ignore_patterns("__pycache__")
                        shutil.copytree(PROJECT / source, place, dirs_exist_ok=True, ignore=ignored)
                    else:
                        shutil.copy(PROJECT / source, place / source if target.endswith("/") else place)
            case "RUN":
                run(root, said, environment, folder, user)
            case "USER":
                user = said
                environment["HOME"] = home_of(root, user)  # as an engine sets it
            case "ENTRYPOINT" | "CMD":
                command += json.loads(said)
            case "FROM" | "EXPOSE" | "VOLUME" | "HEALTHCHECK" | "STOPSIGNAL":
                pass
            case _:
                raise SystemExit(f"{name} is an instruction this does not know")
    return environment, folder, user, command


def serve(root: Path, environment: dict[str, str], folder: str, user: str, command: list[str]) -> None:
    """Make the first token, without which it listens to nobody; start the process until it is ready, then stop it."""
    data = command[command.index("--data") + 1]
    if not (root / data.lstrip("/")).exists():
        token = shlex.join([command[0], "admin", "token", data, "--name", "first", "--scope", "admin"])
        run(root, f"{token} > /dev/null", environment, folder, user)
    asked = [*command, "--port", "18787"]
    inner = f"cd {folder} && exec {shlex.join(asked)}"
    begun = time.monotonic()
    process = subprocess.Popen(["chroot", f"--userspec={user}", str(root), "/bin/sh", "-c", inner], env=environment)
    try:
        while True:
            if process.poll() is not None:
                raise SystemExit(f"it ended with {process.returncode}")
            try:
                with urllib.request.urlopen("http://127.0.0.1:18787/readyz", timeout=2) as answer:
                    print(f"ready after {time.monotonic() - begun:.1f} s: {answer.read().decode()}")
                    return
            except OSError:
                if time.monotonic() - begun > 300:
                    raise SystemExit("it was not ready within five minutes") from None
                time.sleep(0.5)
    finally:
        process.terminate()
        print(f"stopped with {process.wait(60)}")


def main() -> int:
    """All of it."""
    root = Path(sys.argv[1]).resolve()
    prepare(root)
    began = time.monotonic()
    serve(root, *build(root))
    size = subprocess.run(["du", "-sm", str(root / "opt")], capture_output=True, text=True, check=True).stdout.split()[
        0
    ]
    print(f"every step in {time.monotonic() - began:.0f} s; /opt has {size} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
