"""The k best of sliding windows: `engine`, a `family` for those that look alike, and kernels."""
