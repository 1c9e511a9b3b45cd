// A scatter that combines the elements of the source with the chosen ones, in row-major order, so that sums have the bits of the
// CPU. Work items never share an element of the output: each has its own place along the dims that the index does not choose
// from, and its own range of indices. E is the type of an element in memory, T that of its number.

#define MAX_SEQUENCE 8
typedef struct {
    long loops, extent[MAX_SEQUENCE], source_step[MAX_SEQUENCE], index_step[MAX_SEQUENCE];   // outermost first
} Sequence;

static inline T combined(T old, T value, long rule) {
    switch (rule) {
    case 0: return op_add(old, value);
    case 1: return op_mul(old, value);
#ifdef HAS_ORDER
    case 2: return op_maximum(old, value);
    default: return op_minimum(old, value);
#else
    default: return old;
#endif
    }
}

__kernel void combine(Nest nest, long inner, long outer, __global E *p0, __global const E *p1, __global const long *index,
                      Sequence sequence, long rule, long ranges, long extent, long stride, long wraps,
                      __global Fault *fault, int operation) {
    const long x = get_global_id(0), y = get_global_id(1);
    if (x >= inner || y >= outer) return;
    long at[OPERANDS];
    locate(&nest, y, at);
    for (int k = 0; k < OPERANDS; k++) at[k] += x * nest.step[k][nest.loops - 1];
    const long low = extent / ranges * at[3] + min(extent % ranges, at[3]);
    const long high = low + extent / ranges + (at[3] < extent % ranges);
    const long last = sequence.loops - 1;
    long count = 1;
    for (long l = 0; l < last; l++) count *= sequence.extent[l];
    for (long i = 0; i < count; i++) {
        long source_at = at[1], index_at = at[2], rest = i;
        for (long l = last - 1; l >= 0; l--) {
            const long next = rest / sequence.extent[l], step = rest - next * sequence.extent[l];
            source_at += step * sequence.source_step[l];
            index_at += step * sequence.index_step[l];
            rest = next;
        }
        for (long j = 0; j < sequence.extent[last]; j++) {
            const long value = index[index_at + j * sequence.index_step[last]];
            const long chosen = checked_index(value, extent, wraps, fault, operation);
            if (chosen < low || chosen >= high) continue;
            const long i0 = at[0] + chosen * stride, i1 = source_at + j * sequence.source_step[last];
            const T old = LOAD_OUT, other = LOAD_SOURCE;
            const T result = combined(old, other, rule);
            STORE_OUT
        }
    }
}
