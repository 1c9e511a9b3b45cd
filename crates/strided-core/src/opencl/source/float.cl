// Floating numbers: T is float or double, AS_BITS its bits as an unsigned integer, CONSTANT a literal of its precision.

#define ZERO ((T)0)
#define ONE ((T)1)
static inline T op_add(T a, T b) { return a + b; }
static inline T op_sub(T a, T b) { return a - b; }
static inline T op_mul(T a, T b) { return a * b; }
static inline T op_div(T a, T b) { return a / b; }
static inline T op_neg(T a) { return -a; }
static inline T op_sign(T a) { return a != a ? a : a > 0 ? ONE : a < 0 ? -ONE : ZERO; }
static inline T fn_Abs(T a) { return fabs(a); }
static inline int op_is_negative(T a) { return (int)(AS_BITS(a) >> (sizeof(T) * 8 - 1)); }
static inline int op_is_infinite(T a) { return fabs(a) == (T)INFINITY; }
static inline int op_is_finite(T a) { return fabs(a) < (T)INFINITY; }
static inline int op_is_small(T a) { return fabs(a) < CONSTANT(0.5); }
static inline T op_finite_or(T a, T nan, T above, T below) {
    return a != a ? nan : a == (T)INFINITY ? above : a == -(T)INFINITY ? below : a;
}
static inline T op_floor(T a) { return floor(a); }
static inline T op_ceil(T a) { return ceil(a); }
static inline T op_trunc(T a) { return trunc(a); }
static inline T op_round(T a) { return rint(a); }
static inline T op_copysign(T a, T b) { return copysign(a, b); }
static inline T op_next_after(T a, T b) { return a != a ? a : b != b ? b : nextafter(a, b); }

static inline T op_round_decimals(T a, long decimals) {
    T power = ONE;
    for (long i = 0; i < (decimals < 0 ? -decimals : decimals) && i < 400; i++) power *= (T)10;
    T scaled = decimals < 0 ? a / power : a * power;
    T rounded = rint(scaled);
    T unscaled = decimals >= 0 ? rounded / power : rounded == ZERO ? rounded : rounded * power;
    return fabs(scaled) < (T)INFINITY ? unscaled : a;
}

#ifdef HAS_DOUBLE
static inline int op_isclose(T a, T b, double relative, double absolute, int nan) {
    double distance = fabs((double)a - (double)b);
    int within = distance < (double)INFINITY && distance <= absolute + relative * fabs((double)b);
    return a == b || within || (nan && a != a && b != b);
}
#endif

static inline T fn_TruncDivide(T a, T b) { return trunc(a / b); }
static inline T fn_Fmod(T a, T b) { return fmod(a, b); }
static inline T fn_FloorDivide(T a, T b) {
    T left = fmod(a, b);
    if (b == ZERO) return a / b;
    T nearest = round((a - left) / b);
    // The two roundings above may be off. The correction is computed exactly, or is small enough.
    T correction = round((fma(-nearest, b, a) - left) / b);
    T whole = op_is_finite(correction) ? nearest + correction : nearest;
    whole -= left != ZERO && (left < ZERO) != (b < ZERO) ? ONE : ZERO;
    return whole == ZERO ? copysign(ZERO, a / b) : whole;
}
static inline T fn_Remainder(T a, T b) {
    T left = fmod(a, b);
    if (left == ZERO) return copysign(left, b);
    return (left < ZERO) != (b < ZERO) ? left + b : left;
}

