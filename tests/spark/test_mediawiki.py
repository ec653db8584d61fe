"""Promises of the MediaWiki source: articles and nothing else, however the dump is cut or damaged."""

from __future__ import annotations

import bz2
import itertools
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.spark.spaces.sources import MediaWikiDump, Source, source_of
from likewise.spark.spaces.sources.documents import Split
from likewise.spark.spaces.sources.mediawiki import split_pages

HEAD = """<mediawiki xml:lang="de"><siteinfo><namespaces>
<namespace key="0" case="first-letter" /><namespace key="1" case="first-letter">Diskussion</namespace>
<namespace key="6" case="first-letter">Datei</namespace><namespace key="14" case="first-letter">Kategorie</namespace>
</namespaces></siteinfo>
"""


def page(title: str, text: str, ns: str = "<ns>0</ns>", more: str = "") -> str:
    return f"<page><title>{title}</title>{ns}<id>1</id>{more}<revision><text>{text}</text></revision></page>\n"


PAGES = [
    page(
        "Katze",
        "Eine '''Katze''' [[Datei:k.jpg|mini|ein [[Bild]]]] &lt;ref&gt;Buch&lt;/ref&gt; schläft. [[Kategorie:Tier]]",
    ),
    page("Diskussion:Katze", "na ja", "<ns>1</ns>"),
    page("Miez", "#WEITERLEITUNG [[Katze]]"),
    page("Kater", "x", more='<redirect title="Katze" />'),
    page("Bank", "Möbel oder Haus {{Begriffsklärung}}"),
    page("Alt", "Ohne Namensraum", ""),
    page("Diskussion:Alt", "Ohne Namensraum", ""),
    "<page><title>Kaputt</title><ns>0</ns><revision><text>A & B</text></revision></page>\n",
    "<page><title>Offen</title><ns>0</ns><revision><text>nie zu",
    page("Hund", "{| class=x\n| Zelle\n|}\nEin Hund &amp;amp; {{Vorlage|{{innen}}}} mehr"),
]
ARTICLES = [("Katze", "Eine Katze schläft."), ("Alt", "Ohne Namensraum"), ("Hund", "Ein Hund & mehr")]
LEFT_OUT = {"other namespace": 2, "redirect": 2, "disambiguation": 1, "broken page": 2}
DUMP = (HEAD + "".join(PAGES) + "</mediawiki>").encode()


def read_all(source: Source, splits: list[Split] | None = None) -> tuple[list[tuple[str, str]], dict[str, int]]:
    left_out: Counter[str] = Counter()
    out = [
        (row["title"], row["text"])
        for split in splits or source.splits()
        for batch in source.read(split, left_out)
        for row in batch.to_pylist()
    ]
    return out, {reason: n for reason, n in left_out.items() if n}


def streams(data: bytes, cuts: list[int]) -> bytes:
    edges = [0, *sorted(cuts), len(data)]
    return b"".join(bz2.compress(data[a:b]) for a, b in itertools.pairwise(edges))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.xml", DUMP),
        ("d.xml.bz2", bz2.compress(DUMP)),
        ("d.xml.bz2", streams(DUMP, [len(HEAD.encode()), 700])),
        ("d.xml", DUMP.decode().encode("utf-16")),
        ("d.xml.bz2", bz2.compress(DUMP.decode().encode("utf-16"))),
    ],
    ids=["plain", "one stream", "many streams", "utf-16", "utf-16 in bz2"],
)
def test_articles_come_out_and_the_rest_is_counted(tmp_path: Path, name: str, content: bytes) -> None:
    """Redirects, other namespaces, disambiguation and broken pages are left out, whatever the packing."""
    (tmp_path / name).write_bytes(content)
    assert read_all(source_of(tmp_path / name)) == (ARTICLES, LEFT_OUT)


@given(cuts=st.lists(st.integers(0, len(DUMP)), max_size=12), step=st.integers(1, 400))
def test_a_page_is_read_once_wherever_the_dump_is_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], step: int
) -> None:
    """Byte ranges of plain XML and runs of bz2 streams may begin and end inside pages and tags."""
    folder = tmp_path_factory.mktemp("dump")
    plain, packed = folder / "d.xml", folder / "d.xml.bz2"
    plain.write_bytes(DUMP)
    packed.write_bytes(streams(DUMP, cuts))
    edges = [0, *sorted(set(cuts) - {0, len(DUMP)}), len(DUMP)]
    ranges = [Split(str(plain), a, b) for a, b in itertools.pairwise(edges)]
    assert read_all(source_of(plain), ranges) == (ARTICLES, LEFT_OUT)
    with patch("likewise.spark.spaces.sources.mediawiki._BZ2_SPLIT", step):
        assert read_all(source_of(packed)) == (ARTICLES, LEFT_OUT)


