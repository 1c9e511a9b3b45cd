// The results of softmax, made of an element and of what is known of its line. T is float or double.

__kernel void write_softmax(
    Nest nest, long inner, long outer, __global Y *y, __global const X *x, __global const T *max, __global const T *sum
) {
    const long column = get_global_id(0), row = get_global_id(1);
    if (column >= inner || row >= outer) return;
    long at[OPERANDS];
    locate(&nest, row, at);
    for (int k = 0; k < OPERANDS; k++) at[k] += column * nest.step[k][nest.loops - 1];
    const T difference = TERM(at[1]) - max[at[2]], s = sum[at[3]];
#ifdef LOGARITHM
    // Both are at most 0: no digits cancel.
    const T result = difference - log(s);
#else
    const T result = exp(difference) / s;
#endif
    STORE(at[0], result != result ? (T)NAN : result);
}
