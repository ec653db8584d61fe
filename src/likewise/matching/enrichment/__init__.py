"""The annotation step: what is known about an event is laid over it before any engine sees it.

`keys` finds the rows that hold for an event, `step` does what a row says, `step` finds rows whose
relaxed key is meant, `step` is all of it for one matcher. Engines know nothing of it, so what they keep stays keyed by
terms.
"""
