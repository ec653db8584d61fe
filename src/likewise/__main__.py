"""`likewise`, and `python -m likewise`: the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C also ends it quietly while it is still being loaded."""
    try:
        from likewise.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
