"""Turn an edge's items into entries of the log: each once, in order, with the edge's position.

Items up to the sequence that is stored are known and skipped. One that cannot be read, that is of a source the edge may
not speak for, that came in a circle, or whose id is another event's is refused with words; the others are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from likewise.api.edge_frames import EdgeItem, RejectedItem
from likewise.broker.log.edges.connections import EdgePosition
from likewise.broker.log.entries import Entry, batch_entries, set_source
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.identities import SourceIdentities
from likewise.errors import LikewiseError, RoutingLoop
from likewise.formats.json.batches import decode_each


class DecodedItems(NamedTuple):
    """The entries of items, by sequence, and the refused items."""

    entries: list[tuple[int, Entry]]
    refused: list[RejectedItem]


class EdgeIngest:
    """Decodes what one edge sends; `here` is this broker's own name, if it is an edge, too."""

    def __init__(
        self, tenant: int, edge: str, epoch: str, access: Access, here: str = "", names: SourceIdentities | None = None
    ) -> None:
        self._tenant = tenant
        self._edge = edge
        self._epoch = epoch
        self._access = access
        self._here = here
        self._names = SourceIdentities() if names is None else names

    def noted(self, sequence: int) -> EdgePosition:
        """Return the record, for a commit, that everything up to a sequence is stored."""
        return EdgePosition(self._tenant, self._edge, self._epoch, sequence)

    def read(self, items: Sequence[EdgeItem], expires_at: int | None) -> DecodedItems:
        """Decode items into entries: all at once, or one by one if any is wrong."""
        try:
            entries = batch_entries(self._tenant, decode_each([bytes(item.event) for item in items]), expires_at)
        except LikewiseError:
            entries = None
        decoded = DecodedItems([], [])
        for place, item in enumerate(items):
            try:
                entry = (
                    entries[place]
                    if entries is not None
                    else batch_entries(self._tenant, decode_each([bytes(item.event)]), expires_at)[0]
                )
                decoded.entries.append((item.sequence, self._checked(item, entry)))
            except LikewiseError as error:
                decoded.refused.append(RejectedItem(item.sequence, error.code, str(error)[:500]))
        return decoded

    def _checked(self, item: EdgeItem, entry: Entry) -> Entry:
        if not any(map(self._access.covers, self._names.former(entry.source))):  # as its source was called before
            self._access.require_source(entry.source)
        if self._here and self._here in item.hops:
            raise RoutingLoop(
                f"the event {entry.id!r} came over {self._here!r} before; let no two brokers dial each other"
            )
        entry.hops, entry.first_received = (*item.hops, self._edge), item.received or None
        became = self._names.sources_of(entry.source)
        if self._names.retired_at(entry.source) is not None and len(became) == 1:
            set_source(entry, became.pop())  # it waited at the edge when its source was renamed
        return entry


Note = Callable[[int], EdgePosition]


def with_note(entries: Sequence[tuple[int, Entry]], upto: int, note: Note) -> list[Entry]:
    """Return entries, the last one with the edge's new position."""
    made = [entry for _, entry in entries]
    made[-1].progress = note(upto)
    return made
