"""The tests; a package of its own, so that another distribution's `tests` never stands in its place."""
