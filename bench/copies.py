"""Moving 10M elements: copies, fills, casts and transposes, compared with the best of NumPy and PyTorch and with the machine.

./dev bench copies                      builds for release first
python bench/copies.py --rows clone     measures the built module
"""

import sys

from _compare import Row, libraries, parser, report

N = 10_000_000
SIDE = 3000
IMAGES = (16, 64, 98, 100)  # about 10M, as PyTorch stores images
SIX = (14, 15, 16, 14, 15, 14)
ORDER = (5, 3, 1, 0, 4, 2)

#: The reason why rows that only move memory cannot be much faster than a peer that is close to the machine's speed as well.
BOUND = "bound by memory: see the machine's column; here two threads write no faster than one, whatever was tried"

ROWS = [
    Row("clone", "x.clone()", ("x.copy()", "np.copy(x)"), ("x.clone()",), aim=0.5, moved=8 * N),
    Row("clone float64", "d.clone()", ("d.copy()",), ("d.clone()",), aim=0.5, moved=16 * N),
    Row("clone uint8", "u.clone()", ("u.copy()",), ("u.clone()",), moved=2 * N),
    Row("copy_", "y.copy_(x)", ("np.copyto(y, x)",), ("y.copy_(x)",), moved=8 * N),
    Row("fill_", "y.fill_(1.5)", ("y.fill(1.5)",), ("y.fill_(1.5)",), aim=1.0, moved=4 * N, like="write", limit=1.15, why="the machine was measured with both threads awake; our workers sleep during the pause, and waking one takes 0.05 to 0.1 ms"),
    Row("zeros, then fill_", "zeros(N).fill_(1.5)", ("np.full(N, 1.5, np.float32)",), ("torch.full((N,), 1.5)",)),
    Row("copy_ float32 to float64", "d.copy_(x)", ("np.copyto(d, x)",), ("d.copy_(x)",), aim=0.5, moved=12 * N, why=BOUND),
    Row("copy_ float64 to float32", "y.copy_(d)", ("np.copyto(y, d)",), ("y.copy_(d)",), aim=0.5, moved=12 * N, why=BOUND),
    Row("copy_ float32 to int32", "i.copy_(x)", ("np.copyto(i, x, casting='unsafe')",), ("i.copy_(x)",), aim=0.5, moved=8 * N, why=BOUND),
    Row("copy_ uint8 to float32", "y.copy_(u)", ("np.copyto(y, u)",), ("y.copy_(u)",), aim=0.5, moved=5 * N, why=BOUND),
    Row("transposed 3000x3000, contiguous", "m.t().contiguous()", ("np.ascontiguousarray(m.T)", "m.T.copy()"), ("m.t().contiguous()",), aim=0.4, moved=8 * SIDE**2, limit=2.0),
    Row("transposed 3000x3000 float64", "w.t().contiguous()", ("np.ascontiguousarray(w.T)",), ("w.t().contiguous()",), moved=16 * SIDE**2),
    Row("transposed 3000x3000 uint8", "b.t().contiguous()", ("np.ascontiguousarray(b.T)",), ("b.t().contiguous()",), moved=2 * SIDE**2),
    Row("NCHW to NHWC", "c.permute(0, 2, 3, 1).contiguous()", ("np.ascontiguousarray(c.transpose(0, 2, 3, 1))",), ("c.permute(0, 2, 3, 1).contiguous()",), aim=0.7, moved=8 * N),
    Row("NCHW to NHWC, 3 channels", "rgb.permute(0, 2, 3, 1).contiguous()", ("np.ascontiguousarray(rgb.transpose(0, 2, 3, 1))",), ("rgb.permute(0, 2, 3, 1).contiguous()",), aim=0.7, moved=8 * N),
    Row("6-D permutation", f"s.permute{ORDER}.contiguous()", (f"np.ascontiguousarray(s.transpose{ORDER})",), (f"s.permute{ORDER}.contiguous()",), aim=0.4, moved=8 * N),
    Row("every second element", "x[::2].clone()", ("x[::2].copy()",), ("x[::2].clone()",), moved=6 * N),
    Row("a column to a row", "m[:, 5].clone()", ("m[:, 5].copy()",), ("m[:, 5].clone()",)),
    Row("expanded rows", "row.expand(SIDE, SIDE).contiguous()", ("np.ascontiguousarray(np.broadcast_to(row, (SIDE, SIDE)))",), ("row.expand(SIDE, SIDE).contiguous()",), moved=4 * SIDE**2, like="write"),
    Row("flipped", "m.flip(0).contiguous()", ("np.ascontiguousarray(m[::-1])",), ("m.flip(0)",), moved=8 * SIDE**2),
    Row("flipped in its last dim", "m.flip(1).contiguous()", ("np.ascontiguousarray(m[:, ::-1])",), ("m.flip(1)",), moved=8 * SIDE**2),
]  # fmt: skip


def main() -> int:
    args = parser(__doc__, rounds=40).parse_args()
    found = libraries(args.threads)
    np, st = found["numpy"], found["strided"]
    values = np.random.default_rng(0).standard_normal(N, dtype=np.float32)
    arrays = {
        "x": values,
        "y": np.zeros(N, np.float32),
        "d": np.zeros(N),
        "i": np.zeros(N, np.int32),
        "u": (values * 50).astype(np.uint8),
        "m": values[: SIDE**2].reshape(SIDE, SIDE),
        "w": values[: SIDE**2].astype(float).reshape(SIDE, SIDE),
        "b": values[: SIDE**2].astype(np.uint8).reshape(SIDE, SIDE),
        "c": np.resize(values, IMAGES),
        "rgb": np.resize(values, (16, 3, 455, 458)),
        "s": np.resize(values, SIX),
        "row": values[:SIDE],
    }
    sizes = {"N": N, "SIDE": SIDE}
    spaces = {"strided": {name: st.tensor(array) for name, array in arrays.items()} | {"zeros": st.zeros} | sizes}
    spaces["numpy"] = {name: array.copy() for name, array in arrays.items()} | {"np": np} | sizes
    if torch := found.get("torch"):
        spaces["torch"] = {name: torch.tensor(array) for name, array in arrays.items()} | {"torch": torch} | sizes
    return report("Moving 10M elements", ROWS, spaces, args)


if __name__ == "__main__":
    sys.exit(main())
