"""A WordNet of a dozen synsets in the database's own format, for tests that must not need the real one."""

from __future__ import annotations

from pathlib import Path

LICENCE = "  1 This line stands for the licence.  \n"
NOUNS = """\
00000010 03 n 01 entity 0 002 ~ 00000020 n 0000 ~ 00000030 n 0000 | that which exists
00000020 06 n 01 machine 0 4 @ 00000010 n 0000 ~ 00000040 n 0000 ~ 00000050 n 0000 ~ 00000070 n 0000 | a device; "hums"
00000030 03 n 01 creature 0 002 @ 00000010 n 0000 ~ 00000060 n 0000 | a living thing
00000040 06 n 02 motor_vehicle 0 automobile 0 002 @ 00000020 n 0000 %p 00000070 n 0000 | a machine with wheels
00000050 06 n 01 computer 0 002 @ 00000020 n 0000 ~ 00000080 n 0000 | a machine for calculating
00000060 05 n 02 mouse 0 Mus 0 001 @ 00000030 n 0000 | a small living creature with a tail
00000070 06 n 01 wheel 0 002 @ 00000020 n 0000 #p 00000040 n 0000 | a round part of a machine
00000080 06 n 01 mouse 1 001 @ 00000050 n 0000 | a device that points on a computer
"""
VERBS = """\
00000110 38 v 01 drive 0 002 ~ 00000120 v 0000 + 00000040 n 0101 01 + 08 00 | go by machine
00000120 38 v 01 race 0 001 @ 00000110 v 0000 01 + 08 00 | drive fast; "race a car"
"""
ADJECTIVES = """\
00000210 00 a 01 fast(p) 0 001 ! 00000220 a 0101 | moving quickly
00000220 00 a 01 slow 0 001 ! 00000210 a 0101 | not moving quickly
"""
ADVERBS = "00000310 02 r 01 quickly 0 001 \\ 00000210 a 0101 | in a fast way\n"
INDEXES = {
    "noun": {"mouse": "00000060 00000080"},
    "verb": {},
    "adj": {},
    "adv": {},
}


def write_tiny_wordnet(folder: Path) -> Path:
    """Writes the files and returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("noun", NOUNS), ("verb", VERBS), ("adj", ADJECTIVES), ("adv", ADVERBS)):
        (folder / f"data.{name}").write_text(LICENCE + text)
        lines = [
            f"{word} {name[0]} {len(offsets.split())} 0 {len(offsets.split())} 0 {offsets}  \n"
            for word, offsets in INDEXES[name].items()
        ]
        (folder / f"index.{name}").write_text(LICENCE + "".join(lines))
    (folder / "cntlist.rev").write_text("mouse%1:05:00:: 1 7\nautomobile%1:06:00:: 1 5\ncomputer%1:06:00:: 1 2\n")
    (folder / "noun.exc").write_text("mice mouse\nmotor_vehicula motor_vehicle\n")
    return folder
