"""States of values and attributes: on and off, open and closed, present and absent."""

from __future__ import annotations

from typing import Final

from likewise.semantics.concepts.values.knowledge import ATTRIBUTE_STATES, NEGATORS, STATES

GENERIC: Final = 1  # the bit of the first pair of states: on and off, true and false, yes and no
PRESENT: Final = 1 << next(n for n, pair in enumerate(STATES) if "present" in pair[0])
_GENERIC_WORDS: Final = {word: sign for side, sign in zip(STATES[0], (1, -1), strict=True) for word in side} | {
    "1": 1,
    "0": -1,
    "1.0": 1,
    "0.0": -1,
}
_BITS: Final = {
    (word, side): sum(1 << n for n, pair in enumerate(STATES) if word in pair[side])
    for pair in STATES
    for side in (0, 1)
    for word in pair[side]
}


def generic_sign(text: str) -> int:
    """Return 1 for `on`, `true`, `yes`, `1`, -1 for their opposites, 0 for any other folded text.

    What such a word means is said by its attribute: `door_open: 1`.

    >>> generic_sign("on"), generic_sign("0"), generic_sign("open")
    (1, -1, 0)
    """
    return _GENERIC_WORDS.get(text, 0)


def state_bits(text: str) -> tuple[int, int]:
    """Return the pairs of states whose first, and whose second, side a whole text is, as bits.

    >>> state_bits("shut"), state_bits("shut the window")
    ((0, 4), (0, 0))
    """
    return _BITS.get((text, 0), 0), _BITS.get((text, 1), 0)


def attribute_states(text: str) -> tuple[int, int]:
    """Return the states of an attribute that is true. A pair with both sides named is left out.

    >>> attribute_states("door open"), attribute_states("door not closed"), attribute_states("on off")
    ((5, 0), (4, 1), (1, 0))
    """
    yes = no = 0
    negated = False
    thing = PRESENT  # `smoke: true`: there is some
    for word in text.split():
        one, other = state_bits(ATTRIBUTE_STATES.get(word, word))
        thing = 0 if word not in ATTRIBUTE_STATES and one | other else thing
        yes, no = yes | one, no | other
        negated ^= word in NEGATORS
    yes, no = (yes & ~no) | thing, no & ~yes
    if not no & GENERIC:  # `disabled: true` is no, whatever else is true is yes
        yes |= GENERIC
    return (no, yes) if negated else (yes, no)
