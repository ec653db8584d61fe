"""Targets, to which matches of a subscription are sent (docs/guides/targets.md).

- `target` is the interface: it takes a `Parcel` and returns when the receiver has it. `webhook`, `mqtt` and `email`
  implement it; `signing` signs webhooks.
- `sender` runs one task for each target: it renders matches (`messages`, `templates`), retries and dead-letters.
- `settings` checks settings and hides their secrets; `networks` restricts the reachable addresses, `resolver` looks
  names up.
"""
