"""Does "why not?" name the reading that was asked about? `generated` makes cases, `experiment` counts answers."""
