"""MediaWiki's XML dumps: bz2 of one or many streams, or plain; UTF-8 or UTF-16.

A page belongs to the split its `<page>` begins in; the reader of that split goes on past the split's
end until the page is complete. So plain files split anywhere, and a bz2 file of many streams splits
between any two of them, whether or not pages end there. The streams' offsets come from the index file
that Wikipedia publishes beside a multistream dump, else from a scan for the ten bytes every stream
begins with. A bz2 of one stream, and UTF-16, cannot be split.

One page of a MediaWiki dump: is it an article, and what does it say.
"""

from __future__ import annotations

import bz2
import codecs
import mmap
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

import msgspec

from likewise.spark.spaces.sources.documents import SPLIT_BYTES, Document, Split, batch_documents, split_ranges
from likewise.spark.spaces.wikitext import plain_text

if TYPE_CHECKING:
    import pyarrow as pa


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


class MediaWikiSite(msgspec.Struct, frozen=True):
    """The namespaces of a dump: the folded names of all but the main one, and of those whose links are no text."""

    namespaces: frozenset[str]
    unshown: frozenset[str]


def read_site(head: bytes) -> MediaWikiSite:
    """Read the namespaces of a dump's `siteinfo`; the English names apply everywhere.

    >>> sorted(read_site(b'<namespace key="6" case="first-letter">Datei</namespace>').unshown)
    ['category', 'datei', 'file', 'image', 'media']
    """
    names = [(int(key), name.decode("utf-8", "replace").casefold()) for key, name in _NAMESPACE.findall(head)]
    return MediaWikiSite(
        frozenset(name for key, name in names if key and name),
        frozenset({"file", "image", "media", "category"} | {n for key, n in names if key in _FILES_AND_CATEGORIES}),
    )


def read_page(raw: bytes, site: MediaWikiSite) -> Document | str:
    """Return the page's last revision as plain text, or why it is left out.

    >>> read_page(b"<page><title>Cat</title><ns>0</ns><revision><text>A '''cat'''.</text></revision></page>", read_site(b""))
    Document(title='Cat', text='A cat.')
    >>> read_page(b"<page><title>Talk:Cat</title><ns>1</ns><revision><text>!</text></revision></page>", read_site(b""))
    'other namespace'
    >>> read_page(b"<page><title>Cat</title><ns>0</ns><revision><text>A & B</page>", read_site(b""))
    'broken page'
    """  # noqa: E501  one page on one l"""
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


_BLOCK: Final = 1 << 20
_STREAM: Final = re.compile(rb"BZh[1-9]1AY&SY")  # a bz2 stream's level and its first block's mark
_BZ2_SPLIT: Final = SPLIT_BYTES // 4  # compressed bytes: wiki text shrinks about fourfold
_HEAD: Final = 1 << 20  # siteinfo stands within the first bytes of a dump
_BEGIN, _END = b"<page>", b"</page>"


