"""One page with every evaluation: `sections` hold what was found, `parts` find it, `everything` runs them, `page` shows it."""
