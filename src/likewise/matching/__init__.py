"""Matching: which subscriptions an event meets, and why.

`matcher` is `likewise.Matcher`, `matcher_queries` what it says without changing, `matcher_state` what it holds;
`engine` is the seam that every engine fits, `registry` chooses one for each kind; `condition_index` finds conditions
for engines with windows; `results` merges what engines find, `storage` keeps it on disk, `snapshot` shows it to other
threads, `cache_use` counts what was remembered, `warm_up` compiles every kernel ahead. The rooms:

    plain           what every engine must equal, as pure functions
    naive           the oracle, made of them
    bitmap          exact conditions                forest          the covering forest, without compiled kernels
    thematic        relaxed conditions              covering        does one condition contain another, or meet it?
    hybrid          statements about RDF events     topk            the k best of a window
    interests       interest vectors                graphs          patterns over triples
    graphs_nearby   patterns near a triple          classical       what stands for comparison only
    explaining      why and why not
"""