static inline T fn_Angle(T a) { return a != a ? a : a < ZERO ? CONSTANT(3.14159265358979323846) : ZERO; }
static inline T fn_Cube(T a) { return a * a * a; }
static inline T fn_Pow(T a, T b) { return pow(a, b); }
static inline T fn_Sqrt(T a) { return sqrt(a); }
static inline T fn_Rsqrt(T a) { return ONE / sqrt(a); }
static inline T fn_Exp(T a) { return exp(a); }
static inline T fn_Exp2(T a) { return exp2(a); }
static inline T fn_Expm1(T a) { return expm1(a); }
static inline T fn_Log(T a) { return log(a); }
static inline T fn_Log2(T a) { return log2(a); }
static inline T fn_Log10(T a) { return log10(a); }
static inline T fn_Log1p(T a) { return log1p(a); }
static inline T fn_Ldexp(T a, T b) {
    return b == trunc(b) && fabs(b) < (T)100000 ? ldexp(a, (int)b) : a * exp2(b);
}
static inline T fn_Logaddexp(T a, T b) {
    if (a == b) return a + CONSTANT(0.69314718055994530942);
    if (a != a || b != b) return (T)NAN;
    T high = a > b ? a : b, low = a > b ? b : a;
    return high == (T)INFINITY ? high : high + log1p(exp(low - high));
}
static inline T fn_Logaddexp2(T a, T b) {
    if (a == b) return a + ONE;
    if (a != a || b != b) return (T)NAN;
    T high = a > b ? a : b, low = a > b ? b : a;
    return high == (T)INFINITY ? high : high + log1p(exp2(low - high)) * CONSTANT(1.44269504088896340736);
}
static inline T fn_Xlogy(T a, T b) { return b != b ? b : a == ZERO ? ZERO : a * log(b); }
static inline T fn_Sigmoid(T a) { return ONE / (ONE + exp(-a)); }
static inline T fn_Logit(T a) { return log(a / (ONE - a)); }
static inline T fn_Softplus(T a) { return a != a ? a : fmax(a, ZERO) + log1p(exp(-fabs(a))); }
static inline T fn_Sin(T a) { return sin(a); }
static inline T fn_Cos(T a) { return cos(a); }
static inline T fn_Tan(T a) { return tan(a); }
static inline T fn_Asin(T a) { return asin(a); }
static inline T fn_Acos(T a) { return acos(a); }
static inline T fn_Atan(T a) { return atan(a); }
static inline T fn_Atan2(T a, T b) { return atan2(a, b); }
static inline T fn_Sinh(T a) { return sinh(a); }
static inline T fn_Cosh(T a) { return cosh(a); }
static inline T fn_Tanh(T a) { return tanh(a); }
static inline T fn_Asinh(T a) { return asinh(a); }
static inline T fn_Acosh(T a) { return acosh(a); }
static inline T fn_Atanh(T a) { return atanh(a); }
static inline T fn_Hypot(T a, T b) { return hypot(a, b); }
static inline T fn_Sinc(T a) { return a == ZERO ? ONE : sinpi(a) / (CONSTANT(3.14159265358979323846) * a); }
static inline T fn_Erf(T a) { return erf(a); }
static inline T fn_Erfc(T a) { return erfc(a); }
static inline T fn_Lgamma(T a) { return lgamma(a); }

// A start by Giles (2012), then steps of Newton on the error function.
static inline T fn_Erfinv(T y) {
    if (!(fabs(y) < ONE)) return fabs(y) == ONE ? copysign((T)INFINITY, y) : (T)NAN;
    if (y == ZERO) return y;
    T w = -log((ONE - y) * (ONE + y));
    T x;
    if (w < (T)5) {
        w -= CONSTANT(2.5);
        x = CONSTANT(2.81022636e-08);
        x = CONSTANT(3.43273939e-07) + x * w;
        x = CONSTANT(-3.5233877e-06) + x * w;
        x = CONSTANT(-4.39150654e-06) + x * w;
        x = CONSTANT(0.00021858087) + x * w;
        x = CONSTANT(-0.00125372503) + x * w;
        x = CONSTANT(-0.00417768164) + x * w;
        x = CONSTANT(0.246640727) + x * w;
        x = CONSTANT(1.50140941) + x * w;
    } else {
        w = sqrt(w) - (T)3;
        x = CONSTANT(-0.000200214257);
        x = CONSTANT(0.000100950558) + x * w;
        x = CONSTANT(0.00134934322) + x * w;
        x = CONSTANT(-0.00367342844) + x * w;
        x = CONSTANT(0.00573950773) + x * w;
        x = CONSTANT(-0.0076224613) + x * w;
        x = CONSTANT(0.00943887047) + x * w;
        x = CONSTANT(1.00167406) + x * w;
        x = CONSTANT(2.83297682) + x * w;
    }
    x *= y;
    for (int i = 0; i < 2; i++) {
        // Near the ends the complement has the digits that erf has lost.
        T rest = (ONE - fabs(y)) - erfc(fabs(x));
        T error = fabs(y) < CONSTANT(0.5) ? erf(x) - y : y < ZERO ? -rest : rest;
        x -= error / (CONSTANT(1.12837916709551257390) * exp(-x * x));
    }
    return x;
}

// Reflection for negative arguments, recurrence up to 16, then the asymptotic series. In double if there is one: near the root at 1.46
// the terms of the series cancel.
#ifdef HAS_DOUBLE
typedef double Wide;
#else
typedef T Wide;
#endif
static inline T fn_Digamma(T argument) {
    Wide x = argument, reflected = 0, sum = 0;
    if (argument == ZERO) return copysign((T)INFINITY, -argument);
    if (argument == (T)INFINITY) return argument;
    if (x < 0) {
        if (argument == floor(argument)) return (T)NAN;
        reflected = (Wide)CONSTANT(3.14159265358979323846) / tanpi(x);
        x = 1 - x;
    }
    for (; x < 16; x += 1) sum -= 1 / x;
    Wide y = 1 / (x * x), one = 1;
    Wide series = y * (one / 12 - y * (one / 120 - y * (one / 252 - y * (one / 240 - y * (one / 132 - y * (691 * one / 32760))))));
    return (T)(sum + log(x) - one / (2 * x) - series - reflected);
}
