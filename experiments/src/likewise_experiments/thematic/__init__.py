"""The thematic paper's experiment (Hasan and Curry 2014, section 5).

`experiment` is the whole; `load` makes events and subscriptions from `seed_events` by `expansion` with one of the
`thesauri`; `themes` draws pairs of themes; `sub_experiment` is one cell, on `load_arrays` and
`mapping_kernels`; `grid` runs them on Spark or here; `throughput`, `report` and `heat_maps` say the rest. `letter` is
the paper's own matcher, which `departures` leads to ours one step at a time; `measures` ranks the load without themes,
with `rewriting` as the baseline; `cold_start` looks at the first events alone.
"""
