"""The measures: `esa`, `thematic`, `latent`, `jcn`, `combine`, and the rooms `names` and `embeddings`.

`inverted` turns the asked side of a comparison by document, once.
"""
