// Integers. T is their type, W an unsigned one that is at least as wide, so that arithmetic wraps without being undefined;
// BITS is the width of T. IS_SIGNED says whether T has negative numbers.

#define ZERO ((T)0)
#define ONE ((T)1)
static inline T op_add(T a, T b) { return (T)((W)a + (W)b); }
static inline T op_sub(T a, T b) { return (T)((W)a - (W)b); }
static inline T op_mul(T a, T b) { return (T)((W)a * (W)b); }
static inline T op_neg(T a) { return (T)((W)0 - (W)a); }
static inline int op_is_negative(T a) { return IS_SIGNED && a < 0; }
static inline int op_is_infinite(T a) { return 0; }
static inline int op_is_finite(T a) { return 1; }
static inline T op_finite_or(T a, T nan, T above, T below) { return a; }
static inline T op_sign(T a) { return (T)((a > 0) - op_is_negative(a)); }
static inline T fn_Abs(T a) { return op_is_negative(a) ? op_neg(a) : a; }
static inline T op_floor(T a) { return a; }
static inline T op_ceil(T a) { return a; }
static inline T op_trunc(T a) { return a; }
static inline T op_round(T a) { return a; }

// Zero divisors are refused before; and the smallest number divided by -1 wraps.
static inline T divisor(T a) { return a == 0 ? (T)1 : a; }
static inline T fn_TruncDivide(T a, T b) {
    b = divisor(b);
    return IS_SIGNED && b == (T)-1 ? op_neg(a) : (T)(a / b);
}
static inline T fn_Fmod(T a, T b) {
    b = divisor(b);
    return IS_SIGNED && b == (T)-1 ? (T)0 : (T)(a % b);
}
static inline T fn_FloorDivide(T a, T b) {
    b = divisor(b);
    T quotient = fn_TruncDivide(a, b);
    return op_sub(quotient, (T)(fn_Fmod(a, b) != 0 && op_is_negative(a) != op_is_negative(b)));
}
static inline T fn_Remainder(T a, T b) {
    b = divisor(b);
    T left = fn_Fmod(a, b);
    return left != 0 && op_is_negative(a) != op_is_negative(b) ? op_add(left, b) : left;
}
static inline T fn_Pow(T base, T exponent) {
    T result = 1;
    for (; exponent > 0; exponent = (T)(exponent >> 1)) {
        if (exponent & 1) result = op_mul(result, base);
        base = op_mul(base, base);
    }
    return result;
}

static inline T op_and(T a, T b) { return (T)(a & b); }
static inline T op_or(T a, T b) { return (T)(a | b); }
static inline T op_xor(T a, T b) { return (T)(a ^ b); }
static inline T op_not(T a) { return (T)(~a); }
static inline T op_shift_left(T a, T count) {
    return !op_is_negative(count) && (ulong)count < BITS ? (T)((W)a << (uint)count) : (T)0;
}
static inline T op_shift_right(T a, T count) {
    if (!op_is_negative(count) && (ulong)count < BITS) return (T)(a >> (uint)count);
    return op_is_negative(a) ? (T)-1 : (T)0;
}
static inline T op_gcd(T a, T b) {
    a = fn_Abs(a);
    b = fn_Abs(b);
    while (b != 0) {
        T left = fn_Fmod(a, b);
        a = b;
        b = left;
    }
    return fn_Abs(a);
}
static inline T op_lcm(T a, T b) {
    return a == 0 || b == 0 ? (T)0 : fn_Abs(op_mul(fn_TruncDivide(a, op_gcd(a, b)), b));
}

// To a multiple of a power of ten: decimals are negative, or change nothing.
static inline T op_round_decimals(T a, long decimals) {
    if (decimals >= 0) return a;
    ulong power = 1;
    for (long i = decimals; i < 0; i++) {
        if (power > ULONG_MAX / 10) return 0;
        power *= 10;
    }
    ulong size = op_is_negative(a) ? (ulong)0 - (ulong)a : (ulong)a;
    ulong quotient = size / power, left = size % power;
    int up = left > power - left || (left == power - left && (quotient & 1));
    ulong down = quotient * power;
    ulong limit = op_is_negative(a) ? (ulong)MAXIMUM + 1 : (ulong)MAXIMUM;
    // If T cannot represent the nearest multiple, the result is the next one toward 0.
    ulong nearest = up && down <= limit && power <= limit - down ? down + power : down;
    return (T)(op_is_negative(a) ? (ulong)0 - nearest : nearest);
}

#ifdef HAS_DOUBLE
static inline int op_isclose(T a, T b, double relative, double absolute, int nan) {
    double limit = absolute + relative * fabs((double)b);
    ulong distance = a > b ? (ulong)a - (ulong)b : (ulong)b - (ulong)a;
    if (a == b) return 1;
    return limit >= 0 && (limit >= 18446744073709551616.0 || distance <= (ulong)limit);
}
#endif
