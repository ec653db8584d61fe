"""Semantics of terms: spaces of documents, measures of relatedness, and concepts behind names and values.

`measure` is the seam; `space` is a corpus with its measures, found by the `library`; `interpretation` is what a matcher
goes by; `feedback` lies over a measure; `calibration` makes scores comparable; `nearest` shows. Rooms:
`text` (text to tokens), `spaces` (folders), `vectors`, `wordnet`, `measures`.
"""
