"""Write the golden files of today: `python -m tests.golden.write`.

`--baseline` writes `outside-NAME.txt.xz` instead, with the sources of a release, once: what a later version must still
understand.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
TODAY: Final = FOLDER / "today"
BASELINE: Final = FOLDER / "outside-e564cb7.txt.xz"


def main(arguments: list[str]) -> None:
    """Write every document that differs, and say which."""
    from tests.golden.documents import DOCUMENTS, text_of

    if "--baseline" in arguments:
        lines = [f"{name}\t{line}" for name in DOCUMENTS for line in text_of(name).splitlines() if line[0] != "#"]
        BASELINE.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9))
        return
    TODAY.mkdir(exist_ok=True)
    for path in TODAY.glob("*.txt"):
        if path.stem not in DOCUMENTS:
            path.unlink()
    for name in DOCUMENTS:
        path, text = TODAY / f"{name}.txt", text_of(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"written: {path.relative_to(FOLDER.parent.parent)}")


if __name__ == "__main__":
    main(sys.argv[1:])
