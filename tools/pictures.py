"""Generates docs/pictures/*.svg, the drawings of layouts and devices in the documents.

python tools/pictures.py             writes the files
python tools/pictures.py --check     exits with code 1 and a message if a file is stale
"""

import sys
from pathlib import Path

import strided as st

FOLDER = Path(__file__).resolve().parent.parent / "docs/pictures"

#: Where the tensors of the example in docs/devices.md are.
PLACES = {
    "cpu": ["FloatTensor(1)", "randn(2)"],
    "gpu:0": ["x = gpu.FloatTensor(1)", "y = FloatTensor(1).gpu()", "z = x + y"],
    "gpu:1": ["a = gpu.FloatTensor(1)", "b = FloatTensor(1).gpu()"],
    "gpu:2": ["c = randn(2).gpu(2)"],
}
#: Width of a device and height of a tensor, in pixels.
WIDTH, HEIGHT = 190, 26


def pictures() -> dict[str, str]:
    """Returns the text of each file by its name."""
    x = st.arange(12).view(3, 4)
    return {
        "row_major": st.draw(x.layout).svg(),
        "transpose": st.draw(x.t().layout).svg(),
        "part": st.draw((x * 10)[1:, ::2].flip(1)).svg(),
        "windows": st.draw(st.arange(6).unfold(0, 3, 1).layout).svg(),
        "devices": devices(),
    }


def devices() -> str:
    """A box for each device, with its tensors; the CPU's are copied from there."""
    height = 34 + HEIGHT * max(map(len, PLACES.values()))
    style = 'font-family="ui-monospace, monospace" font-size="12"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(PLACES) * (WIDTH + 10)}" height="{height + 10}" {style}>'
    ]
    for column, (device, tensors) in enumerate(PLACES.items()):
        left = 5 + column * (WIDTH + 10)
        fill = "#f2f2f2" if device == "cpu" else "#e3eefc"
        lines.append(f'<rect x="{left}" y="5" width="{WIDTH}" height="{height}" rx="6" fill="{fill}" stroke="#888"/>')
        lines.append(f'<text x="{left + 8}" y="24" font-weight="bold" fill="#222">{device}</text>')
        for row, tensor in enumerate(tensors):
            top = 32 + row * HEIGHT
            box = f'x="{left + 6}" y="{top}" width="{WIDTH - 12}" height="{HEIGHT - 6}" rx="3"'
            lines.append(f'<rect {box} fill="#ffffff" stroke="#aaa"/>')
            lines.append(f'<text x="{left + 12}" y="{top + 14}" fill="#222">{tensor}</text>')
    return "\n".join([*lines, "</svg>", ""])


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
