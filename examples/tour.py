"""A tour of strided: shows each line, runs it, and prints the result. Start it with `./dev tour` or `strided tour`."""

from strided.cli import main

if __name__ == "__main__":
    main(["tour"])
