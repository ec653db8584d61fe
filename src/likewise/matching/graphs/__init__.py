"""Basic Graph Patterns: `engine` and `joins`; single patterns by the `triple_automaton`, its `triple_states`
and table, one triple alone by `triple_look_up`.
"""
