"""What is ordered by what stands below what: `topic_filters` over topics, and declared `types` for `is-a`."""
