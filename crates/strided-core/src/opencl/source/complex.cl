// Complex numbers: T is a pair of P.

#define ZERO ((T)(0, 0))
#define ONE ((T)(1, 0))
static inline T op_add(T a, T b) { return a + b; }
static inline T op_sub(T a, T b) { return a - b; }
static inline T op_mul(T a, T b) { return (T)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
static inline T op_neg(T a) { return -a; }
static inline T op_conj(T a) { return (T)(a.x, -a.y); }
static inline P fn_Abs(T a) { return hypot(a.x, a.y); }
static inline P fn_Angle(T a) { return atan2(a.y, a.x); }
static inline int op_eq(T a, T b) { return a.x == b.x && a.y == b.y; }
static inline int op_ne(T a, T b) { return !(a.x == b.x && a.y == b.y); }
static inline int op_is_nonzero(T a) { return a.x != 0 || a.y != 0; }
static inline int op_is_real(T a) { return a.y == 0; }
static inline int op_is_infinite(T a) { return fabs(a.x) == (P)INFINITY || fabs(a.y) == (P)INFINITY; }
static inline int op_is_finite(T a) { return fabs(a.x) < (P)INFINITY && fabs(a.y) < (P)INFINITY; }
static inline int op_is_small(T a) { return a.x * a.x + a.y * a.y < (P)1 / (P)4; }
static inline P part_or(P a, P nan, P above, P below) {
    return a != a ? nan : a == (P)INFINITY ? above : a == -(P)INFINITY ? below : a;
}
static inline T op_finite_or(T a, T nan, T above, T below) {
    return (T)(part_or(a.x, nan.x, above.x, below.x), part_or(a.y, nan.x, above.x, below.x));
}
static inline T op_sign(T a) {
    P size = fn_Abs(a);
    return a.x == 0 && a.y == 0 ? ZERO : (T)(a.x / size, a.y / size);
}

// Smith's method: the textbook formula overflows where the quotient does not.
static inline T op_div(T n, T m) {
    P a = n.x, b = n.y, c = m.x, d = m.y;
    if (fabs(c) >= fabs(d)) {
        if (c == 0 && d == 0) return (T)(a / fabs(c), b / fabs(c));
        P ratio = d / c, scale = 1 / (c + d * ratio);
        return (T)((a + b * ratio) * scale, (b - a * ratio) * scale);
    }
    P ratio = c / d, scale = 1 / (c * ratio + d);
    return (T)((a * ratio + b) * scale, (b * ratio - a) * scale);
}

#ifdef HAS_DOUBLE
static inline int op_isclose(T a, T b, double relative, double absolute, int nan) {
    double distance = hypot((double)a.x - (double)b.x, (double)a.y - (double)b.y);
    double limit = absolute + relative * hypot((double)b.x, (double)b.y);
    int is_nan = (a.x != a.x || a.y != a.y) && (b.x != b.x || b.y != b.y);
    return op_eq(a, b) || (distance < (double)INFINITY && distance <= limit) || (nan && is_nan);
}
#endif
