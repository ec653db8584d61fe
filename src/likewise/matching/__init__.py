"""Matching: one file an engine, and `naive`, the oracle of them all.

The door
    matcher             `likewise.Matcher`: deals out ordinals; `matcher_state` is what it holds, `routing` chooses
                        engines, `batch_results` merges what they find, `saving` and `feedback_files` keep it on disk,
                        `snapshot` shows it to other threads,
                        `judging` takes feedback, `cache_use` counts what was remembered
    engine              the seam every engine fits
    explain             why and why not; `explain_condition` and `explain_kinds` do the work, `evidence` says what made
                        a score, `grid` is the whole matrix

Plain evaluation, what everything else must equal
    naive               the oracle; from `operators` (what each operator means), `terms`, `relaxed`, `conditions`,
                        `mappings` and `murty`; `statements` with `rdf_terms`; `graph_naive`; `interest_naive`;
                        `windows_naive`, `window_steps`, `window_files` and `scoring`

Exact conditions
    bitmap              the production engine: `bitmap_block`, `bitmap_tail`, `bitmap_kernels` with `dense_kernels`,
                        `listed_kernels` and `listing_kernels`, `clustering`, `block_layout`, `codes`,
                        `condition_rows`, `event_points` and `column_points`, `interval_bitmap`, `text_index`,
                        `residual`; memory by `raw_memory` and `reused_array`
    forest              the covering forest: `forest_nodes`; covering itself: `covering`, `implication`,
                        `compatibility`, `stated_intervals`
    sgim                statistical groups: `sgim_interests`; it shares `predicate_table` with the forest

Interest vectors
    interest_bitmap     the production engine: `interest_bitmap_kernels`; all share `interest_vectors`
    tree, rapid, rapid_modified     search trees: `trie`, `trie_kernels`

Approximate conditions and statements
    thematic            the production engine: `asked`, `relatedness_rows`, `posting_lists`, `number_entries`,
                        `conjunction_table`, `thematic_kernels`, `assignment_kernels`
    hybrid              statements about RDF events

Windows
    topk                `window_family`, `topk_kernels`, `region_kernels`, `topk_files`

Linked Data
    graph_pattern       joins: `graph_join`
    triple_automaton    single patterns: `triple_states`, `triple_automaton_table`, `triple_automaton_kernels`
    mvr_tree, rtree_index           patterns near a triple: `locality`, `pattern_space`, `pattern_space_kernels`

`growing` holds arrays that several engines append to.
"""
