"""The covering forest (CUPUS, section 4.4.1): `engine`, its `nodes`, and the `predicate_table` it tests with."""
