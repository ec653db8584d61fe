"""The page of sources: `panel` lists devices and shows one, `drawing` makes lines and tables of it, `completing` offers
the stream's own words while somebody types a subscription."""
