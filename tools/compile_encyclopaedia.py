"""Compile the domains of the encyclopaedia into the file that a start reads."""

from pathlib import Path

from likewise.semantics.concepts.library import COMPILED, compile_encyclopaedia

DATA = Path(__file__).parents[1] / "src" / "likewise" / "data"

if __name__ == "__main__":
    data = compile_encyclopaedia()
    (DATA / COMPILED).write_bytes(data)
    print(f"{COMPILED}: {len(data):,} bytes")
