"""The time that an import adds to the start of Python in ms, for strided and installed peers.

    ./dev bench start                       builds for release first
    python bench/start.py --rounds 60       measures the built module

Runs of `python -c pass` and of each import are interleaved; the best of each counts.
"""

import argparse
import importlib.util
import subprocess
import sys
import time

LIBRARIES = ("strided", "numpy", "torch")


def once(statement: str) -> float:
    """Returns the time in ms that a new interpreter needs for a statement."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    rounds = parser.parse_args().rounds
    installed = [name for name in LIBRARIES if importlib.util.find_spec(name)]
    statements = {"pass": "pass"} | {name: f"import {name}" for name in installed}
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(rounds):
        for name, statement in statements.items():
            best[name] = min(best[name], once(statement))
    print(f"bare Python {best['pass']:.1f} ms; an import adds, best of {rounds} interleaved rounds:")
    for name in installed:
        print(f"  {name:10} {best[name] - best['pass']:8.2f} ms")


if __name__ == "__main__":
    main()
