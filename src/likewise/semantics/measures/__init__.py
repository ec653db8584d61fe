"""Measures of relatedness: `esa`, `thematic`, `latent`, `jcn`, `combine`, `sameness`, and packages `names` and
`embeddings`.

`inverted` turns the asked side of a comparison by document, once.
"""
