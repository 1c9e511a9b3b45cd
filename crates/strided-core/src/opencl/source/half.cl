// Halves as they are in memory: T is ushort, VALUE its number. Other operations compute in float.

static inline float half_value(ushort bits) {
    uint sign = (uint)(bits & 0x8000) << 16, magnitude = (uint)(bits & 0x7FFF) << 13;
    float scaled = as_float(magnitude) * 5.192296858534828e33f; // 2 to the power of 112
    return as_float((magnitude >= 0x0F800000u ? as_uint(scaled) | 0x7F800000u : as_uint(scaled)) | sign);
}

static inline T op_next_after(T a, T b) {
    float x = VALUE(a), y = VALUE(b);
    if (x != x || y != y) return x != x ? a : b;
    if (x == y) return b;
    if ((a & 0x7FFF) == 0) return (T)((b & 0x8000) | 1);
    int grows = (x < y) == ((a & 0x8000) == 0);
    return (T)(grows ? a + 1 : a - 1);
}
