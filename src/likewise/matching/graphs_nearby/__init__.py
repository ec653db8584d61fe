"""Patterns near a triple: `locality` gives coordinates, `pattern_space` verifies, `mvr_tree` and `rtree_index` find."""
