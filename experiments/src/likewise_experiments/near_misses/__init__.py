"""Does "why not?" name the reading that was asked about?

`generated` and `city` make cases, `experiment` counts answers.
"""
