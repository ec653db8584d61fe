"""Where streams come from: an inlet plans what a batch reads, on the driver, as `ranges`, and a worker reads each.

There are `files` and `kafka`.
"""
