"""Registry of how values are displayed: as text, and as HTML in a notebook.

The values say that they can be shown; `rendering` says how, for each of them.
"""

from __future__ import annotations

from functools import singledispatch
from html import escape


@singledispatch
def text_of(value: object) -> str:
    """Return a value as text.

    >>> from likewise.model import event
    >>> text_of(event({"city": "Zagreb"}))
    'city: Zagreb'
    """
    return repr(value)


@singledispatch
def html_of(value: object) -> str:
    """Return a value as HTML.

    >>> html_of("<3")
    '&lt;3'
    """
    return escape(text_of(value) if not isinstance(value, str) else value)
