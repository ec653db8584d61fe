"""Experiments with Likewise: what its measures and engines achieve on published data, and what is fitted offline.

Rooms: `thematic` and `hybrid` (the papers' experiments), `vendor` (the project's own benchmark), `relatedness` and
`sameness` (people's judgements), `units`, `demand` and `near_misses` (answers compared with exact ones), `datasets`,
`charts`, `report` (one page with all), `fitting` (what is shipped) and `commands` (`likewise eval`, `likewise data`).
`ranking` has the figures they share, `progress` the bar. Algorithms themselves are part of `likewise.matching`.
"""
