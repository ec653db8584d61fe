"""Sources as tables and small lines."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from likewise.api.sources import AttributeShown, SourceShown, UsefulQuestion
from likewise.dashboard.view_state import clock

STATES = {
    "awake": ("lw-good", "awake"),
    "silent": ("lw-bad", "silent"),
    "resting": ("lw-soft", "asleep"),
    "announced": ("lw-soft", "announced, not heard yet"),
}


def line(numbers: Sequence[float], width: int = 84, height: int = 18) -> str:
    """Numbers as a small line; nothing if there are too few.

    >>> line([1.0]), line([1.0, 2.0]).startswith("<svg")
    ('', True)
    """
    if len(numbers) < 2:
        return ""
    low, high = min(numbers), max(numbers)
    span = (high - low) or 1.0
    step = (width - 4) / (len(numbers) - 1)
    points = " ".join(
        f"{2 + place * step:.1f},{height - 2 - (each - low) / span * (height - 4):.1f}"
        for place, each in enumerate(numbers)
    )
    return (
        f"<svg width='{width}' height='{height}' role='img' aria-label='from {low:g} to {high:g}'>"
        f"<polyline points='{points}' fill='none' stroke='currentColor' stroke-width='1.5'/></svg>"
    )


def state(source: SourceShown) -> str:
    """What a source is doing, as a coloured word."""
    look, said = STATES[source.activity]
    warning = "" if source.clock is None else " <span class='lw-bad'>wrong clock</span>"
    return f"<span class='{look}'>{said}</span>{warning}"


def why_asleep(source: SourceShown) -> str:
    """Why a source rests, and what wakes it; '' if it does not.

    >>> why_asleep(SourceShown("roof")), why_asleep(SourceShown("roof", "resting"))[:27]
    ('', 'No subscription wants what ')
    """
    if source.activity != "resting":
        return ""
    return "No subscription wants what it senses, so it was told to rest. It is woken as soon as one does."


def source_row(source: SourceShown) -> str:
    """A source in the list: who, what it does, where, and how often it was heard."""
    where = " · ".join(escape(each) for each in (source.model, source.place) if each)
    seen = f"last {clock(source.seen)}" if source.seen else "never heard"
    return (
        f"<div class='lw-head'><span class='lw-name'>{escape(source.source)}</span>{state(source)}"
        f"<span>{seen}</span></div><div class='lw-line'>{where + ' · ' if where else ''}{source.events:,} events · "
        f"{source.count} attribute{'' if source.count == 1 else 's'}</div>"
    )


def reading(each: AttributeShown) -> str:
    """The last value of an attribute with its unit."""
    if each.last is None:
        return "<span class='lw-soft'>not seen</span>"
    said = f"{each.last:g}" if isinstance(each.last, (int, float)) else escape(str(each.last))
    return f"{said} {escape(each.unit)}".rstrip()


def values(each: AttributeShown) -> str:
    """The kinds and the range of values, in a few words."""
    kinds = " or ".join(each.kinds)
    if each.low is None and each.high is None:
        return escape(kinds)
    low, high = ("…" if bound is None else f"{bound:g}" for bound in (each.low, each.high))
    return f"{escape(kinds)}, {low} to {high}"


def taken_for(each: AttributeShown) -> str:
    """What an attribute is taken for, how surely, and who says so."""
    said = each.understood
    if not said.means:
        return "<span class='lw-nearly'>not known</span>"
    sure = "lw-good" if said.probability >= 0.9 else "lw-nearly" if said.probability >= 0.5 else "lw-bad"
    likely = f"{said.probability:.0%} sure"  # an announcement names an attribute; what it means is read all the same
    by = {"corrected": "a person said so", "announced": f"{likely}, announced", "learnt": likely}[said.basis]
    return f"<b>{escape(said.means)}</b> <span class='{sure}'>{by}</span>"


def question_text(question: UsefulQuestion) -> str:
    """A useful question in a sentence."""
    asked = ", ".join(dict.fromkeys(f"{escape(term)} ({likely:.0%})" for term, likely in question.asked[:3]))
    return (
        f"<div class='lw-head'><span class='lw-name'>{escape(question.attribute)}</span>"
        f"<span>about {question.deliveries:,.0f} deliveries a day hang on it</span></div>"
        f"<div class='lw-line'>asked for as {asked}</div>"
    )
