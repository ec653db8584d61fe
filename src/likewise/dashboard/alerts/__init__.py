"""Rankings and alerts now: `rankings` are the best of each window, `alerts` the state of each key."""
