// Folds: what is known of some terms (Acc), and how it changes with a term more (fold_add), with what is known of other terms
// (fold_merge), and into results. A fold of two passes sees each term again (fold_add_again), after fold_between.
//
// T is the type of terms, REAL that of their parts if they are floats or complex. M is double where the device has it, and IS_WIDE
// says whether it is wider than REAL.

#if defined(IS_FLOAT) || defined(IS_COMPLEX)
// Adds x to s + e: e has what the additions to s rounded off.
#define DEFINE_ADD(name, N) \
    static inline void name(N *s, N *e, N x) { \
        N sum = *s + x, added = sum - *s; \
        *e += (*s - (sum - added)) + (x - added); \
        *s = sum; \
    }
DEFINE_ADD(add_exactly, T)
#ifdef IS_WIDE
static inline void add_moment(M *s, M *e, M x) { *s += x; }
#else
DEFINE_ADD(add_moment, M)
#endif

static inline REAL real_sum(REAL s, REAL e) {
    REAL sum = e != 0 && fabs(e) < (REAL)INFINITY ? s + e : s; // e is NaN if s is infinite; and 0 would change the sign of -0
    return sum != sum ? (REAL)NAN : sum;
}
static inline M moment_sum(M s, M e) {
    M sum = e != 0 && fabs(e) < (M)INFINITY ? s + e : s;
    return sum != sum ? (M)NAN : sum;
}
#endif
#ifdef IS_COMPLEX
static inline T whole_sum(T s, T e) { return (T)(real_sum(s.x, e.x), real_sum(s.y, e.y)); }
static inline int is_nan(T a) { return a.x != a.x || a.y != a.y; }
#elif defined(IS_FLOAT)
static inline T whole_sum(T s, T e) { return real_sum(s, e); }
static inline int is_nan(T a) { return a != a; }
#else
static inline int is_nan(T a) { return 0; }
#endif

#if defined(FOLD_Sum) || defined(FOLD_NanSum) || defined(FOLD_Mean)
#if defined(IS_FLOAT) || defined(IS_COMPLEX)
#define IN_EIGHTS
typedef struct { T sum, rest; } Acc;
static inline Acc fold_identity(void) {
    Acc a;
    a.sum = -ZERO; // which changes no sum, unlike 0
    a.rest = ZERO;
    return a;
}
static inline T summand(T x) {
#ifdef FOLD_NanSum
    return is_nan(x) ? ZERO : x;
#else
    return x;
#endif
}
static inline void fold_add(Acc *a, T x, long position) { add_exactly(&a->sum, &a->rest, summand(x)); }
static inline void fold_merge(Acc *a, const Acc *b) {
    T rest = a->rest + b->rest;
    a->rest = ZERO;
    add_exactly(&a->sum, &a->rest, b->sum);
    a->rest += rest;
}
static inline T fold_first(const Acc *a, long n, M parameter) {
    T sum = n == 0 ? ZERO : whole_sum(a->sum, a->rest);
#if defined(FOLD_Mean) && defined(IS_COMPLEX)
    return (T)(real_sum(sum.x / (REAL)n, 0), real_sum(sum.y / (REAL)n, 0));
#elif defined(FOLD_Mean)
    return real_sum(sum / (REAL)n, 0);
#else
    return sum;
#endif
}
#else
typedef struct { T sum; } Acc;
static inline Acc fold_identity(void) { Acc a = {ZERO}; return a; }
static inline void fold_add(Acc *a, T x, long position) { a->sum = op_add(a->sum, x); }
static inline void fold_merge(Acc *a, const Acc *b) { a->sum = op_add(a->sum, b->sum); }
static inline T fold_first(const Acc *a, long n, M parameter) { return a->sum; }
#endif
#endif

