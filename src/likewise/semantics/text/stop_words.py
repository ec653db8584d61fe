"""Stop words by the name that tokenizer settings give them.

The English list is our own: articles, pronouns, auxiliaries, prepositions, conjunctions, the pieces
an apostrophe leaves behind (`don't` -> `don`, `t`), and a few adverbs of degree. Words that sensor
names and subscriptions use with a meaning (`on`, `off`, `no`, `up`, `down`, `out`) are left in.

>>> "the" in STOP_WORDS["english"], "off" in STOP_WORDS["english"], len(STOP_WORDS["none"])
(True, False, 0)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_ENGLISH: Final = (
    # articles, demonstratives, pronouns
    "a an the this that these those i me my mine myself we us our ours ourselves you your yours yourself yourselves "
    "he him his himself she her hers herself it its itself they them their theirs themselves one ones "
    "who whom whose which what whatever whichever whoever someone somebody something anyone anybody anything "
    "everyone everybody everything noone nobody nothing none "
    # auxiliaries and modals
    "am is are was were be been being have has had having do does did doing done can could may might must shall "
    "should will would ought cannot "
    # prepositions and particles
    "of at by for with about against between into through during before after above below to from in under over "
    "upon onto within without among amongst across along around toward towards via per than as "
    # conjunctions and question words
    "and or but nor so if because while until unless although though whether since when where why how "
    "whenever wherever however therefore thus hence "
    # adverbs of degree, place and time that say little alone
    "again further then once here there all any both each few more most other others some such only own same too very "
    "just also even ever never still yet already quite rather much many often usually sometimes especially "
    "else otherwise instead not etc eg ie "
    # what an apostrophe leaves behind
    "s t d m o ll re ve don isn aren wasn weren hasn haven hadn doesn didn couldn shouldn wouldn mustn needn"
)

STOP_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"english": frozenset(_ENGLISH.split()), "none": frozenset()}
)
