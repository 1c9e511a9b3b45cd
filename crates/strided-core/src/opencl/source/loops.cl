// A nest of loops over the operands of a call. The innermost loop is the first dim of the launch, all others are the second one.

#define MAX_LOOPS 8
typedef struct {
    long extent[MAX_LOOPS];            // outermost first
    long step[OPERANDS][MAX_LOOPS];    // in elements
    long start[OPERANDS];              // in elements
    long loops;
} Nest;

// Where the operands are in iteration `outer` of all loops but the innermost one.
static inline void locate(const Nest *nest, ulong outer, long *at) {
    for (int k = 0; k < OPERANDS; k++) at[k] = nest->start[k];
    for (long l = nest->loops - 2; l >= 0; l--) {
        ulong extent = (ulong)nest->extent[l], left = outer / extent;
        long index = (long)(outer - left * extent);
        outer = left;
        for (int k = 0; k < OPERANDS; k++) at[k] += index * nest->step[k][l];
    }
}
