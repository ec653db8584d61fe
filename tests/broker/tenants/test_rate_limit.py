"""A publisher that is refused for its rate learns when to come again."""

from __future__ import annotations

import re

import pytest

from likewise.broker.tenants.rate_limit import TokenBucket
from likewise.errors import BacklogExceeded, RateExceeded


@pytest.mark.parametrize("rate", [0.3, 7.0, 100.0, 1_000.0, 30_000.0])
def test_who_comes_again_after_the_seconds_in_the_message_is_admitted(rate: float) -> None:
    """Also where the wait is shorter than the tenth of a second that the message can name."""
    now = [0.0]
    bucket = TokenBucket(rate, lambda: now[0])
    bucket.take(max(1, int(rate)))
    with pytest.raises(RateExceeded) as refused:
        bucket.take(max(1, int(rate / 3)))
    [seconds] = re.findall(r"come again in (\d+\.\d) s$", str(refused.value))
    assert 0 < refused.value.retry_after <= float(seconds) < refused.value.retry_after + 0.1 + 1e-6
    now[0] += float(seconds)
    bucket.take(max(1, int(rate / 3)))


def test_a_full_backlog_names_no_shorter_wait_than_it_takes() -> None:
    """A wait of 2.04 s is not said to be one of 2.0 s."""
    error = BacklogExceeded("entries wait to be matched", waiting=12, allowed=10, retry_after=2.04)
    assert str(error) == "12 entries wait to be matched already, at most 10 may; come again in 2.1 s"
