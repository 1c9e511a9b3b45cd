// The results of softmax, made of an element and of what is known of its line: LANES neighbouring ones by each work item. T is float or
// double.

__kernel void write_softmax(
    Nest nest, long inner, long outer, __global Y *y, __global const X *x, __global const T *max, __global const T *sum
) {
    const long column = get_global_id(0) * LANES, row = get_global_id(1);
    if (column >= inner || row >= outer) return;
    long at[OPERANDS], step[OPERANDS];
    locate(&nest, row, at);
    for (int k = 0; k < OPERANDS; k++) {
        step[k] = nest.step[k][nest.loops - 1];
        at[k] += column * step[k];
    }
    // Lanes past the end repeat the first one.
    const long count = min((long)LANES, inner - column);
    T differences[LANES], sums[LANES], results[LANES];
    if (count == LANES && step[0] == 1 && step[1] == 1 && step[2] == 0) {
        EACH_LANE(j) differences[j] = TERM(at[1] + j) - max[at[2]];
        EACH_LANE(j) sums[j] = sum[at[3]];
    } else {
        EACH_LANE(j) differences[j] = TERM(at[1] + (j < count ? j : 0) * step[1]) - max[at[2] + (j < count ? j : 0) * step[2]];
        EACH_LANE(j) sums[j] = sum[at[3] + (j < count ? j : 0) * step[3]];
    }
#ifdef LOGARITHM
    // Both are at most 0: no digits cancel.
    V result = LOAD_LANES(differences) - log(LOAD_LANES(sums));
#else
    V result = exp(LOAD_LANES(differences)) / LOAD_LANES(sums);
#endif
    STORE_LANES(result, results);
    EACH_LANE(j) results[j] = results[j] != results[j] ? (T)NAN : results[j];
    if (count == LANES && step[0] == 1) {
        EACH_LANE(j) { STORE(at[0] + j, results[j]); }
    } else {
        for (long j = 0; j < count; j++) { STORE(at[0] + j * step[0], results[j]); }
    }
}