@given(
    blocks=st.lists(
        st.sampled_from([b"<page>", b"</page>", b"<pa", b"ge>", b"</", b"x", b"<page>a</page>"]), max_size=14
    ),
    cut=st.integers(0, 80),
)
def test_two_splits_find_what_one_finds(blocks: list[bytes], cut: int) -> None:
    """Pages and broken pages are the same whether or not the data is cut in two."""
    data = b"".join(blocks)
    together: Counter[str] = Counter()
    apart: Counter[str] = Counter()
    whole = list(split_pages(iter([data]), iter(()), together))
    first, second = data[:cut], data[cut:]
    one_byte = [second[i : i + 1] for i in range(len(second))]
    found = list(split_pages(iter([first]), iter(one_byte), apart)) + list(split_pages(iter(one_byte), iter(()), apart))
    assert found == whole
    assert apart == together


def test_streams_are_found_by_the_published_index(tmp_path: Path) -> None:
    """The index beside a multistream dump says where to split."""
    path = tmp_path / "w-pages-articles-multistream.xml.bz2"
    pieces = [HEAD.encode(), PAGES[0].encode(), (PAGES[9] + "</mediawiki>").encode()]
    offsets = [0]
    for piece in pieces:
        offsets.append(offsets[-1] + len(bz2.compress(piece)))
    path.write_bytes(b"".join(bz2.compress(piece) for piece in pieces))
    index = f"{offsets[1]}:1:Katze\n{offsets[2]}:2:Hund: der\n"
    (tmp_path / "w-pages-articles-multistream-index.txt.bz2").write_bytes(bz2.compress(index.encode()))
    source = source_of(tmp_path)
    with patch("likewise.spark.spaces.sources.mediawiki._BZ2_SPLIT", 1):
        assert [(s.start, s.stop) for s in source.splits()] == list(itertools.pairwise(offsets))
        assert read_all(source)[0] == [ARTICLES[0], ARTICLES[2]]


def test_a_damaged_stream_costs_itself_alone(tmp_path: Path) -> None:
    """Reading goes on at the next stream; the damage is counted."""
    path = tmp_path / "d.xml.bz2"
    middle = bytearray(bz2.compress(PAGES[0].encode()))
    middle[40:60] = bytes(20)
    path.write_bytes(bz2.compress(HEAD.encode()) + bytes(middle) + bz2.compress(PAGES[9].encode()))
    assert read_all(source_of(path)) == ([ARTICLES[2]], {"broken stream": 1})


def test_a_truncated_dump_gives_what_it_has(tmp_path: Path) -> None:
    """An interrupted download is read up to its end and counted."""
    path = tmp_path / "d.xml.bz2"
    path.write_bytes(bz2.compress((HEAD + PAGES[0]).encode()) + bz2.compress(PAGES[9].encode())[:-30])
    assert read_all(source_of(path)) == ([ARTICLES[0]], {"broken stream": 1})


@pytest.mark.parametrize(
    ("file", "articles", "title"),
    [
        ("bgwiki-latest-pages-articles-shortened.xml.bz2", 1, "Григориански календар"),
        ("dbpedia-minidump-en.xml.bz2", 23, "Angela Merkel"),
        ("enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2", 98, "Anarchism"),
        ("viwiki-20240701-p4565247-extract.xml.bz2", 129, "Chùa Huệ Nghiêm"),
    ],
)
def test_real_dumps_are_read(shared: Path, file: str, articles: int, title: str) -> None:
    """UTF-16, redirects, tables, other languages; no markup is left in the text."""
    found, left_out = read_all(source_of(shared / "data" / "mediawiki" / file, "mediawiki"))
    assert len(found) == articles
    assert title in dict(found)
    assert "broken page" not in left_out
    for mark in ("{{", "[[", "{|", "<ref", "'''"):
        assert sum(mark in text for _, text in found) <= 0.02 * len(found), mark


def test_an_empty_file_has_no_articles(tmp_path: Path) -> None:
    """Neither plain nor compressed."""
    for name in ("d.xml", "d.xml.bz2"):
        (tmp_path / name).write_bytes(b"")
        assert read_all(MediaWikiDump.open((str(tmp_path / name),))) == ([], {})
