"""The page of sources: `panel` lists devices and shows one, `panel` makes lines and tables of it, `completion`
offers the stream's own words while somebody types a subscription.
"""
