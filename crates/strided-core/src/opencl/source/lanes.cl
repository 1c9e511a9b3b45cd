// Lanes: LANES numbers that a work item computes side by side. As vectors they are V, for floats.

#define EACH_LANE(j) _Pragma("unroll") for (int j = 0; j < LANES; j++)
#if LANES == 1
#define V T
#define LOAD_LANES(from) (*(from))
#define STORE_LANES(value, into) *(into) = (value)
#else
#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define V JOINED(T, LANES)
#define LOAD_LANES(from) JOINED(vload, LANES)(0, from)
#define STORE_LANES(value, into) JOINED(vstore, LANES)(value, 0, into)
#endif
