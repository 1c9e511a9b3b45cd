// Random numbers of kernels/random/: Philox 4x32-10, and distributions that give the same bits as on the CPU. A work item has
// one block of four words. Words of 32 bits are in groups of 256, words of 64 bits in groups of 128: first the words 0 and 1
// of 64 blocks, then their words 2 and 3.

#define DRAW long seed, long stream, long offset
#define BLOCK(attempt) philox(seed, stream, offset, block, attempt)

static inline uint4 philox(long seed, long stream, long offset, long block, uint attempt) {
    const ulong count = (ulong)offset + (ulong)block;
    uint a = (uint)count, b = (uint)(count >> 32), c = (uint)stream, d = attempt;
    uint low = (uint)seed, high = (uint)((ulong)seed >> 32);
    for (int round = 0; round < 10; round++) {
        const ulong first = (ulong)a * 0xD2511F53u, second = (ulong)c * 0xCD9E8D57u;
        a = (uint)(second >> 32) ^ b ^ low;
        c = (uint)(first >> 32) ^ d ^ high;
        b = (uint)second;
        d = (uint)first;
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    return (uint4)(a, b, c, d);
}

static inline uint word32(uint4 words, int k) { return k == 0 ? words.x : k == 1 ? words.y : k == 2 ? words.z : words.w; }
static inline ulong word64(uint4 words, int k) {
    return k == 0 ? words.x | (ulong)words.y << 32 : words.z | (ulong)words.w << 32;
}
// The indices of the words of a block.
static inline long index32(long block, int k) { return block / 64 * 256 + block % 64 * 2 + (k / 2) * 128 + k % 2; }
static inline long index64(long block, int k) { return block / 64 * 128 + block % 64 + k * 64; }

static inline void put(__global uchar *out, long i, long size, ulong value) {
    switch (size) {
    case 1: out[i] = (uchar)value; break;
    case 2: ((__global ushort *)out)[i] = (ushort)value; break;
    case 4: ((__global uint *)out)[i] = (uint)value; break;
    default: ((__global ulong *)out)[i] = value;
    }
}

__kernel void narrow_integers(long blocks, long n, __global uchar *out, long start, DRAW, long size, long low, long range, long rejected) {
    const long block = get_global_id(0);
    if (block >= blocks) return;
    const uint4 words = BLOCK(0);
    for (int k = 0; k < 4; k++) {
        const long i = index32(block, k);
        if (i >= n) continue;
        ulong product = (ulong)word32(words, k) * (ulong)range;
        for (uint attempt = 1; (uint)product < (uint)rejected; attempt++) {
            product = (ulong)word32(BLOCK(attempt), k) * (ulong)range;
        }
        put(out, start + i, size, (ulong)low + (product >> 32));
    }
}

// A range of 0 stands for 2^64.
__kernel void wide_integers(long blocks, long n, __global uchar *out, long start, DRAW, long size, long low, long range, long rejected) {
    const long block = get_global_id(0);
    if (block >= blocks) return;
    const uint4 words = BLOCK(0);
    for (int k = 0; k < 2; k++) {
        const long i = index64(block, k);
        if (i >= n) continue;
        ulong word = word64(words, k);
        if (range != 0) {
            for (uint attempt = 1; word * (ulong)range < (ulong)rejected; attempt++) word = word64(BLOCK(attempt), k);
            word = mul_hi(word, (ulong)range);
        }
        put(out, start + i, size, (ulong)low + word);
    }
}

__kernel void bernoulli(long blocks, long n, __global uchar *out, long start, DRAW, long bound) {
    const long block = get_global_id(0);
    if (block >= blocks) return;
    const uint4 words = BLOCK(0);
    for (int k = 0; k < 2; k++) {
        const long i = index64(block, k);
        if (i < n) out[start + i] = (long)(word64(words, k) >> 11) < bound;
    }
}

__kernel void uniform_float(long blocks, long n, __global float *out, long start, DRAW, long unused_bits, float low, float width, float top,
                            float scale) {
    const long block = get_global_id(0);
    if (block >= blocks) return;
    const uint4 words = BLOCK(0);
    for (int k = 0; k < 4; k++) {
        const long i = index32(block, k);
        const float value = low + (float)(int)(word32(words, k) >> (uint)unused_bits) * scale * width;
        if (i < n) out[start + i] = value > top ? top : value;
    }
}

#ifdef HAS_DOUBLE
// ln, exp, sine and cosine by additions, multiplications and divisions alone: kernels/random/arithmetic.rs.

#define LN2_HIGH 6.931471803691238e-1
#define LN2_LOW 1.9082149292705877e-10
#define SHIFT 6755399441055744.0

static inline double plain_ln(double x) {
    const ulong root = 0x3FE6A09E667F3BCDUL, bits = as_ulong(x), bias = 1023;
    const ulong e = (bits - root + (bias << 52)) >> 52;
    const double m = as_double(bits - ((e - bias) << 52)), k = (double)((long)e - 1023);
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
    const double even = w * ((0.15313837699209373 * w + 0.22222198432149784) * w + 0.3999999999940942);
    const double odd = z * (((0.14798198605116586 * w + 0.1818357216161805) * w + 0.2857142874366239) * w + 0.6666666666666735);
    const double half_square = 0.5 * f * f;
    return k * LN2_HIGH - ((half_square - (s * (half_square + (odd + even)) + k * LN2_LOW)) - f);
}

static inline double power_of_two(double shifted) { return as_double(as_ulong(1.0) + (as_ulong(shifted) << 52)); }

static inline double plain_exp(double x) {
    x = x < -760.0 ? -760.0 : x;
    x = x > 720.0 ? 720.0 : x;
    const double k = (x * 1.44269504088896340736 + SHIFT) - SHIFT;
    const double high = x - k * LN2_HIGH, low = k * LN2_LOW, r = high - low, z = r * r;
    const double c = r - z * ((((4.1381367970572385e-8 * z + -1.6533902205465252e-6) * z + 6.613756321437934e-5) * z
                               + -2.7777777777015593e-3) * z + 0.16666666666666602);
    const double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    const double part = (k * 0.5 + SHIFT) - SHIFT;
    return y * power_of_two(part + SHIFT) * power_of_two(k - part + SHIFT);
}

// The cosine and the sine.
static inline double2 cos_sin_turns(double turns) {
    const double quarters = 4.0 * turns, shifted = quarters + SHIFT;
    const double x = (quarters - (shifted - SHIFT)) * 1.57079632679489661923, z = x * x;
    const double sine = x + (z * x) * (((((1.58969099521155e-10 * z + -2.5050760253406863e-8) * z + 2.7557313707070068e-6) * z
                                         + -1.984126982985795e-4) * z + 8.33333333332249e-3) * z + -0.16666666666666632);
    const double rest = z * (((((-1.1359647557788195e-11 * z + 2.087572321298175e-9) * z + -2.7557314351390663e-7) * z
                               + 2.480158728947673e-5) * z + -1.388888888887411e-3) * z + 4.16666666666666e-2);
    const double half_square = 0.5 * z, one = 1.0 - half_square;
    const double cosine = one + (((1.0 - one) - half_square) + z * rest);
    const int is_odd = (int)(as_ulong(shifted) & 1);
    const ulong cosine_sign = as_ulong(shifted + 1.0) >> 1 << 63, sine_sign = as_ulong(shifted) >> 1 << 63;
    return (double2)(as_double(as_ulong(is_odd ? sine : cosine) ^ cosine_sign),
                     as_double(as_ulong(is_odd ? cosine : sine) ^ sine_sign));
}

// A number in (0, 1).
static inline double open32(uint word) {
    return as_double(0x3FF0000000000000UL | (ulong)word << 20) - (1.0 - 1.1641532182693481e-10);
}
static inline double open64(ulong word) { return as_double(0x3FF0000000000000UL | word >> 12) - (1.0 - 1.1102230246251565e-16); }
// A number in [0, 1).
static inline double unit(ulong word) { return (double)(word >> 11) * 1.1102230246251565e-16; }

__kernel void bernoulli_each(long blocks, long n, __global uchar *out, long start, DRAW, __global const double *p, long first) {
    const long block = get_global_id(0);
    if (block >= blocks) return;
    const uint4 words = BLOCK(0);
    for (int k = 0; k < 2; k++) {
        const long i = index64(block, k);
        if (i < n) out[start + i] = unit(word64(words, k)) < p[first + i];
    }
}

__kernel void uniform_double(long blocks, long n, __global double *out, long start, DRAW, double low, double width, double top) {
    const long block = get_global_id(0);
    if (block >= blocks) return;
    const uint4 words = BLOCK(0);
    for (int k = 0; k < 2; k++) {
        const long i = index64(block, k);
        const double value = low + unit(word64(words, k)) * width;
        if (i < n) out[start + i] = value > top ? top : value;
    }
}

// Two numbers of a normal distribution from two of (0, 1).
static inline double2 box_muller(double u, double turns) {
    const double length = sqrt(-2.0 * plain_ln(u));
    return length * cos_sin_turns(turns);
}

#define NORMAL 0
#define LOG_NORMAL 1
#define EXPONENTIAL 2
#define CAUCHY 3

static inline double of_normal(double z, double location, double scale, long kind) {
    const double value = location + scale * z;
    return kind == LOG_NORMAL ? plain_exp(value) : value;
}
static inline double of_unit(double u, double location, double scale, long kind) {
    if (kind == EXPONENTIAL) return -plain_ln(u) / scale;
    const double2 angle = cos_sin_turns(0.5 * (u - 0.5));
    return location + scale * (angle.y / angle.x);
}

__kernel void continuous_float(long blocks, long n, __global float *out, long start, DRAW, double location, double scale, long kind) {
    const long block = get_global_id(0);
    if (block >= blocks) return;
    const uint4 words = BLOCK(0);
    for (int k = 0; k < 2; k++) {
        const double left = open32(word32(words, k)), right = open32(word32(words, k + 2));
        double2 values;
        if (kind <= LOG_NORMAL) {
            const double2 z = box_muller(left, right);
            values = (double2)(of_normal(z.x, location, scale, kind), of_normal(z.y, location, scale, kind));
        } else {
            values = (double2)(of_unit(left, location, scale, kind), of_unit(right, location, scale, kind));
        }
        if (index32(block, k) < n) out[start + index32(block, k)] = (float)values.x;
        if (index32(block, k + 2) < n) out[start + index32(block, k + 2)] = (float)values.y;
    }
}

__kernel void continuous_double(long blocks, long n, __global double *out, long start, DRAW, double location, double scale, long kind) {
    const long block = get_global_id(0);
    if (block >= blocks) return;
    const uint4 words = BLOCK(0);
    const double left = open64(word64(words, 0)), right = open64(word64(words, 1));
    double2 values;
    if (kind <= LOG_NORMAL) {
        const double2 z = box_muller(left, right);
        values = (double2)(of_normal(z.x, location, scale, kind), of_normal(z.y, location, scale, kind));
    } else {
        values = (double2)(of_unit(left, location, scale, kind), of_unit(right, location, scale, kind));
    }
    if (index64(block, 0) < n) out[start + index64(block, 0)] = values.x;
    if (index64(block, 1) < n) out[start + index64(block, 1)] = values.y;
}
#endif
