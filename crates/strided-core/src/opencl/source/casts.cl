// Conversions between dtypes, by the rules of kernels/cast.rs: integers wrap; floats are truncated, and values out of range
// become the minimum of int or long.

static inline float bf16_value(ushort bits) { return as_float((uint)bits << 16); }

static inline ushort bf16_bits(float value) {
    uint bits = as_uint(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (ushort)(bits >> 16 | 0x40u);
    return (ushort)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

// Eight significant bits of an integer, rounded to nearest, ties to even.
static inline ushort bf16_of_magnitude(ulong magnitude, uint sign) {
    if (magnitude == 0) return 0;
    uint exponent = 63 - (uint)clz(magnitude);
    ulong digits;
    if (exponent <= 7) {
        digits = magnitude << (7 - exponent);
    } else {
        uint shift = exponent - 7;
        ulong rest = magnitude & (((ulong)1 << shift) - 1), half_way = (ulong)1 << (shift - 1);
        digits = magnitude >> shift;
        digits += rest > half_way || (rest == half_way && (digits & 1));
    }
    // A carry out of the digits goes into the exponent.
    return (ushort)(((exponent + 127) << 7) + (uint)(digits - 128) + (sign << 15));
}
static inline ushort bf16_of_ulong(ulong value) { return bf16_of_magnitude(value, 0); }
static inline ushort bf16_of_long(long value) {
    return bf16_of_magnitude(value < 0 ? (ulong)0 - (ulong)value : (ulong)value, value < 0);
}

static inline int int_of_float(float v) { return v >= -2147483648.0f && v < 2147483648.0f ? (int)v : INT_MIN; }
static inline long long_of_float(float v) {
    return v >= -9223372036854775808.0f && v < 9223372036854775808.0f ? (long)v : LONG_MIN;
}

#ifdef HAS_DOUBLE
static inline int int_of_double(double v) { return v >= -2147483648.0 && v < 2147483648.0 ? (int)v : INT_MIN; }
static inline long long_of_double(double v) {
    return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (long)v : LONG_MIN;
}
// An inexact result is truncated and its last bit set, so that rounding it to a half rounds once.
static inline float round_to_odd(double v) {
    float nearest = (float)v;
    double back = (double)nearest;
    if (back == v || v != v) return nearest;
    return as_float((as_uint(nearest) - (fabs(back) > fabs(v))) | 1u);
}
#endif
