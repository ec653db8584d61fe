"""Meaning: spaces, identifier splitting and the measures of relatedness."""
