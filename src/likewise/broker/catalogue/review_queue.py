"""Rank the questions about attributes by how many deliveries a person's answer would change.

An attribute that a subscription asks for with the probability p is delivered, or not, wrongly in about min(p, 1 - p)
of the cases. Times the events it stands in a day, and summed over the subscriptions that ask, that is how many
deliveries a day a person's word would set right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from likewise.api.sources import ReviewQuestion
from likewise.broker.catalogue.attribute_meanings import AttributeMeanings, observed_term
from likewise.broker.catalogue.observations import ObservedName
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.reference.terms import predicate_attribute_term, theme_of
from likewise.model import Condition, fold
from likewise.semantics.measure import Term

MOST_WORDS: Final = 2_000  # those seen most often
MOST_TERMS: Final = 2_000  # those asked for most often
DAY: Final = 86_400.0
LEAST: Final = 0.02  # what is less doubtful is no question


def requested_terms(tenant: Tenant) -> dict[Term, int]:
    """Count the subscriptions that ask for each relaxed attribute."""
    counts: dict[Term, int] = {}
    for stored in tenant.live():
        body = stored.subscription.body
        if isinstance(body, Condition):
            theme = theme_of(stored.subscription.themes)
            for term in {predicate_attribute_term(p, theme) for p in body.predicates() if p.attribute_relaxed}:
                counts[term] = counts.get(term, 0) + 1
    return counts


def useful_questions(
    tenant: Tenant, words: Sequence[ObservedName], understanding: AttributeMeanings, now: int, since: int, limit: int
) -> list[ReviewQuestion]:
    """Return the questions whose answers would change most deliveries; corrected attributes are left out."""
    corrected = {fold(each.attribute) for each in tenant.sources.corrections.values()}
    left = sorted((w for w in words if fold(w.attribute) not in corrected), key=lambda w: -w.times)[:MOST_WORDS]
    requested = requested_terms(tenant)
    terms = sorted(requested, key=lambda term: -requested[term])[:MOST_TERMS]
    if not left or not terms:
        return []
    interpretation = tenant.stateless.interpretation
    observed = [observed_term(word.attribute, word.unit, word.kinds) for word in left]
    scores = interpretation.measure.matrix(terms, observed)
    likely = interpretation.probability_curve("conditions").each(np.asarray(scores, np.float32))
    doubt = np.minimum(likely, 1 - likely)
    doubt[doubt < LEAST] = 0
    weight = np.array([requested[term] for term in terms], np.float64)
    span = max((now - since) / 1e6, 60.0)
    daily = np.array([word.times / span * DAY for word in left])
    gain = (weight[:, None] * doubt).sum(0) * daily
    order = [place for place in np.argsort(-gain, kind="stable").tolist() if gain[place] > 0][:limit]
    meanings = understanding.of([left[place] for place in order])
    made = []
    for place, meaning in zip(order, meanings, strict=True):
        word, column = left[place], likely[:, place]
        best = [at for at in np.argsort(-column).tolist() if doubt[at, place] > 0][:5]
        proposed = meaning.means or terms[best[0]].text
        made.append(
            ReviewQuestion(
                word.attribute,
                word.unit,
                round(float(gain[place]), 2),
                word.sources,
                proposed,
                meaning.probability,
                tuple((terms[at].text, round(float(column[at]), 3)) for at in best),
            )
        )
    return made
