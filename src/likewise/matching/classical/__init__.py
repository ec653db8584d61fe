"""Algorithms for comparison: `sgim` and `sgim_interests`, statistical groups (Mohapatra et al. 2013)."""