#ifdef FOLD_Prod
typedef struct { T product; } Acc;
static inline Acc fold_identity(void) { Acc a; a.product = ONE; return a; }
static inline T times(T a, T b) {
#ifdef IS_COMPLEX
    // The complex product of 1 and -0 would be 0, and that of 1 and infinity NaN.
    if (a.x == 1 && a.y == 0 && !signbit(a.y)) return b;
    if (b.x == 1 && b.y == 0 && !signbit(b.y)) return a;
#endif
    return op_mul(a, b);
}
static inline void fold_add(Acc *a, T x, long position) { a->product = times(a->product, x); }
static inline void fold_merge(Acc *a, const Acc *b) { a->product = times(a->product, b->product); }
static inline T fold_first(const Acc *a, long n, M parameter) {
#if defined(IS_FLOAT) || defined(IS_COMPLEX)
    return whole_sum(a->product, ZERO);
#else
    return a->product;
#endif
}
#endif

#if defined(FOLD_Max) || defined(FOLD_Min)
typedef struct { T extreme; } Acc;
#ifdef FOLD_Max
#define BETTER op_maximum
#define WORST LOWEST
#else
#define BETTER op_minimum
#define WORST HIGHEST
#endif
static inline Acc fold_identity(void) { Acc a = {WORST}; return a; }
static inline void fold_add(Acc *a, T x, long position) { a->extreme = BETTER(a->extreme, x); }
static inline void fold_merge(Acc *a, const Acc *b) { a->extreme = BETTER(a->extreme, b->extreme); }
static inline T fold_first(const Acc *a, long n, M parameter) { return a->extreme; }
#endif

#ifdef FOLD_MinMax
typedef struct { T smallest, largest; } Acc;
static inline Acc fold_identity(void) { Acc a = {HIGHEST, LOWEST}; return a; }
static inline void fold_add(Acc *a, T x, long position) {
    a->smallest = op_minimum(a->smallest, x);
    a->largest = op_maximum(a->largest, x);
}
static inline void fold_merge(Acc *a, const Acc *b) {
    a->smallest = op_minimum(a->smallest, b->smallest);
    a->largest = op_maximum(a->largest, b->largest);
}
static inline T fold_first(const Acc *a, long n, M parameter) { return a->smallest; }
static inline T fold_second(const Acc *a, long n, M parameter) { return a->largest; }
#endif

// The extreme element and its first position; -1 where there is none yet.
#if defined(FOLD_ArgMax) || defined(FOLD_ArgMin)
typedef struct { T value; long position; } Acc;
#ifdef FOLD_ArgMax
#define IS_BETTER(a, b) ((a) > (b) || (is_nan(a) && !is_nan(b)))
#else
#define IS_BETTER(a, b) ((a) < (b) || (is_nan(a) && !is_nan(b)))
#endif
static inline Acc fold_identity(void) { Acc a = {ZERO, -1}; return a; }
// The terms of an accumulator come in the order of their positions.
static inline void fold_add(Acc *a, T x, long position) {
    int taken = a->position < 0 || IS_BETTER(x, a->value);
    a->value = taken ? x : a->value;
    a->position = taken ? position : a->position;
}
static inline void fold_merge(Acc *a, const Acc *b) {
    if (b->position < 0) return;
    int ties = a->value == b->value || (is_nan(a->value) && is_nan(b->value));
    if (a->position < 0 || IS_BETTER(b->value, a->value) || (ties && b->position < a->position)) *a = *b;
}
static inline T fold_first(const Acc *a, long n, M parameter) { return a->value; }
static inline long fold_second(const Acc *a, long n, M parameter) { return a->position; }
#endif

#if defined(FOLD_All) || defined(FOLD_Any)
typedef struct { int truth; } Acc;
#ifdef FOLD_All
static inline Acc fold_identity(void) { Acc a = {1}; return a; }
static inline void fold_add(Acc *a, T x, long position) { a->truth &= op_is_nonzero(x) != 0; }
static inline void fold_merge(Acc *a, const Acc *b) { a->truth &= b->truth; }
#else
static inline Acc fold_identity(void) { Acc a = {0}; return a; }
static inline void fold_add(Acc *a, T x, long position) { a->truth |= op_is_nonzero(x) != 0; }
static inline void fold_merge(Acc *a, const Acc *b) { a->truth |= b->truth; }
#endif
static inline uchar fold_first(const Acc *a, long n, M parameter) { return (uchar)a->truth; }
#endif

