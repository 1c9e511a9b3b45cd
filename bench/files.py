"""Saving and loading: large tensors, many tensors, and .t7 tables, compared with NumPy, safetensors, torchfile and the system.

./dev bench files                            builds for release first
python bench/files.py --megabytes 100        measures the built module with smaller files
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import _timing as timing
from _compare import Row, libraries, measure, parser, shown

MANY = 10_000
SMALL = 20_000

ROWS = [
    Row("save .npy", "save(x, out, fsync=False), remove(out)", ("np.save(out, x), remove(out)",), aim=1.05),
    Row("save, the default format", "save(x, out, 'safetensors', fsync=False), remove(out)", ("np.save(out, x), remove(out)",), others=(("safetensors", "save_file({'x': x}, out), remove(out)"),), aim=1.05),
    Row("save, on the disk", "save(x, out, 'safetensors'), remove(out)", others=(("machine", "write_and_sync(out, x), remove(out)"),), limit=1.2),
    Row("load .npy", "load(npy)", ("np.load(npy)",), aim=1.05),
    Row("load .safetensors", "load(large)", ("np.load(npy)",), others=(("safetensors", "load_file(large)"),), aim=1.05),
    Row("load .npz", "load(npz)", ("dict(np.load(npz))",), aim=1.05),
    Row("map .npy", "load(npy, mmap='r')", ("np.load(npy, mmap_mode='r')",), aim=1.05, short=True),
    Row("open 10k tensors", "files.open(many).names", others=(("safetensors", "open_many(many)"),), aim=1.0),
    Row("load 10k tensors", "load(many)", others=(("safetensors", "load_file(many)"),), aim=1.0),
    Row("load a .t7 table of 20k tensors", "load(table)", others=(("torchfile", "load(table, use_list_heuristic=False)"),), aim=0.05),
    Row("load a large .t7 tensor", "load(t7)", others=(("torchfile", "load(t7)"),), aim=1.0),
    Row("save a .t7 table of 20k tensors", "save(small, out, 't7', fsync=False), remove(out)"),
]  # fmt: skip


def write_and_sync(path: str, x: Any) -> None:
    """What a save must do at least: the bytes, and the wait for the disk."""
    with open(path, "wb", buffering=0) as file:
        view = memoryview(x).cast("B")
        done = 0
        while done < len(view):
            done += file.write(view[done:])
        os.fsync(file.fileno())


def open_many(safetensors: Any) -> Any:
    def names(path: str) -> list[str]:
        with safetensors.safe_open(path, framework="np") as file:
            return list(file.keys())

    return names


def spaces_of(found: dict[str, Any], folder: Path, megabytes: int) -> dict[str, dict[str, Any]]:
    """The operands of each library, and the files that they read."""
    np, st = found["numpy"], found["strided"]
    x = np.random.default_rng(0).standard_normal(megabytes * 250_000, dtype=np.float32)
    paths: dict[str, Any] = {name: str(folder / name) for name in ("npy", "npz", "large", "many", "table", "t7")}
    # What is saved is removed within the time that is measured. Otherwise a library would pay for the removal of what another
    # one has written, and the system would slow down writers when too much is not on the disk yet.
    paths["out"] = str(folder / "out.npy")
    np.save(folder / "npy.npy", x)
    os.rename(folder / "npy.npy", folder / "npy")
    np.savez(folder / "npz.npz", x=x)
    os.rename(folder / "npz.npz", folder / "npz")
    tensor = st.tensor(x)
    st.save({"x": tensor}, paths["large"])
    st.save({f"layer.{i}.weight": st.ones(10) for i in range(MANY)}, paths["many"])
    small = [st.ones(3, 4) for _ in range(SMALL)]
    st.save(small, paths["table"], format="t7")
    st.save(tensor.double(), paths["t7"], format="t7")
    # Files that the system still has to write would slow down whoever writes next.
    os.sync()
    paths["remove"] = os.remove
    ours = {"save": st.save, "load": st.load, "files": st.files, "x": tensor, "small": small}
    spaces = {"strided": ours | paths, "numpy": {"np": np, "x": x, "dict": dict} | paths}
    spaces["machine"] = {"write_and_sync": write_and_sync, "x": x} | paths
    if package := found.get("safetensors"):
        from safetensors.numpy import load_file, save_file

        functions = {"save_file": save_file, "load_file": load_file, "open_many": open_many(package)}
        spaces["safetensors"] = functions | {"x": x} | paths
    if torchfile := found.get("torchfile"):
        spaces["torchfile"] = {"load": torchfile.load} | paths
    return spaces


def main() -> int:
    words = parser(__doc__ or "", rounds=7)
    words.add_argument("--megabytes", type=int, default=1000, help="the size of large files")
    words.add_argument(
        "--folder", type=Path, help="where the files are; the system's folder for such files unless given"
    )
    args = words.parse_args()
    found = libraries(args.threads, "safetensors", "torchfile")
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        spaces = spaces_of(found, Path(folder), args.megabytes)
        modules = [module for module in found.values() if hasattr(module, "__version__")]
        print(f"Files of {args.megabytes} MB, {args.threads} threads; {timing.machine(*modules)}")
        shown(measure([row for row in ROWS if args.rows.search(row.name)], spaces, None, args.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
