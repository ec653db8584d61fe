"""Columns of published tables, labelled by hand: how many requested columns are found, and how many found are right."""