#if defined(FOLD_CountNonzero) || defined(FOLD_CountNan)
typedef struct { long count; } Acc;
static inline Acc fold_identity(void) { Acc a = {0}; return a; }
static inline void fold_add(Acc *a, T x, long position) {
#ifdef FOLD_CountNan
    a->count += is_nan(x) != 0;
#else
    a->count += op_is_nonzero(x) != 0;
#endif
}
static inline void fold_merge(Acc *a, const Acc *b) { a->count += b->count; }
static inline long fold_first(const Acc *a, long n, M parameter) { return a->count; }
#endif

// The first pass finds the mean, the second one the squares of deviations from it. Their sum would be 0 if the mean were exact; it
// corrects the mean.
#if defined(FOLD_Var) || defined(FOLD_Std)
#define PASSES 2
typedef struct { M n, mean, mean_rest, squares, squares_rest; } Acc;
static inline Acc fold_identity(void) { Acc a = {0, 0, 0, 0, 0}; return a; }
static inline void fold_add(Acc *a, T x, long position) {
    a->n += 1;
    add_moment(&a->mean, &a->mean_rest, (M)x);
}
typedef struct { M mean, sum, sum_rest, squares, squares_rest; } Again;
static inline Again fold_between(const Acc *a) {
    Again again = {moment_sum(a->mean, a->mean_rest) / a->n, 0, 0, 0, 0};
    return again;
}
static inline void fold_add_again(Again *a, T x) {
    M deviation = (M)x - a->mean;
    add_moment(&a->sum, &a->sum_rest, deviation);
    add_moment(&a->squares, &a->squares_rest, deviation * deviation);
}
static inline void fold_end(Acc *a, const Again *again) {
    M rest = moment_sum(again->sum, again->sum_rest), error = rest / a->n;
    a->mean = fabs(error) < (M)INFINITY ? again->mean + error : again->mean;
    a->squares = moment_sum(again->squares, again->squares_rest) - rest * error;
}
// By the formula of Chan, Golub and LeVeque.
static inline void fold_merge(Acc *a, const Acc *b) {
    if (b->n == 0) return;
    if (a->n == 0) {
        *a = *b;
        return;
    }
    M n = a->n + b->n, distance = b->mean - a->mean;
    a->mean = fabs(distance) < (M)INFINITY ? a->mean + distance * (b->n / n) : a->mean + b->mean;
    a->squares = a->squares + b->squares + distance * distance * (a->n * (b->n / n));
    a->n = n;
}
static inline M fold_first(const Acc *a, long n, M correction) {
    M variance = a->squares / fmax(a->n - correction, (M)0);
#ifdef FOLD_Std
    variance = sqrt(variance);
#endif
    return moment_sum(n == 0 ? (M)NAN : variance, 0);
}
static inline M fold_second(const Acc *a, long n, M correction) {
    return n == 0 ? (M)NAN : moment_sum(a->mean, 0);
}
#endif

