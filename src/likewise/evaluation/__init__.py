"""Evaluation: what measures and engines achieve on published data.

Rooms: `thematic` and `hybrid` (the papers' experiments), `vendor` (the project's own benchmark), `relatedness`
(people's judgements), `charts`, and `report` (one page with all). `ranking` has the figures they share, `progress` the
bar.
"""
