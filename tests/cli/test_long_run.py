"""A long run leaves what is loaded out of collections, and gives it back."""

from __future__ import annotations

import gc
import sys

from likewise.cli.terminal.long_run import TURN_SECONDS, YOUNG, long_run


def test_what_is_loaded_is_left_out_of_collections_until_the_end() -> None:
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    try:
        with long_run():
            assert gc.get_freeze_count() > 1_000
            assert gc.get_threshold()[0] == YOUNG
            assert abs(sys.getswitchinterval() - TURN_SECONDS) < 1e-6
        assert gc.get_freeze_count() == 0
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)
