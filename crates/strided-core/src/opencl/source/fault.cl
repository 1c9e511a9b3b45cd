// Indices that are checked while a kernel runs: `opencl/fault.rs`.

typedef struct {
    int claimed, operation;
    long index, extent;
} Fault;

// The index from 0 to extent - 1 that a loaded value means, or -1.
static inline long checked_index(long index, long extent, long wraps, __global Fault *fault, int operation) {
    long at = index < 0 && wraps ? index + extent : index;
    if (at >= 0 && at < extent) return at;
    if (operation != 0 && atomic_cmpxchg((volatile __global int *)&fault->claimed, 0, 1) == 0) {
        fault->operation = operation;
        fault->index = index;
        fault->extent = extent;
    }
    return -1;
}
