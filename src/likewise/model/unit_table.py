"""The everyday units under their former name; see `likewise.model.units`."""

from likewise.model.units.everyday import ROWS

__all__ = ["ROWS"]
