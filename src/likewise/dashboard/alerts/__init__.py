"""What stands now: `rankings` are the best of each window, `alerts` the keys that are on and how far the others are."""
