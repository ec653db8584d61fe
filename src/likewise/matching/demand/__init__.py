"""Demand: what a source is asked for, as exact filters that need neither a space nor an index where it stands.

`offers` says what events of a source may look like, by its announcement and what is known about it; `compiler` makes
filters of a subscription against them; `filters` is what is sent, and how an event is looked at there; `scores` keeps
relatedness, and `scored` gives it to who decides without a space; `index` keeps the demand of many sources up to date;
`access` finds whom a change concerns; `expected_keys` says whose silence is an absence by what it announced.
"""
