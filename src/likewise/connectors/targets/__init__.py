"""Targets: where matches of a subscription go out by themselves (docs/guides/targets.md).

`target` is the seam: something that takes a `Parcel` and returns when the outside has it. `webhook` and `mqtt` are two
of them, `kinds` makes one of its settings, `settings` checks these before they are kept and shows them without their
secrets. `parcels` makes what is sent, by `templates` where one is set; `signing` signs it, `posting` posts it;
`networks` says which addresses may be reached. `sender` brings what waits to one target, in order, again and again
until it is accepted; `senders` runs one for each.
"""
