"""Generates docs/pictures/*.svg, the drawings of layouts in the documents.

python tools/pictures.py             writes the files
python tools/pictures.py --check     exits with code 1 and a message if a file is stale
"""

import sys
from pathlib import Path

import strided as st

FOLDER = Path(__file__).resolve().parent.parent / "docs/pictures"


def pictures() -> dict[str, str]:
    """Returns the text of each file by its name."""
    x = st.arange(12).view(3, 4)
    return {
        "row_major": st.draw(x.layout).svg(),
        "transpose": st.draw(x.t().layout).svg(),
        "part": st.draw((x * 10)[1:, ::2].flip(1)).svg(),
        "windows": st.draw(st.arange(6).unfold(0, 3, 1).layout).svg(),
    }


def main(*arguments: str) -> int:
    if arguments not in ((), ("--check",)):
        print("pictures: takes only --check.", file=sys.stderr)
        return 2
    stale = [name for name, text in pictures().items() if _stored(name) != text]
    if arguments and stale:
        print(
            f"pictures: docs/pictures is stale ({', '.join(stale)}); tools/pictures.py regenerates it.", file=sys.stderr
        )
        return 1
    for name in stale:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{name}.svg").write_text(pictures()[name], encoding="utf-8")
    return 0


def _stored(name: str) -> str | None:
    file = FOLDER / f"{name}.svg"
    return file.read_text(encoding="utf-8") if file.exists() else None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
