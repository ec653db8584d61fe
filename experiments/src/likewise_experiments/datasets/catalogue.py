"""What data there is: addresses, checksums, licences, and the commands that then repeat the papers' tables.

A checksum stands here only if the file itself was seen when this was written. Where it was not, the checksum is noted
at the first download, and every later one is held against it (`download`).
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from likewise.errors import InputError

Conversion = Literal["", "yaml", "gzip", "lorawan", "zenodo"]


class DataFile(msgspec.Struct, frozen=True):
    """A file: the name it gets here, where it comes from, and its SHA-256 ('' if nobody here has seen it)."""

    name: str
    address: str
    sha256: str = ""


class DataSet(msgspec.Struct, frozen=True):
    """Some files that belong together, and what is done with them.

    `conversion` names how `makes` comes from the files; `then` are the commands to run afterwards, `{to}` the folder.
    """

    name: str
    what: str
    files: tuple[DataFile, ...]
    licence: str
    size: str
    then: tuple[str, ...]
    conversion: Conversion = ""
    makes: str = ""
    note: str = ""


_RAW = "https://raw.githubusercontent.com"
_VECTORS = f"{_RAW}/mfaruqui/eval-word-vectors/94b3dd9fdbac7ed08dbee7179cd5ee464acf0594/data/word-sim"
_DBPEDIA = "http://downloads.dbpedia.org/2016-10/core-i18n/en"


def _words(name: str, sha256: str) -> DataFile:
    return DataFile(name, f"{_VECTORS}/{name}", sha256)


SETS: Final = (
    DataSet(
        "relatedness",
        "people's judgements how related two words are: WordSim-353, MEN, RG-65, MTurk-771, SimLex-999",
        (
            _words("EN-WS-353-ALL.txt", "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c"),
            _words("EN-MEN-TR-3k.txt", "888b13580faa362c7b11da0a670258cf1b1eb4bf0ecbcd418918729a3bd3f43a"),
            _words("EN-RG-65.txt", "c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f"),
            _words("EN-MTurk-771.txt", "04dc297c9e86b6fa7cf8ef0e4ba2e2c8d3399ec68d92fb7a53c0b4aae27198b5"),
            _words("EN-SIMLEX-999.txt", "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685"),
        ),
        "each author's own terms, for research; see the collection's README",
        "0.1 MB",
        (
            "likewise eval relatedness {to}/EN-WS-353-ALL.txt {to}/EN-MEN-TR-3k.txt {to}/EN-RG-65.txt "
            "{to}/EN-MTurk-771.txt",
        ),
    ),
    DataSet(
        "eurovoc",
        "the EuroVoc thesaurus, edition of 2021, English and French",
        (
            DataFile(
                "eurovoc.yaml",
                f"{_RAW}/benoitdavidfr/eurovoc/ff5c75c3713a51a7c3eea9f7c9a7c9ef278b803e/eurovoc.yaml",
                "43c55add3fc107009b901e2656149e1b81e99ca8e138ebcdc886c515d4a5be73",
            ),
        ),
        "© European Union, reuse with attribution; this form of it by B. David, CeCILL 2.1",
        "3 MB",
        (
            "likewise eval thematic --thesaurus {to}/eurovoc-2021-en-fr.json.gz --cells 30x30x5 --throughput 2 "
            "--out report",
        ),
        "yaml",
        "eurovoc-2021-en-fr.json.gz",
    ),
    DataSet(
        "icews",
        "dated political events of 2014, the second event set of the hybrid evaluation (the paper has Freebase's)",
        (
            DataFile(
                "icews_2014_valid.txt",
                f"{_RAW}/mniepert/mmkb/dc1c89cac110ddbb9944d6ed5ab2b3c2339d320c/TemporalKGs/icews14/icews_2014_valid.txt",
                "23dfa5cd6f3bb5421efcc30fc03bed0e8de4c2cf251d1765ff722d6f8b15dbe3",
            ),
        ),
        "BSD-3-Clause (mmkb); the events themselves under ICEWS's Dataverse terms",
        "0.6 MB",
        ("likewise eval hybrid --events {to}/icews_2014_valid.txt.gz --subscriptions icews --out report",),
        "gzip",
        "icews_2014_valid.txt.gz",
    ),
    DataSet(
        "vendor-events",
        "decoded example messages of LoRaWAN devices, as their makers document them",
        (
            DataFile(
                "lorawan-devices.tar.gz",
                "https://codeload.github.com/TheThingsNetwork/lorawan-devices/tar.gz/refs/heads/master",
            ),
        ),
        "Apache-2.0 (the repository); each maker's examples",
        "about 300 MB",
        ("likewise eval vendor --events {to}/lorawan-events.jsonl.gz --gold GOLD --subscriptions PHRASES",),
        "lorawan",
        "lorawan-events.jsonl.gz",
        "The labels of our own figures (GOLD: vendor, path, label, unit; PHRASES: phenomenon, subscription) are not "
        "published yet. Label what you need in that form. The newest messages are taken, so figures will differ.",
    ),
    DataSet(
        "dbpedia-events",
        "DBpedia 2016-10: the raw infobox properties of English articles, and the classes of their subjects",
        (
            DataFile("dbpedia/infobox_properties_en.ttl.bz2", f"{_DBPEDIA}/infobox_properties_en.ttl.bz2"),
            DataFile("dbpedia/instance_types_en.ttl.bz2", f"{_DBPEDIA}/instance_types_en.ttl.bz2"),
        ),
        "CC BY-SA 3.0 and GFDL",
        "about 0.3 GB",
        (
            "likewise ingest {to}/dbpedia --out {to}/dbpedia-events --class Event --to jsonl",
            "likewise eval hybrid --events {to}/dbpedia-events --out report",
        ),
    ),
    DataSet(
        "freebase-events",
        "Freebase, the last dump of all its facts",
        (
            DataFile(
                "freebase/freebase-rdf-latest.nt.gz",
                "https://commondatastorage.googleapis.com/freebase-public/rdf/freebase-rdf-latest.gz",
            ),
        ),
        "CC BY",
        "22 GB",
        (
            "likewise ingest {to}/freebase --out {to}/freebase-events --to jsonl",
            "likewise eval hybrid --events {to}/freebase-events --out report",
        ),
    ),
    DataSet(
        "opensense",
        "OpenSense Zurich: a year of ultrafine particles, measured on trams",
        (DataFile("opensense.json", "https://zenodo.org/api/records/415951"),),
        "as the Zenodo record says; it is shown after the download",
        "about 0.2 GB",
        ("likewise bench exact",),
        "zenodo",
        "",
        "The record's own list says which files there are, with their checksums; its address could not be tried where "
        "this was written. `likewise bench exact` runs on readings generated after the paper's description of them.",
    ),
)


def data_set(name: str) -> DataSet:
    """A data set by its name.

    >>> data_set("eurovoc").makes
    'eurovoc-2021-en-fr.json.gz'
    """
    found = next((each for each in SETS if each.name == name), None)
    if found is None:
        raise InputError(f"there is no data set {name!r}; known: {', '.join(each.name for each in SETS)}")
    return found
