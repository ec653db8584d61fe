"""Names and payloads of 32 domains: in form, and scored."""

from __future__ import annotations

import likewise as lw
from likewise_experiments.names.experiment import pairs, payload_subscriptions, payloads, score_names


def test_the_pairs_and_payloads_are_in_form() -> None:
    """Labels, ids that exist, texts that parse, domains in one set alone."""
    subscriptions = payload_subscriptions()
    for id, text in subscriptions.items():
        lw.parse(text, id=id)
    domains = {part: {each.domain for each in pairs(part)} for part in ("dev", "test")}
    assert len(domains["dev"]) == len(domains["test"]) == 16
    assert not domains["dev"] & domains["test"]
    for part in ("dev", "test"):
        assert {each.label for each in pairs(part)} == {"0", "1"}
        for payload in payloads(part):
            assert set(payload.yes) | set(payload.unclear) <= subscriptions.keys()
            assert not set(payload.yes) & set(payload.unclear)


def test_what_is_found_does_not_fall() -> None:
    """Over the domains for development, with room for single names."""
    scores = score_names("dev")
    apart, found = (sum(getattr(each, field) for each in scores) for field in ("apart", "found"))
    right, wrong = (sum(getattr(each, field) for each in scores) for field in ("right_matches", "wrong_matches"))
    assert apart >= 290
    assert found >= 150
    assert right / (right + wrong) >= 0.75
