"""Interest vectors, plainly: all positions must agree, `*` agrees with both (sources.md M)."""

from __future__ import annotations


def agrees(interest_bits: str, event_bits: str) -> bool:
    """Return whether an event's vector over {0, 1} agrees with one over {0, 1, *} of the same length.

    >>> agrees("1*0", "110"), agrees("1*0", "111"), agrees("1*", "110")
    (True, False, False)
    """
    return len(interest_bits) == len(event_bits) and all(
        a in ("*", s) for a, s in zip(interest_bits, event_bits, strict=True)
    )


def disagreements(interest_bits: str, event_bits: str) -> list[int]:
    """The positions (from 0) that do not agree; one the event does not have does not agree.

    >>> disagreements("1*01", "100")
    [3]
    """
    return [i for i, a in enumerate(interest_bits) if a != "*" and (i >= len(event_bits) or event_bits[i] != a)]
