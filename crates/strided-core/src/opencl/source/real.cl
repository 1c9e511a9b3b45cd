// What real numbers have in common. T is their type.

static inline int op_eq(T a, T b) { return a == b; }
static inline int op_ne(T a, T b) { return a != b; }
static inline int op_lt(T a, T b) { return a < b; }
static inline int op_le(T a, T b) { return a <= b; }
static inline int op_gt(T a, T b) { return a > b; }
static inline int op_ge(T a, T b) { return a >= b; }
static inline int op_is_nonzero(T a) { return a != ZERO; }
static inline int op_is_real(T a) { return 1; }
static inline T op_conj(T a) { return a; }
static inline T op_maximum(T a, T b) { return a > b || a != a ? a : b; }
static inline T op_minimum(T a, T b) { return a < b || a != a ? a : b; }
static inline T op_fmax(T a, T b) { return a >= b || b != b ? a : b; }
static inline T op_fmin(T a, T b) { return a <= b || b != b ? a : b; }
