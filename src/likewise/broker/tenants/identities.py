"""Resolve source names: stable ids where they were announced, and earlier names as aliases.

A device is first known by a name that somebody can change: `zigbee2mqtt/kitchen`. When its system announces a stable id
(`0x00158d0001a2b3c4`), an entry of the log says so, and what the device sends from there on is of that id. The names of
before stay aliases: what stands in the log under them is found, and an event that comes again is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from likewise.broker.log.catalogue.records import Alias, Basis
from likewise.broker.log.entries import RenameSourceCommand
from likewise.defaults import CATALOGUE_SOURCES

_NONE: Final[Mapping[str, bool]] = {}
_RANK: Final[dict[str, int]] = {"": 0, "discovery": 1, "device": 2}  # who is believed before whom


class IdentityAnnouncement(NamedTuple):
    """An announcement that a name stands for a device with a stable id.

    `basis` is who says so: the device's own system, or Home Assistant's discovery. `label` is what people
    call it.
    """

    name: str
    id: str
    label: str = ""
    basis: Basis = "device"


class SourceIdentities:
    """The names of a tenant's sources, as the log has them and with announcements that are being written.

    Any thread may look; what it looks at is replaced, never changed.

    >>> known = SourceIdentities()
    >>> [made] = known.learn([IdentityAnnouncement("zigbee2mqtt/kitchen", "0x01", "kitchen")])
    >>> made.before, made.sources, known.resolve("zigbee2mqtt/kitchen"), known.resolve("zigbee2mqtt/attic")
    ('zigbee2mqtt/kitchen', ('0x01',), '0x01', 'zigbee2mqtt/attic')
    >>> known.learn([IdentityAnnouncement("zigbee2mqtt/kitchen", "0x01", "kitchen")])
    []
    """

    def __init__(self) -> None:
        self.version = 0  # grows whenever a name may stand for another source
        self.labels: dict[str, str] = {}
        self._names: dict[str, IdentityAnnouncement] = {}
        self._former: dict[str, dict[str, bool]] = {}  # by source: its names of before, whether nobody shares one
        self._aliases: dict[str, set[str]] = {}  # by name of before: the sources it became
        self._retired: dict[str, int] = {}
        self._recorded: dict[str, Alias] = {}
        self.prefixes: set[str] = set()  # names that a device's own system announced: its topics begin so

    def resolve(self, name: str) -> str:
        """Return the source that a name stands for: a stable id that was announced, else the name itself."""
        announcement = self._names.get(name)
        return name if announcement is None else announcement.id

    def learn(self, namings: Iterable[IdentityAnnouncement]) -> list[RenameSourceCommand]:
        """Take in what was announced; the commands that say so in the log, none for what is known.

        What is returned counts at once, so that the next message of the device has its id; `forget` takes back what
        could not be written.
        """
        made: list[RenameSourceCommand] = []
        for naming in namings:
            before = self._names.get(naming.name)
            if before is None and len(self._names) >= CATALOGUE_SOURCES:
                continue
            label = self.labels.get(naming.id)
            if before is not None and _RANK[before.basis] > _RANK[naming.basis]:
                continue
            if (before is None and naming.name == naming.id) or (before is not None and before.id == naming.id):
                if naming.label and naming.label != label:
                    made.append(RenameSourceCommand(naming.id, (naming.id,), naming.label, naming.basis))
            else:
                made.append(RenameSourceCommand(naming.name, (naming.id,), naming.label, naming.basis))
                if before is not None and before.basis == "discovery" and naming.basis != "discovery":
                    # one device by two ids: the one that its own system says holds, and takes over the other's state
                    made.append(RenameSourceCommand(before.id, (naming.id,), naming.label, naming.basis))
            self._note(naming.name, naming)
        for command in made:
            self._know_former(command.before, command.sources)
        return made

    def _note(self, name: str, naming: IdentityAnnouncement) -> None:
        if name == naming.id:
            if self._names.pop(name, None) is not None:
                self.version += 1
            self.prefixes.discard(name)
        elif self._names.get(name) != naming:
            self._names[name] = naming
            (self.prefixes.add if naming.basis == "device" else self.prefixes.discard)(name)
            self.version += 1
        if naming.label:
            self.labels[naming.id] = naming.label

    def forget(self, command: RenameSourceCommand) -> None:
        """Take back what `learn` noted and the log could not be told."""
        if self._names.pop(command.before, None) is not None:
            self.version += 1
        self.prefixes.discard(command.before)
        for source in command.sources:
            self.labels.pop(source, None)

    def apply(self, command: RenameSourceCommand, at: int) -> Alias:
        """Hold what an entry of the log says that came at a moment (µs); the row to keep of it."""
        earlier = tuple(sorted(self.sources_of(command.before) - set(command.sources)))
        made = Alias(command.sources, command.label, command.basis, earlier, at)
        self.restore(command.before, made)
        return made

    def restore(self, name: str, alias: Alias) -> None:
        """Hold an alias, as the log or a row of the catalogue says it."""
        self._recorded[name] = alias
        if alias.basis and len(alias.sources) == 1:
            self._note(name, IdentityAnnouncement(name, alias.sources[0], alias.label, alias.basis))
        self._know_former(name, (*alias.sources, *alias.earlier))
        if name not in alias.sources:
            self._retired[name] = alias.at
        else:
            self._retired.pop(name, None)
        self.version += 1

    def _know_former(self, name: str, sources: Iterable[str]) -> None:
        became = {*self._aliases.get(name, ()), *(source for source in sources if source != name)}
        if not became:
            return
        self._aliases[name] = became
        for source in became:
            self._former[source] = {**self._former.get(source, {}), name: len(became) == 1}

    def __bool__(self) -> bool:
        return bool(self._names or self._former)

    def names_of(self, name: str) -> set[str]:
        """Return every name under which the log may hold what a source sent: its own, and those of before."""
        source = self.resolve(name)
        return {name, source, *self.former(source)}

    def history_of(self, name: str) -> set[str]:
        """Return the names under which the log holds what a source sent, without those that others had, too."""
        source = self.resolve(name)
        return {name, source, *(before for before, alone in self.former(source).items() if alone)}

    def former(self, source: str) -> Mapping[str, bool]:
        """Return the names that a source had before; False for one that other sources had, too."""
        return self._former.get(source, _NONE)

    def aliases(self) -> dict[str, Alias]:
        """Return what the log says of each name that was given up."""
        return dict(self._recorded)

    def is_recorded(self, command: RenameSourceCommand) -> bool:
        """Return whether a command says what the log has said."""
        alias = self._recorded.get(command.before)
        return alias is not None and (alias.sources, alias.label, alias.basis) == (
            command.sources,
            command.label,
            command.basis,
        )

    def retired_at(self, name: str) -> int | None:
        """Return when a name was given up for others (µs); None if it is a source's own."""
        return self._retired.get(name)

    def sources_of(self, name: str) -> set[str]:
        """Return the sources that a name of before became; none if it is nobody's."""
        return set(self._aliases.get(name, ()))
