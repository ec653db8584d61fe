"""A simulated city: devices of many vendors, each with names, nesting and units of its own.

Nothing in it is copied from a product: vendors, places and readings come from a seeded generator. It is
what `likewise demo --city` publishes, and a source of varied events for anybody's tests.
"""

from __future__ import annotations

from likewise.demo.simulation import City, Device, Report, clock_of
from likewise.demo.subscriptions import WANTED, Wanted
from likewise.demo.world import Place, World

__all__ = ["WANTED", "City", "Device", "Place", "Report", "Wanted", "World", "clock_of"]
