"""`python -m likewise`: the command line."""

from likewise.cli.main import main

if __name__ == "__main__":
    main()
