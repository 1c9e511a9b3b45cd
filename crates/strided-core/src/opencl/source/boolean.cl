// Truth values, 0 or 1: a sum is "or", a product is "and".

#define ZERO ((T)0)
#define ONE ((T)1)
static inline T op_add(T a, T b) { return a | b; }
static inline T op_sub(T a, T b) { return a ^ b; }
static inline T op_mul(T a, T b) { return a & b; }
static inline T op_neg(T a) { return a; }
static inline T op_sign(T a) { return a; }
static inline T fn_Abs(T a) { return a; }
static inline T op_floor(T a) { return a; }
static inline T op_ceil(T a) { return a; }
static inline T op_trunc(T a) { return a; }
static inline T op_round(T a) { return a; }
static inline T op_round_decimals(T a, long decimals) { return a; }
static inline int op_is_negative(T a) { return 0; }
static inline int op_is_infinite(T a) { return 0; }
static inline int op_is_finite(T a) { return 1; }
static inline T op_finite_or(T a, T nan, T above, T below) { return a; }
static inline T fn_Pow(T a, T b) { return a | !b; }
static inline T op_and(T a, T b) { return a & b; }
static inline T op_or(T a, T b) { return a | b; }
static inline T op_xor(T a, T b) { return a ^ b; }
static inline T op_not(T a) { return !a; }
#ifdef HAS_DOUBLE
static inline int op_isclose(T a, T b, double relative, double absolute, int nan) {
    return a == b || 1.0 <= absolute + relative * (double)b;
}
#endif
