"""The measures: `esa`, `thematic`, `latent`, `jcn`, `combine`, and the rooms `names` and `embeddings`.

`asked_side` and `inverted` make one side of a comparison ready once.
"""
