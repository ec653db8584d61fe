"""Matching: find the subscriptions that an event matches, and explain why.

`matcher` is `likewise.Matcher`; `matcher_state` has its subscriptions, and views of them for other threads.
`engine` is the interface of every engine, `registry` chooses one for each kind; `condition_index` finds conditions
for engines with windows; `results` merges the results of engines; `storage` saves a matcher to disk; `cache_use`
counts hits of caches; `warm_up` compiles every kernel ahead. The packages:

    reference       the semantics that every engine must equal, as pure functions
    oracle          the reference engine, made of them
    bitmap          exact conditions                forest          the covering forest, without compiled kernels
    thematic        relaxed conditions              covering        containment and overlap of conditions
    hybrid          statements about RDF events     topk            the k best of a window
    interests       interest vectors                graphs          patterns over triples
    graphs_nearby   patterns near a triple          classical       algorithms for comparison only
    alerts          absence, duration, thresholds   demand          what an edge must send
    explain         reasons of a match              topics          topic filters of MQTT
"""
