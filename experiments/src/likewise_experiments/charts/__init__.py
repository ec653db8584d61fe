"""Pictures of results: `line_charts`, and `pictures`, which writes them as files or for a page."""
