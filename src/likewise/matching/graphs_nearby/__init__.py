"""Patterns near a triple: `mvr_tree`, `rtree_index` find, `pattern_space` verifies, `engine` serves subscriptions."""
