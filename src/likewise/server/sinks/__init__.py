"""Targets: where matches of a subscription go out by themselves (docs/guides/targets.md).

`target` is the seam: something that takes a `Parcel` and returns when the outside has it. `webhook`, `mqtt` and `email`
are three of them, `kinds` makes one of its settings, `settings` checks these before they are kept and shows them
without their secrets. `payloads` makes what is sent, by `templates` where one is set; `signing` signs it, `http_post`
posts it, `smtp` submits mail. `networks` says which addresses may be reached, `resolver` looks them up, `limits` bounds
how much is open. `sender` brings what waits to one target, in order, again and again until it is accepted; `senders`
runs one for each.
"""