// The largest term, and the sum of the exponentials of the differences from it. FOLD_Exponentials has both as results.
#if defined(FOLD_LogSumExp) || defined(FOLD_Exponentials)
#define PASSES 2
typedef struct { T max, sum, rest; } Acc;
static inline Acc fold_identity(void) { Acc a = {-(T)INFINITY, ZERO, ZERO}; return a; }
static inline void fold_add(Acc *a, T x, long position) { a->max = op_maximum(a->max, x); }
#define VECTOR
#define NO_TERM (-(T)INFINITY)
DEFINE_ADD(add_lanes, V)
typedef struct { V max, sum, rest; } Again;
static inline Again fold_between(const Acc *acc) {
    T max[LANES];
    for (int j = 0; j < LANES; j++) max[j] = acc[j].max;
    Again again = {LOAD_LANES(max), (V)0, (V)0};
    return again;
}
static inline void fold_add_again(Again *a, V x) { add_lanes(&a->sum, &a->rest, exp(x - a->max)); }
static inline void fold_end(Acc *acc, const Again *again) {
    T sum[LANES], rest[LANES];
    STORE_LANES(again->sum, sum);
    STORE_LANES(again->rest, rest);
    for (int j = 0; j < LANES; j++) {
        // The difference of equal infinities is NaN.
        T max = acc[j].max;
        acc[j].sum = fabs(max) < (T)INFINITY ? sum[j] : max == -(T)INFINITY ? ZERO : ONE;
        acc[j].rest = fabs(max) < (T)INFINITY ? rest[j] : ZERO;
    }
}
static inline void fold_merge(Acc *a, const Acc *b) {
    T max = op_maximum(a->max, b->max);
    T first = a->max == max ? ONE : exp(a->max - max), second = b->max == max ? ONE : exp(b->max - max);
    T rest = a->rest * first + b->rest * second;
    a->sum *= first;
    a->rest = ZERO;
    add_exactly(&a->sum, &a->rest, b->sum * second);
    a->rest += rest;
    a->max = max;
}
#ifdef FOLD_LogSumExp
static inline T fold_first(const Acc *a, long n, M parameter) {
    return real_sum(log(real_sum(a->sum, a->rest)) + a->max, 0);
}
#else
static inline T fold_first(const Acc *a, long n, M parameter) { return a->max; }
static inline T fold_second(const Acc *a, long n, M parameter) {
    return fabs(a->max) < (T)INFINITY ? real_sum(a->sum, a->rest) : (T)NAN;
}
#endif
#endif

#ifdef FOLD_Norm2
static inline M square(T x) {
#ifdef IS_COMPLEX
    return (M)x.x * (M)x.x + (M)x.y * (M)x.y;
#else
    return (M)x * (M)x;
#endif
}
#if defined(IS_WIDE) || defined(HAS_DOUBLE)
typedef struct { M sum, rest; } Acc;
static inline Acc fold_identity(void) { Acc a = {0, 0}; return a; }
static inline void fold_add(Acc *a, T x, long position) { add_moment(&a->sum, &a->rest, square(x)); }
static inline void fold_merge(Acc *a, const Acc *b) {
    add_moment(&a->sum, &a->rest, b->sum);
    a->rest += b->rest;
}
static inline REAL fold_first(const Acc *a, long n, M parameter) {
    return real_sum((REAL)sqrt(moment_sum(a->sum, a->rest)), 0);
}
#else
// Squares of float would overflow: the first pass finds the largest magnitude, by whose power of two terms are divided.
#define PASSES 2
typedef struct { M largest, sum, rest; } Acc;
static inline M scale_of(M largest) {
    return largest > 0 && largest < (M)INFINITY ? ldexp((M)1, -clamp(ilogb(largest), -120, 120)) : (M)1;
}
static inline Acc fold_identity(void) { Acc a = {0, 0, 0}; return a; }
static inline void fold_add(Acc *a, T x, long position) {
#ifdef IS_COMPLEX
    a->largest = fmax(a->largest, fmax(fabs(x.x), fabs(x.y)));
#else
    a->largest = fmax(a->largest, fabs(x));
#endif
}
typedef struct { M scale, sum, rest; } Again;
static inline Again fold_between(const Acc *a) {
    Again again = {scale_of(a->largest), 0, 0};
    return again;
}
static inline void fold_add_again(Again *a, T x) { add_moment(&a->sum, &a->rest, square(x * a->scale)); }
static inline void fold_end(Acc *a, const Again *again) {
    a->sum = again->sum;
    a->rest = again->rest;
}
static inline void fold_merge(Acc *a, const Acc *b) {
    M largest = fmax(a->largest, b->largest), scale = scale_of(largest);
    M first = scale / scale_of(a->largest), second = scale / scale_of(b->largest);
    M rest = a->rest * first * first + b->rest * second * second;
    a->sum *= first * first;
    a->rest = 0;
    add_moment(&a->sum, &a->rest, b->sum * second * second);
    a->rest += rest;
    a->largest = largest;
}
static inline REAL fold_first(const Acc *a, long n, M parameter) {
    return real_sum(sqrt(moment_sum(a->sum, a->rest)) / scale_of(a->largest), 0);
}
#endif
#endif
