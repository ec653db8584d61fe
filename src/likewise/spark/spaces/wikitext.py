"""Wiki markup to plain text: what a reader would see of an article's prose.

Templates, tables, references, formulas, galleries, comments, file and category links go; links, bold,
headings and lists leave their words. One pass over the brackets with a stack, so that markup left open
costs nothing but its own brackets: hostile pages take linear time and lose no text that follows.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from typing import Final

_DEEPEST: Final = 64  # brackets nested deeper are taken as plain characters
_HIDDEN: Final = re.compile(
    r"<!--|<(ref|math|chem|gallery|timeline|source|syntaxhighlight|imagemap|score|hiero|graph|mapframe|maplink|"
    r"templatedata)\b[^<>]*?(/?)>",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile("-->")
_BRACKETS: Final = re.compile(r"\{\{|\}\}|\[\[|\]\]|^[ \t:]*\{\||^[ \t]*\|\}(?!\})", re.MULTILINE)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,1000}>")
_EXTERNAL: Final = re.compile(r"\[(?:https?:|ftp:|mailto:)?//[^\s\[\]]*+[ \t]*+([^\[\]\n]*+)\]")
_ADDRESS: Final = re.compile(r"(?:https?|ftp)://[^\s\]<>|]+")
_MAGIC: Final = re.compile(r"__[A-Z]{3,30}__")
_QUOTES: Final = re.compile(r"''+")
_LINE: Final = re.compile(r"^ ?(?:=+|[*#:;]+|-{4,}) ?| ?(?<!=)=+ ?$", re.MULTILINE)
_INTERWIKI: Final = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,10})*|simple")
_SPACES: Final = re.compile(r"[^\S\n]+")
_LINES: Final = re.compile(r" ?\n\s*")

_CLOSES: Final = {"}}": "{{", "]]": "[[", "|}": "{|"}


def plain_text(markup: str, unshown: Collection[str] = ("file", "image", "media", "category")) -> str:
    """Return the prose of an article; `unshown` are the folded names of namespaces whose links are no text.

    >>> plain_text("'''Cats''' are [[felid|small felids]].<ref>Book</ref> {{cite|x}} [[File:a.jpg|thumb|A [[cat]]]]")
    'Cats are small felids.'
    """
    text = _without_brackets(_without_hidden(markup), unshown)
    text = _EXTERNAL.sub(r"\1", text)
    text = _ADDRESS.sub(" ", text)
    text = html.unescape(_TAG.sub(" ", text))
    text = _SPACES.sub(" ", _QUOTES.sub("", _MAGIC.sub(" ", text)))
    return _LINES.sub("\n", _LINE.sub("", text)).strip()


def _without_hidden(text: str) -> str:
    """Drop comments, and tags whose content is no prose, with it; a tag never closed is dropped alone."""
    pieces, at = [], 0
    unclosed: set[str] = set()
    while matched := _HIDDEN.search(text, at):
        pieces.append(text[at : matched.start()])
        at = matched.end()
        name = (matched.group(1) or "").lower()
        if matched.group(2) or name in unclosed:
            continue
        closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, at) if name else _COMMENT.search(text, at)
        if closing:
            at = closing.end()
        elif name:
            unclosed.add(name)
        else:
            at = len(text)  # a comment never closed hides the rest
    return " ".join([*pieces, text[at:]])


def _without_brackets(text: str, unshown: Collection[str]) -> str:
    """Drop templates and tables, and replace links by their text."""
    # Each open bracket has the pieces of text gathered since; the bottom one gathers the result.
    open_: list[str] = []
    gathered: list[list[str]] = [[]]
    at = 0
    for matched in _BRACKETS.finditer(text):
        gathered[-1].append(text[at : matched.start()])
        at = matched.end()
        mark = matched.group().strip(" \t:")
        if mark not in _CLOSES:
            if len(open_) < _DEEPEST:
                open_.append(mark)
                gathered.append([])
            continue
        shown = _CLOSES[mark]
        if shown not in open_:
            continue
        while open_[-1] != shown:  # what was left open inside is plain text
            inner = gathered.pop()
            open_.pop()
            gathered[-1] += inner
        open_.pop()
        content = gathered.pop()
        if shown == "[[":
            gathered[-1].append(_shown("".join(content), unshown))
        else:
            gathered[-1].append(" ")
    gathered[-1].append(text[at:])
    return "".join(piece for pieces in gathered for piece in pieces)


def _shown(link: str, unshown: Collection[str]) -> str:
    """Return the text that a link shows."""
    target, bar, label = link.partition("|")
    prefix, colon, _ = target.partition(":")
    name = prefix.strip().casefold()
    if colon and name and (name in unshown or _INTERWIKI.fullmatch(prefix.strip())):
        return " "
    return label.rpartition("|")[2] if bar and label else target.lstrip(":").partition("#")[0] or target.lstrip("#")
