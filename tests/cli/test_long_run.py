"""A long run leaves what is loaded out of collections, and gives it back."""

from __future__ import annotations

import gc

from likewise.cli.terminal.broker_process import YOUNG, tune_gc


def test_what_is_loaded_is_left_out_of_collections_until_the_end() -> None:
    thresholds = gc.get_threshold()
    try:
        with tune_gc():
            assert gc.get_freeze_count() > 1_000
            assert gc.get_threshold()[0] == YOUNG
        assert gc.get_freeze_count() == 0
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
