"""The dashboard: what goes on at a broker, and why, in a browser. It speaks to the broker over HTTP alone.

Needs the extra `dashboard`. `likewise dashboard --broker URL` serves it.
"""
