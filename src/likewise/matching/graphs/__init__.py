"""Basic Graph Patterns: the `engine` joins triples; the `triple_automaton`, with its `triple_states` and table, finds
single patterns.
"""
