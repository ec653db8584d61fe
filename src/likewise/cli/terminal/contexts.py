"""Contexts: brokers by a name of one's own, with the token that opens each.

They are kept in one file of the user's, which nobody else may read. A token goes to the address it was kept for, and to
no other.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import ArtefactDamaged, InputError

VARIABLE: Final = "LIKEWISE_CONTEXTS"


class Context(msgspec.Struct, frozen=True, omit_defaults=True):
    """A broker's address, and what opens it."""

    address: str
    token: str = ""
    ca: str = ""


class Contexts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every context by its name, and the one in use ('' for none)."""

    contexts: dict[str, Context] = {}
    current: str = ""

    def named(self, name: str) -> Context:
        """Return a context by its name."""
        if name not in self.contexts:
            known = ", ".join(sorted(self.contexts)) or "none yet; make one with `likewise context add`"
            raise InputError(f"there is no context {name!r}; known: {known}")
        return self.contexts[name]


def contexts_file() -> Path:
    """Return the file of contexts: LIKEWISE_CONTEXTS, else one in the user's configuration folder."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("likewise") / "contexts.json"


def read_contexts() -> Contexts:
    """Read the stored contexts; none if there is no file yet."""
    path = contexts_file()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Contexts)
    except FileNotFoundError:
        return Contexts()
    except msgspec.MsgspecError as error:
        raise ArtefactDamaged(f"{path} holds no contexts: {error}; mend it or remove it") from None


def write_contexts(contexts: Contexts) -> None:
    """Keep contexts, whole or not at all, for this user's eyes only."""
    path = contexts_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(contexts)) + b"\n")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def resolve_context(name: str | None, address: str | None) -> Context:
    """Return the context that options name: the address given, else the context given, else the one in use."""
    from likewise.client.endpoint import ADDRESS, broker_address

    stored = read_contexts()
    if name is not None and address is not None:
        raise InputError("give a context or an address, not both")
    if name is None and address is not None:
        url = broker_address(address)
        same = stored.contexts.get(stored.current)
        return same if same is not None and same.address == url else Context(url)
    if name is None and not stored.current:
        return Context(ADDRESS)
    return stored.named(name or stored.current)
