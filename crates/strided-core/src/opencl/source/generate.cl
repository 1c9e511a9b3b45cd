// Numbers that follow from their position. `size` is that of an element, in bytes.

static inline void put(__global uchar *out, long i, long size, ulong value) {
    switch (size) {
    case 1: out[i] = (uchar)value; break;
    case 2: ((__global ushort *)out)[i] = (ushort)value; break;
    case 4: ((__global uint *)out)[i] = (uint)value; break;
    default: ((__global ulong *)out)[i] = value;
    }
}

__kernel void range_of_integers(long n, __global uchar *out, long size, long start, long step) {
    const long i = get_global_id(0);
    if (i < n) put(out, i, size, (ulong)start + (ulong)step * (ulong)i);
}

// The exact value is floor + rest / gaps; it is truncated. `rest` fits: there are fewer than 2^32 elements.
__kernel void linspace_of_integers(long n, __global uchar *out, long size, long start, long quotient, long remainder,
                                   long gaps, long is_signed) {
    const long i = get_global_id(0);
    if (i >= n) return;
    const ulong product = (ulong)remainder * (ulong)i;
    const ulong floor = (ulong)start + (ulong)quotient * (ulong)i + product / (ulong)gaps;
    const int is_fraction = product % (ulong)gaps != 0;
    put(out, i, size, floor + (ulong)(is_signed && (long)floor < 0 && is_fraction));
}

#ifdef HAS_DOUBLE
__kernel void range_of_floats(long n, __global uchar *out, long size, double start, double step) {
    const long i = get_global_id(0);
    if (i >= n) return;
    const double value = start + step * (double)i;
    if (size == 4) {
        ((__global float *)out)[i] = (float)value;
    } else {
        ((__global double *)out)[i] = value;
    }
}

// kernels/generate.rs says what these are.
typedef struct {
    double start, step_high, step_low, upper, lower, unscale, min_nonzero;
} Half;

static inline double2 two_sum(double a, double b) {
    const double high = a + b, v = high - a;
    return (double2)(high, (a - (high - v)) + (b - v));
}

static inline double at_index(const Half *ends, long index, long per_base) {
    const long in_block = index % per_base;
    const double block = (double)(index - in_block), i = (double)in_block;
    const double product = block * ends->step_high;
    const double lost = fma(block, ends->step_high, -product) + block * ends->step_low;
    const double2 first = two_sum(ends->start, product), base = two_sum(first.x, first.y + lost);
    const double2 sum = two_sum(base.x, i * ends->upper);
    const double value = sum.x + (sum.y + (base.y + i * ends->lower));
    return (fabs(value) < ends->min_nonzero ? 0.0 : value) * ends->unscale;
}

__kernel void linspace(long n, __global double *out, Half left, Half right, double start, double end, long per_base) {
    const long i = get_global_id(0);
    if (i >= n) return;
    double value = i < n / 2 ? at_index(&left, i, per_base) : at_index(&right, n - 1 - i, per_base);
    if (i == n - 1) value = end;
    if (i == 0) value = start;
    out[i] = value;
}
#endif
