"""Questions that change nothing: `questions` (what would match, and why), `activity` (what goes on), `history` (again
from a number on).
"""
