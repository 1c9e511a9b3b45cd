// Triangles of matrices. W is an unsigned integer, or a pair of them, of the size of an element. The third operand is not
// memory: its location is the diagonal that the element is on.

#define LOCATE \
    const long x = get_global_id(0), y = get_global_id(1); \
    if (x >= inner || y >= outer) return; \
    long at[OPERANDS]; \
    locate(&nest, y, at); \
    const long i0 = at[0] + x * nest.step[0][nest.loops - 1]; \
    const long i1 = at[1] + x * nest.step[1][nest.loops - 1]; \
    const long on = at[2] + x * nest.step[2][nest.loops - 1];

__kernel void keep(Nest nest, long inner, long outer, __global W *out, __global const W *source, long diagonal, long upper,
                   long copies) {
    LOCATE
    const int is_kept = upper ? on >= diagonal : on <= diagonal;
    if (is_kept && !copies) return;
    W value = (W)0;
    if (is_kept) value = source[i1];
    out[i0] = value;
}

__kernel void eye(Nest nest, long inner, long outer, __global W *out, W one) {
    LOCATE
    W value = (W)0;
    if (on == 0) value = one;
    out[i0] = value;
}