class MediaWikiDump(msgspec.Struct, frozen=True):
    """Dump files, in the order given, and what their site says about its namespaces.

    Redirects, disambiguation pages and pages outside the main namespace are left out under these names,
    and so is a `broken page` (no XML, or never closed) and the rest of a `broken stream`.
    """

    paths: tuple[str, ...]
    site: MediaWikiSite

    @classmethod
    def open(cls, paths: tuple[str, ...]) -> MediaWikiDump:
        """Open a dump of these files; the head of the first is read for its namespaces."""
        head = b""
        for block in _decoded(_bytes(Split(paths[0]), Counter()), _encoding(paths[0])):
            head += block
            if b"</siteinfo>" in head or len(head) > _HEAD:
                break
        return cls(paths, read_site(head))

    @property
    def kind(self) -> str:
        """Said in the manifest."""
        return "mediawiki"

    def splits(self) -> list[Split]:
        """Return byte ranges of plain files, and runs of streams of compressed ones."""
        return [split for path in self.paths for split in _splits(path)]

    def read(self, split: Split, left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
        """Yield the articles whose pages begin in the split."""
        yield from batch_documents(self._articles(split, left_out))

    def _articles(self, split: Split, left_out: Counter[str]) -> Iterator[Document]:
        encoding = _encoding(split.path)
        inside = _decoded(_bytes(split, left_out), encoding)
        beyond = _bytes(Split(split.path, split.stop), Counter()) if split.stop >= 0 else iter(())
        for raw in split_pages(inside, beyond, left_out):
            page = read_page(raw, self.site)
            if isinstance(page, Document):
                yield page
            else:
                left_out[page] += 1


def split_pages(inside: Iterator[bytes], beyond: Iterator[bytes], left_out: Counter[str]) -> Iterator[bytes]:
    """Yield the pages that begin in `inside`, each complete, the last one continued from `beyond`.

    >>> broken = Counter()
    >>> list(split_pages(iter([b"x<pa", b"ge>1</page><page>2<page>3</"]), iter([b"page><page>4</page>"]), broken))
    [b'<page>1</page>', b'<page>3</page>']
    >>> broken
    Counter({'broken page': 1})
    """
    buffer, at, inside_end, ended = b"", 0, -1, False  # own_end: where the split's own bytes end, once that is known
    while True:
        begin = buffer.find(_BEGIN, at)
        if begin >= 0 and not 0 <= inside_end <= begin:
            end = buffer.find(_END, begin)
            other = buffer.find(_BEGIN, begin + 1, end if end >= 0 else len(buffer))
            if other >= 0 or (end < 0 and ended):
                left_out["broken page"] += 1  # never closed
                at = other if other >= 0 else len(buffer)
                continue
            if end >= 0:
                at = end + len(_END)
                yield buffer[begin:at]
                continue
            keep = begin
        elif ended or (inside_end >= 0 and (begin >= 0 or inside_end <= max(at, len(buffer) - len(_BEGIN) + 1))):
            return
        else:
            keep = max(at, len(buffer) - len(_BEGIN) + 1)
        buffer, at = buffer[keep:], 0
        inside_end = inside_end - keep if inside_end >= 0 else -1
        more = next(beyond if inside_end >= 0 else inside, None)
        if more is not None:
            buffer += more
        elif inside_end < 0:
            inside_end = len(buffer)
        else:
            ended = True


def _splits(path: str) -> list[Split]:
    if _encoding(path) != "utf-8":
        return [Split(path)]
    if not path.endswith(".bz2"):
        return [Split(path, start, stop) for start, stop in split_ranges(Path(path).stat().st_size)]
    size = Path(path).stat().st_size
    cuts = [0]
    for offset in _streams(path):
        if offset - cuts[-1] >= _BZ2_SPLIT:
            cuts.append(offset)
    return [Split(path, start, stop) for start, stop in zip(cuts, [*cuts[1:], size], strict=True)]


def _streams(path: str) -> list[int]:
    """Return the offsets of the streams of a bz2 file, ascending."""
    for index in (f"{path.removesuffix('.xml.bz2')}-index.txt.bz2", f"{path.removesuffix('.xml.bz2')}-index.txt"):
        if Path(index).is_file():
            opener = bz2.open if index.endswith(".bz2") else open
            with opener(index, "rb") as lines:
                return sorted({0} | {int(line.split(b":", 1)[0]) for line in lines if line.strip()})
    if not Path(path).stat().st_size:
        return []
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return [each.start() for each in _STREAM.finditer(data)]


def _bytes(split: Split, left_out: Counter[str]) -> Iterator[bytes]:
    """Yield the file's content from the split's start to its stop (-1: the end), decompressed."""
    stored = _stored(split)
    return _inflated(stored, left_out) if split.path.endswith(".bz2") else stored


def _stored(split: Split) -> Iterator[bytes]:
    with open(split.path, "rb") as file:
        file.seek(split.start)
        left = split.stop - split.start if split.stop >= 0 else Path(split.path).stat().st_size
        while left > 0 and (block := file.read(min(_BLOCK, left))):
            left -= len(block)
            yield block


def _inflated(stored: Iterator[bytes], left_out: Counter[str]) -> Iterator[bytes]:
    """Yield the streams' content; a damaged one is counted, and reading continues at the next."""
    inflate, begun = bz2.BZ2Decompressor(), False
    for block in stored:
        while block:
            try:
                content = inflate.decompress(block)
            except OSError:
                left_out["broken stream"] += 1
                block = _next_stream(block, stored)
                inflate, begun = bz2.BZ2Decompressor(), False
                continue
            yield content
            begun, block = not inflate.eof, inflate.unused_data
            if not begun:
                inflate = bz2.BZ2Decompressor()
    if begun:
        left_out["broken stream"] += 1  # it breaks off


def _next_stream(block: bytes, stored: Iterator[bytes]) -> bytes:
    """Return the data from the next stream's beginning on; empty if there is none."""
    matched = _STREAM.search(block, 1)
    while matched is None:
        more = next(stored, None)
        if more is None:
            return b""
        block = block[-9:] + more  # the ten bytes may lie across two blocks
        matched = _STREAM.search(block)
    return block[matched.start() :]


def _encoding(path: str) -> str:
    """Return the encoding: UTF-16 shows by its byte order mark; everything else is UTF-8."""
    with (bz2.open if path.endswith(".bz2") else open)(path, "rb") as file:
        try:
            mark = file.read(2)
        except (OSError, EOFError):
            mark = b""
    return "utf-16" if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"


def _decoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Yield UTF-8 blocks whatever the file's encoding is."""
    if encoding == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")
