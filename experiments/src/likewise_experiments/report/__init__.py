"""One page with every evaluation: `parts` find the figures, `sections` hold them, `everything` runs, `page` shows."""
