"""The grammar of the subscription language, LALR(1), for Lark's contextual lexer; the rules are in `rules.lark`.

A run of bare text is one token, so that blanks in it cost nothing. What ends it depends on where it
stands: everywhere `,` `{` `}` `(` `)` `~` and the operators; inside parentheses also the word `or`. The
parser's state tells the lexer where it stands, which is why attributes, values and tags, and their like
inside parentheses, are terminals of their own. A trailing `~` belongs to the token.

All repetitions of characters are possessive; groups are separated by what they cannot hold, so no text takes more than
linear time. Groups are not possessive: before 3.11.5 Python read such groups wrongly, and Debian 12 has 3.11.2.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

NUMBER: Final = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
"""A number without its sign."""

QUOTED: Final = r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*"'

# A word operator counts where a word ends behind it.
_END = r'(?=[\s,{}()~=<>:"]|!=|\Z)'
_OPERATORS = r"between|in|contains|exists|under|is-a|(?:starts|ends)\s+with"
# In a name, `in` without values in parentheses and `between` without a number are words like others, so that
# `number of people in the room` needs no quotes.
_NAME_OPERATORS = _OPERATORS.replace("between|in|", r"between(?!\s+[^\W\d_])|in(?=\s*+\()|")
_WORD = r"(?:[^\s,{}()~=<>:!]++|!(?!=))+"
# A date with a time of day, which holds colons.
_TIME = (
    r"[0-9]{4}-[0-9][0-9]-[0-9][0-9][Tt ][0-9][0-9]:[0-9][0-9](?::[0-9][0-9](?:\.[0-9]++)?)?"
    r"\s?(?:[Zz]|[+-][0-9][0-9](?::?[0-9][0-9])?)?(?![^\s,{}()~=<>!])"
)

_IRI = r'<(?:[^\x00-\x20<>"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>'
_LOCAL = r"(?:[\w:%-]|\\[_~.!$&'()*+,;=\/?#@%-]|\.++(?=[\w:%\\-]))*"
_PREFIX = r"(?:[^\W\d_](?:[\w-]|\.++(?=[\w-]))*)?:"
_STRING = QUOTED + r"|'[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*'"


def _text(stops: str) -> str:
    """Return the pattern of quoted text, or words up to a stop word, with an optional `~`."""
    word = rf'(?!(?:{stops}){_END}|matches\s*"){_WORD}'
    return rf'(?:{QUOTED}|{_TIME}|(?!"){word}(?:\s++{word})*)(?:\s*~)?'


def _words(word: str, first: str | None = None) -> str:
    """Return the pattern of quoted text, or words."""
    return rf"(?:{QUOTED}|{first or word}(?:\s++{word})*)"


_PLAIN = r'[^\s,()"~]++'
_UNIT_WORD = r'[^\s,()"~0-9+*.-][^\s,()"~+*]*+'
_UNIT = rf"{_UNIT_WORD}(?:\s++{_UNIT_WORD})*"
_POINT = _words(rf"(?![+-]?{NUMBER}\s*(?:{_UNIT})?\s*[,)]){_PLAIN}", _PLAIN)
_TERM = _words(r'(?!in\s)[^\s,()"~+*-][^\s,()"~+*]*+')
_NAME = _words(rf"(?!in\s){_PLAIN}")
_ONE_NAME = rf'(?:{QUOTED}|[^\s,(){{}}"~]++)'
_COLUMN_WORD = r'(?!(?:in|as)\s)[^\s,(){}"~@][^\s,(){}"~]*+'
_COLUMN = rf"{_words(_COLUMN_WORD)}(?:\s*~)?"
_COLUMN_UNIT = rf"{_UNIT_WORD}(?:\s++(?!as\s){_UNIT_WORD})*"
_PROPERTY = _words(r'[^\s".~{}]++(?:\.[^\s".~{}]++)*')

_RULES: Final = Path(__file__).with_name("rules.lark").read_text(encoding="utf-8")

GRAMMAR: Final = rf"""
{_RULES}
ATTRIBUTE: /{_text(_NAME_OPERATORS)}/
VALUE: /{_text(_OPERATORS)}/
TAG: /{_text(_OPERATORS)}/
INNER_ATTRIBUTE: /{_text(_NAME_OPERATORS + "|or")}/
INNER_VALUE: /{_text(_OPERATORS + "|or")}/
IN_VALUE: /{_text(_OPERATORS + "|or")}/
BOUND: /{_text(_OPERATORS + "|or|and")}/
NOT.2: /not(?=[\s("])/
INNER_NOT.2: /not(?=[\s("])/
SOME.3: /some(?=\s*{QUOTED}\s*~?\s*\(|\s[^,{{}}()~=<>:"]++~?\s*\()/
EQUALITY: /=|:|!=/
COMPARISON: /[<>]=?/
TEXT_OPERATOR: /(?:contains|starts\s+with|ends\s+with|under|is-a){_END}/
_BETWEEN: /between{_END}/
_IN: /in{_END}/
_EXISTS: /exists{_END}/
_MATCHES: /matches(?=\s*")/
FILTER: /{QUOTED}/
_AND: /and{_END}/
_OR: /or{_END}/
_COMMA: ","
_DOT: "."

BIT: /[01*]/

COUNT: /[0-9]++/
SPAN: /[0-9]++(?:\.[0-9]++)?\s*+[^\W\d_]++/
NUMBER: /[+-]?{NUMBER}/
ORDER: /lowest|highest/
VARIANT: /hybrid|background|jcn|esa|sameness/
_VALID_FOR: /valid\s++for(?=\s)/
SELECT: /select(?=\s*+\()/
COLUMN: /{_COLUMN}/
COLUMN_UNIT: /{_COLUMN_UNIT}/
FACT: /@[^\s,()"~]++/
PER: /per(?=[\s"])/
ONE_NAME: /{_ONE_NAME}/
FROM_ONE_SOURCE: /from\s++one\s++source(?![^\s])/
FOR: /for(?=\s)/
ONCE_UNTIL: /once\s++until(?=[\s{{])/
FALSE: "false"
AT_MOST_EVERY: /at\s++most\s++every(?=\s)/
ABSENT_FOR: /absent\s++for(?=\s)/
DIGEST_EVERY: /digest\s++every(?=\s)/
STALE: /stale(?=\s)/
_VALUE_OF: "value"
POINT: /{_POINT}/
SIGN: /[+-]/
WEIGHT.2: /{NUMBER}(?=\s*\*)/
TERM: /{_TERM}/
NAME: /{_NAME}/
_UNIT_IN: /in(?=\s)/
UNIT: /{_UNIT}/

_NEAR: /near(?=\s*+\()/
NEAR_BY: /meaning|spelling/
_EVENT: /event(?=[\s"])/
PROPERTY: /{_PROPERTY}/
STRING: /{QUOTED}/

_PREFIX: /prefix(?=\s)/i
PREFIX_NAME: /{_PREFIX}/
IRI: /{_IRI}/
PREFIXED: /{_PREFIX}{_LOCAL}/
VARIABLE: /[?$]\w++/
A.2: /a(?=[\s<?$,])/
LITERAL: /(?:{_STRING})(?:@[A-Za-z]++(?:-[A-Za-z0-9]++)*|\^\^(?:{_IRI}|{_PREFIX}{_LOCAL}))?/
NUMERAL: /[+-]?(?:[0-9]*\.[0-9]++|[0-9]++)(?:[eE][+-]?[0-9]++)?(?![\w:])/
TRUTH.2: /(?:true|false)(?![\w:])/
COMMA: ","
SEMICOLON: ";"

_BLANK: /\s++/
%ignore _BLANK
"""
