"""Work on an OpenCL device, compared with pyopencl.array, kernels by hand, CLBlast and memcpy on the same device.

./dev bench devices                      builds for release first
POCL_DEVICES=pthread python bench/devices.py --rows sum

Every spelling waits until the device is done. It needs pyopencl, and for the products CLBlast (Debian: libclblast1).
"""

import ctypes
import ctypes.util
import sys

import _timing as timing
from _compare import Row, libraries, parser, report

N = 10_000_000
SMALL = 1000
SIDE = 3000
MATRIX = 512
LARGE = 32_000_000  # float32: 128 MB

HAND = """
__kernel void add_transposed(__global const float *a, __global const float *b, __global float *c, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n) c[y * n + x] = a[y * n + x] + b[x * n + y];
}
__kernel void add_rows(__global const float *a, __global const float *row, __global float *c, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n) c[y * n + x] = a[y * n + x] + row[x];
}
__kernel void every_second(__global const float *a, __global float *c, int n) {
    int i = get_global_id(0);
    if (i < n) c[i] = a[2 * i] * 2.0f;
}
"""


def peer(spelling: str) -> tuple[tuple[str, str], ...]:
    return (("pyopencl", spelling),)


ROWS = [
    Row("a launch: 1000 elements, waited for", "s + s, wait()", others=peer("s + s, wait()"), aim=1.0, short=True),
    Row("100 launches: 1000 elements", "[s + s for _ in hundred], wait()", others=peer("[s + s for _ in hundred], wait()"), aim=1.0),
    Row("x + y", "x + y, wait()", others=peer("x + y, wait()"), aim=1.0),
    Row("x * 2", "x * 2, wait()", others=peer("x * 2, wait()"), aim=1.0),
    Row("x += y", "x.add_(y), wait()", others=peer("x.__iadd__(y), wait()"), aim=1.0),
    Row("exp", "x.exp(), wait()", others=peer("clmath.exp(x), wait()"), aim=1.0),
    Row("sqrt", "q.sqrt(), wait()", others=peer("clmath.sqrt(q), wait()"), aim=1.0),
    Row("sum", "x.sum(), wait()", others=peer("array.sum(x), wait()"), aim=1.0),
    Row("max", "x.amax(), wait()", others=peer("array.max(x), wait()"), aim=1.0),
    Row("M + M.t() of 3000x3000", "m + m.t(), wait()", others=peer("hand('add_transposed', m, m, m_out)"), aim=1.1),
    Row("M + row", "m + row, wait()", others=peer("hand('add_rows', m, row, m_out)"), aim=1.1),
    Row("x[::2] * 2", "x[::2] * 2, wait()", others=peer("second(x, half)"), aim=1.1),
    Row("A @ B of 512x512", "a @ b, wait()", others=(("clblast", "gemm()"),), aim=1.2),
    Row("128 MB to the device", "d.copy_(h), wait()", others=(("memcpy", "copy()"),), aim=1.1),
    Row("128 MB from the device", "h.copy_(d)", others=(("memcpy", "copy()"),), aim=1.1),
]  # fmt: skip


def pyopencl_names(arrays: dict[str, object]) -> dict[str, dict[str, object]]:
    """The names of pyopencl's spellings, and those of CLBlast's, if they are installed."""
    cl, np = timing.installed("pyopencl"), timing.installed("numpy")
    if not cl or not np:
        return {}
    import pyopencl.array as array
    import pyopencl.clmath as clmath
    import pyopencl.tools as tools

    device = cl.get_platforms()[0].get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    pool = tools.MemoryPool(tools.ImmediateAllocator(queue))
    put = {name: array.to_device(queue, value, allocator=pool) for name, value in arrays.items()}
    program = cl.Program(context, HAND).build()
    side, half = np.int32(SIDE), np.int32(N // 2)
    kernels = {name: getattr(program, name) for name in ("add_transposed", "add_rows", "every_second")}

    def hand(name: str, *operands: object) -> None:
        shape = (-(-SIDE // 64) * 64, SIDE)
        kernels[name](queue, shape, (64, 1), *(x.data for x in operands), side)
        queue.finish()

    def second(x: object, out: object) -> None:
        kernels["every_second"](queue, (-(-N // 2 // 256) * 256,), (256,), x.data, out.data, half)
        queue.finish()

    names = {
        "wait": queue.finish,
        "hand": hand,
        "second": second,
        "array": array,
        "clmath": clmath,
        "hundred": range(100),
    }
    names |= put | {"m_out": array.empty_like(put["m"]), "half": array.empty(queue, N // 2, np.float32)}
    found = {"pyopencl": names}
    path = ctypes.util.find_library("clblast")
    if path:
        blas = ctypes.CDLL(path)
        a, b = put["a"], put["b"]
        c = array.empty_like(a)
        handle = ctypes.c_void_p(queue.int_ptr)
        buffers = [ctypes.c_void_p(x.data.int_ptr) for x in (a, b, c)]
        n, zero, one = ctypes.c_size_t(MATRIX), ctypes.c_size_t(0), ctypes.c_float(1.0)

        def gemm() -> None:
            code = blas.CLBlastSgemm(
                101, 111, 111, n, n, n, one, buffers[0], zero, n, buffers[1], zero, n, ctypes.c_float(0.0), buffers[2],
                zero, n, ctypes.byref(handle), None,
            )  # fmt: skip
            if code:
                raise RuntimeError(f"CLBlast failed with {code}")
            queue.finish()

        found["clblast"] = {"gemm": gemm}
    return found


def main() -> int:
    args = parser(__doc__, rounds=30).parse_args()
    found = libraries(args.threads)
    np, st = found["numpy"], found["strided"]
    if not st.gpu.is_available():
        print("There is no OpenCL device.", file=sys.stderr)
        return 1
    values = np.random.default_rng(0).standard_normal(N, dtype=np.float32)
    arrays = {
        "x": values,
        "y": values[::-1].copy(),
        "q": np.abs(values),
        "s": values[:SMALL],
        "m": values[: SIDE**2].reshape(SIDE, SIDE),
        "row": values[:SIDE],
        "a": values[: MATRIX**2].reshape(MATRIX, MATRIX),
        "b": values[MATRIX**2 : 2 * MATRIX**2].reshape(MATRIX, MATRIX),
    }
    ours = {name: st.tensor(value).gpu() for name, value in arrays.items()}
    ours |= {"h": st.rand(LARGE), "d": st.rand(LARGE).gpu(), "wait": st.gpu.synchronize, "hundred": range(100)}
    source, target = np.ones(LARGE, np.float32), np.zeros(LARGE, np.float32)
    spaces = {"strided": ours, **pyopencl_names(arrays), "memcpy": {"copy": lambda: np.copyto(target, source)}}
    print(f"{st.gpu.get_device_name()}, {st.gpu.get_device_properties().driver}")
    return report("Work on a device", ROWS, spaces, args)


if __name__ == "__main__":
    sys.exit(main())
