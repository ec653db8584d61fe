"""One page of a MediaWiki dump: is it an article, and what does it say."""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree

import msgspec

from likewise.spark.spaces.sources.documents import Document
from likewise.spark.spaces.wikitext import plain_text

_NAMESPACE: Final = re.compile(rb'<namespace key="(-?\d+)"[^>]*>([^<]*)</namespace>')
# `#REDIRECT [[Target]]` and its translations: a word, perhaps a colon, then a link at once.
_REDIRECT: Final = re.compile(r"\s*#\w[\w ]{1,30}:?\s*\[\[")
# Templates that mark a page which only lists meanings, in the larger wikis' languages.
_DISAMBIGUATION: Final = re.compile(
    r"\{\{\s{0,9}(?:template:)?(?:"
    r"[\w -]{0,40}disambig(?:uation)?(?:[ -]?(?:page|cleanup))?|disamb|dab|hndis|geodis|begriffsklärung|homonymie|"
    r"desambigua\w{0,9}|dp(?=\}\})|ujednoznacznienie|неоднозначность|пояснение|багатозначність|gren(?=\}\})|förgrening|"
    r"(?:trang )?định hướng|曖昧さ回避|消歧义|消歧義|동음이의|توضيح|anlam ayrımı|rozcestník"
    r")\s{0,9}(?:\||\}\})|__DISAMBIG__",
    re.IGNORECASE,
)
_FILES_AND_CATEGORIES: Final = frozenset({-2, 6, 14})


class Site(msgspec.Struct, frozen=True):
    """What a dump's head says: the folded names of all namespaces but the main one, and of those whose links go."""

    namespaces: frozenset[str]
    unshown: frozenset[str]


def read_site(head: bytes) -> Site:
    """The namespaces named in a dump's `siteinfo`; the English names count everywhere.

    >>> sorted(read_site(b'<namespace key="6" case="first-letter">Datei</namespace>').unshown)
    ['category', 'datei', 'file', 'image', 'media']
    """
    found = [(int(key), name.decode("utf-8", "replace").casefold()) for key, name in _NAMESPACE.findall(head)]
    return Site(
        frozenset(name for key, name in found if key and name),
        frozenset({"file", "image", "media", "category"} | {n for key, n in found if key in _FILES_AND_CATEGORIES}),
    )


def read_page(raw: bytes, site: Site) -> Document | str:
    """The page's last revision as plain text, or why it is left out.

    >>> read_page(b"<page><title>Cat</title><ns>0</ns><revision><text>A '''cat'''.</text></revision></page>", read_site(b""))
    Document(title='Cat', text='A cat.')
    >>> read_page(b"<page><title>Talk:Cat</title><ns>1</ns><revision><text>!</text></revision></page>", read_site(b""))
    'other namespace'
    >>> read_page(b"<page><title>Cat</title><ns>0</ns><revision><text>A & B</page>", read_site(b""))
    'broken page'
    """  # noqa: E501  one page on one line
    try:
        page = ElementTree.fromstring(raw.decode("utf-8", "replace"))
    except ElementTree.ParseError:
        return "broken page"
    title = (page.findtext("title") or "").strip()
    if not title:
        return "broken page"
    namespace = page.findtext("ns")
    if namespace is None:  # dumps before version 0.6 say it in the title alone
        prefix, colon, _ = title.partition(":")
        namespace = "1" if colon and prefix.casefold() in site.namespaces else "0"
    if namespace.strip() != "0":
        return "other namespace"
    revisions = page.findall("revision")
    text = (revisions[-1].findtext("text") if revisions else None) or ""
    if page.find("redirect") is not None or _REDIRECT.match(text):
        return "redirect"
    if _DISAMBIGUATION.search(text) or title.casefold().endswith("(disambiguation)"):
        return "disambiguation"
    return Document(title, plain_text(text, site.unshown))
