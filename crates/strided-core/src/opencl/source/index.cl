// Elements that an index chooses. W is an unsigned integer, or a pair of them, of the size of an element.
//
// The operands are the output, the source, the index, and the positions as numbers. A kernel that needs fewer gets others twice.
// An offset that several indices make is NO_OFFSET if one of them is bad, which was reported when it was found.

#define NO_OFFSET LONG_MIN
#define LOCATE \
    const long x = get_global_id(0), y = get_global_id(1); \
    if (x >= inner || y >= outer) return; \
    long at[OPERANDS]; \
    locate(&nest, y, at); \
    const long i0 = at[0] + x * nest.step[0][nest.loops - 1]; \
    const long i1 = at[1] + x * nest.step[1][nest.loops - 1]; \
    const long i2 = at[2] + x * nest.step[2][nest.loops - 1]; \
    const long i3 = at[3] + x * nest.step[3][nest.loops - 1];

// A work item has `run` elements of the innermost loop.
__kernel void gather(Nest nest, long inner, long outer, __global W *out, __global const W *source,
                     __global const long *index, long extent, long stride, long wraps, long run,
                     __global Fault *fault, int operation) {
    const long first = get_global_id(0) * run, y = get_global_id(1), count = min(run, inner - first);
    if (first >= inner || y >= outer) return;
    long at[OPERANDS];
    locate(&nest, y, at);
    const long s0 = nest.step[0][nest.loops - 1], s1 = nest.step[1][nest.loops - 1], s2 = nest.step[2][nest.loops - 1];
    out += at[0] + first * s0;
    source += at[1] + first * s1;
    index += at[2] + first * s2;
    if (s2 != 0) {
        for (long i = 0; i < count; i++) {
            const long chosen = checked_index(index[i * s2], extent, wraps, fault, operation);
            W value = (W)0;
            if (chosen >= 0) value = source[i * s1 + chosen * stride];
            out[i * s0] = value;
        }
        return;
    }
    const long chosen = checked_index(index[0], extent, wraps, fault, operation);
    if (chosen < 0) {
        for (long i = 0; i < count; i++) out[i * s0] = (W)0;
        return;
    }
    source += chosen * stride;
    if (s0 == 1 && s1 == 1) {
        for (long i = 0; i < count; i++) out[i] = source[i];
    } else {
        for (long i = 0; i < count; i++) out[i * s0] = source[i * s1];
    }
}

__kernel void add_offsets(Nest nest, long inner, long outer, __global long *out, __global const long *index,
                          long extent, long stride, __global Fault *fault, int operation) {
    LOCATE
    const long chosen = checked_index(index[i2], extent, 1, fault, operation);
    const long before = out[i0];
    out[i0] = chosen < 0 || before == NO_OFFSET ? NO_OFFSET : before + chosen * stride;
}

#define MAX_MODES 16
typedef struct {
    long rank, extent[MAX_MODES], stride[MAX_MODES];
} Modes;

__kernel void add_unraveled_offsets(Nest nest, long inner, long outer, __global long *out,
                                    __global const long *index, long extent, Modes modes,
                                    __global Fault *fault, int operation) {
    LOCATE
    long rest = checked_index(index[i2], extent, 1, fault, operation);
    if (rest < 0) {
        out[i0] = NO_OFFSET;
        return;
    }
    long offset = 0;
    for (long k = modes.rank - 1; k >= 0; k--) {
        const long next = rest / modes.extent[k];
        offset += (rest - next * modes.extent[k]) * modes.stride[k];
        rest = next;
    }
    out[i0] += offset;
}

// A scatter. Where several positions choose one element, the last one in row-major order stays: the first kernel finds it,
// the second one writes. `last` has a number for each element of the output's span, which begins at `lowest`; or for each
// index, where it chooses whole slices.
#define PLACE (by_index ? chosen : i0 + chosen * stride - lowest)

__kernel void find_last(Nest nest, long inner, long outer, __global int *last, long by_index, long lowest,
                        __global const long *index, long extent, long stride, long wraps,
                        __global Fault *fault, int operation) {
    LOCATE
    const long chosen = checked_index(index[i2], extent, wraps, fault, operation);
    if (chosen >= 0) atomic_max(last + PLACE, (int)i3);
}

__kernel void write_last(Nest nest, long inner, long outer, __global W *out, __global const W *source,
                         __global const int *last, long by_index, long lowest, __global const long *index,
                         long extent, long stride, long wraps, long run) {
    const long first = get_global_id(0) * run, y = get_global_id(1), count = min(run, inner - first);
    if (first >= inner || y >= outer) return;
    long at[OPERANDS], step[OPERANDS];
    locate(&nest, y, at);
    for (int k = 0; k < OPERANDS; k++) {
        step[k] = nest.step[k][nest.loops - 1];
        at[k] += first * step[k];
    }
    const int is_slice = step[2] == 0 && step[3] == 0 && by_index;
    for (long i = 0; i < count; i++) {
        const long i0 = at[0] + i * step[0], i1 = at[1] + i * step[1], i3 = at[3] + i * step[3];
        const long value = index[at[2] + i * step[2]], chosen = value < 0 && wraps ? value + extent : value;
        const int is_written = chosen >= 0 && chosen < extent && last[PLACE] == (int)i3;
        if (is_slice) {
            // One index for all elements of the run.
            for (; is_written && i < count; i++) out[at[0] + i * step[0] + chosen * stride] = source[at[1] + i * step[1]];
            return;
        }
        if (is_written) out[i0 + chosen * stride] = source[i1];
    }
}
