"""Mathematical functions of 10M elements into new memory, next to the best of NumPy and PyTorch; halves next to float32.

./dev bench maths                      builds for release first
python bench/maths.py --only exp       measures what is built
"""

import sys

from _compare import Row, libraries, options, report

N = 10_000_000
SMALL = 4096  # in the first cache
#: Functions that both peers have, or PyTorch alone.
BOTH = ["exp", "log", "sin", "cos", "tanh", "sqrt", "log1p"]
TORCH = ["sigmoid", "erf"]


def rows() -> list[Row]:
    found = []
    for name, x in (("float32", "x"), ("float64", "d")):
        size = 8 * N if x == "x" else 16 * N
        for op in BOTH + TORCH:
            numpy = (f"np.{op}({x})",) if op in BOTH else ()
            torch = f"torch.special.{op}({x})" if op == "erf" else f"torch.{op}({x})"
            found.append(Row(f"{op} {name}", f"st.{op}({x})", numpy, (torch,), aim=0.5, moved=size))
    found.append(Row("pow float32", "st.pow(x, y)", ("np.power(x, y)",), ("torch.pow(x, y)",), aim=0.5, moved=12 * N))
    found.append(Row("pow float64", "st.pow(d, e)", ("np.power(d, e)",), ("torch.pow(d, e)",), aim=0.8, moved=24 * N))
    for x, name in (("x", "float32"), ("h", "float16"), ("b", "bfloat16")):
        # NumPy has no bfloat16, and computes float16 one by one.
        found.append(Row(f"exp {name}, halves", f"st.exp({x})", (), (f"torch.exp({x})",)))
        found.append(Row(f"exp {name}, halves in cache", f"st.exp({x}s)", (), (f"torch.exp({x}s)",)))
    return found


def main() -> int:
    args = options(__doc__, rounds=25)
    found = libraries(args.threads)
    np = found["numpy"]
    values = np.random.default_rng(0).uniform(0.01, 5, N)
    arrays = {
        "x": values.astype(np.float32),
        "d": values,
        "y": values[::-1].astype(np.float32),
        "e": values[::-1].copy(),
    }
    spaces = {"numpy": arrays | {"np": np}}
    for name, short in (("strided", "st"), ("torch", "torch")):
        if module := found.get(name):
            own = {key: module.from_numpy(value) for key, value in arrays.items()}
            own |= {"h": own["x"].to(module.float16), "b": own["x"].to(module.bfloat16)}
            own |= {f"{key}s": own[key][:SMALL].clone() for key in "xhb"}
            spaces[name] = own | {short: module}
    return report("mathematical functions", rows(), spaces, args)


if __name__ == "__main__":
    sys.exit(main())
