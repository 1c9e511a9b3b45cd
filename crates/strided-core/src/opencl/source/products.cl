// Products of matrices: out = beta * out + alpha * (a @ b). T is the type of an element.

#define MAX_BATCH_LOOPS 8
typedef struct {
    long rows, columns, depth;
    long start[3];                    // of the output and the two operands
    long row[3], column[3];           // steps; the columns of a and the rows of b are counted along the depth
    long batch, loops, extent[MAX_BATCH_LOOPS], step[3][MAX_BATCH_LOOPS];
    long splits, split_depth;         // the depth is cut into parts, whose sums are added at the end
    long first;                       // the first product of the batch that a launch handles
    long alpha_is_one, beta_kind;     // 0: the output is not read; 1: beta is one; 2: any
} Product;

#if defined(IS_FLOAT) && defined(HAS_FAST_FMA)
#define MULTIPLY_ADD(a, b, sum) fma(a, b, sum)
#else
#define MULTIPLY_ADD(a, b, sum) ((sum) + (a) * (b))
#endif
#ifdef IS_COMPLEX
#define ZERO ((T)(0, 0))
static inline T times(T a, T b) { return (T)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
static inline T add_product(T a, T b, T sum) {
    return (T)(MULTIPLY_ADD(-a.y, b.y, MULTIPLY_ADD(a.x, b.x, sum.x)), MULTIPLY_ADD(a.y, b.x, MULTIPLY_ADD(a.x, b.y, sum.y)));
}
#else
#define ZERO ((T)0)
#define times(a, b) ((T)((a) * (b)))
#define add_product(a, b, sum) MULTIPLY_ADD(a, b, sum)
#endif

// Where an operand is in one product of a batch.
static inline long start_of(const Product *p, int k, long batch) {
    long at = p->start[k];
    for (long l = p->loops - 1; l >= 0; l--) {
        const long next = batch / p->extent[l];
        at += (batch - next * p->extent[l]) * p->step[k][l];
        batch = next;
    }
    return at;
}

static inline void store(const Product *p, __global T *out, T value, T alpha, T beta) {
    if (!p->alpha_is_one) value = times(alpha, value);
    if (p->beta_kind == 1) {
        value = *out + value;
    } else if (p->beta_kind == 2) {
        value = times(beta, *out) + value;
    }
    *out = value;
}

// One element, or one part of its sum: for products with a vector, and for small ones.
__kernel void direct(Product p, __global T *out, __global const T *a, __global const T *b, T alpha, T beta, __global T *parts) {
    const long column = get_global_id(0), y = get_global_id(1);
    if (column >= p.columns || y >= p.rows * p.batch * p.splits) return;
    const long row = y % p.rows, batch = y / p.rows % p.batch, split = y / p.rows / p.batch;
    const long first = split * p.split_depth, count = min(p.split_depth, p.depth - first);
    const long a_step = p.column[1], b_step = p.row[2];
    a += start_of(&p, 1, batch) + row * p.row[1] + first * a_step;
    b += start_of(&p, 2, batch) + column * p.column[2] + first * b_step;
    T sum = ZERO;
    long k = 0;
#ifdef LANES
    if (a_step == 1 && b_step == 1) {
        V wide[4] = {(V)0, (V)0, (V)0, (V)0};
        for (; k + 4 * LANES <= count; k += 4 * LANES) {
            for (int i = 0; i < 4; i++) wide[i] = MULTIPLY_ADD(LOAD(a + k + i * LANES), LOAD(b + k + i * LANES), wide[i]);
        }
        T lanes[LANES];
        STORE((wide[0] + wide[1]) + (wide[2] + wide[3]), lanes);
        for (int i = 0; i < LANES; i++) sum += lanes[i];
    }
#endif
    T other = ZERO;
    for (; k + 2 <= count; k += 2) {
        sum = add_product(a[k * a_step], b[k * b_step], sum);
        other = add_product(a[(k + 1) * a_step], b[(k + 1) * b_step], other);
    }
    if (k < count) sum = add_product(a[k * a_step], b[k * b_step], sum);
    sum += other;
    if (p.splits == 1) {
        store(&p, out + start_of(&p, 0, batch) + row * p.row[0] + column * p.column[0], sum, alpha, beta);
    } else {
        parts[y * p.columns + column] = sum;
    }
}

__kernel void add_parts(Product p, __global T *out, T alpha, T beta, __global const T *parts) {
    const long column = get_global_id(0), y = get_global_id(1), all = p.rows * p.batch;
    if (column >= p.columns || y >= all) return;
    T sum = ZERO;
    for (long split = 0; split < p.splits; split++) sum += parts[(split * all + y) * p.columns + column];
    store(&p, out + start_of(&p, 0, y / p.rows) + y % p.rows * p.row[0] + column * p.column[0], sum, alpha, beta);
}
