"""A simulated city: devices of many vendors, each with names, nesting and units of its own.

Nothing in it is copied from a product: vendors, places and readings come from a seeded generator. It is
what `likewise demo --city` publishes, and a source of varied events for anybody's tests.
"""

from __future__ import annotations

from likewise.demo.simulation import DEMO_SUBSCRIPTIONS, City, DemoSubscription, Device, Report, due_reports
from likewise.demo.world import CityPlace, World

__all__ = ["DEMO_SUBSCRIPTIONS", "City", "CityPlace", "DemoSubscription", "Device", "Report", "World", "due_reports"]
