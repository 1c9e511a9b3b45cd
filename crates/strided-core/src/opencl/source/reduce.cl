// Reductions: outputs of many terms. A work item folds some terms of one output, its LANES accumulators taking turns; or, if lanes go
// across, some terms of LANES neighbouring outputs, one accumulator for each. Where the terms of an output are divided into parts, each
// leaves an accumulator in memory, and `merge` merges those.

#ifndef PASSES
#define PASSES 1
#endif

typedef struct {
    long items;
    long across;       // whether lanes are neighbouring outputs, along the innermost loop of outputs
    long rows;         // iterations of the other loops of outputs
    long columns;      // iterations of the innermost one
    long terms;        // of an output
    long parts;        // into which the terms are divided
    // A part has some iterations of the outer loops over terms, and every `stride`-th one of the innermost loop in some range.
    long outer;
    long outer_length;
    long inner;
    long inner_parts;
    long inner_length;
    long inner_shift;  // from part to part
    long stride;
} Split;

// The range of the iterations that a work item sees.
typedef struct {
    long outer_start, outer_end, inner_start, inner_end;
} Range;

// ALL(shift) has lane j take the term at i + shift; SOME is for the last terms, which not all lanes have. BLOCKS may come first.
#define VISIT(BLOCKS, ALL, SOME) \
    for (long q = range.outer_start; q < range.outer_end; q++) { \
        long at[OPERANDS]; \
        locate(reduced, q, at); \
        const long row = start + at[1], first = q * split->inner; \
        long r = range.inner_start; \
        if (contiguous) { \
            BLOCKS \
            for (; r + reach < range.inner_end; r += advance) { \
                const long i = row + r * step; \
                ALL(j) \
            } \
        } else { \
            for (; r + reach < range.inner_end; r += advance) { \
                const long i = row + r * step; \
                ALL(shift[j]) \
            } \
        } \
        if (LANES > 1 && r < range.inner_end) { \
            const long i = row + r * step; \
            SOME \
        } \
    }
#define HAS_TERM(j) (r + j * turn < range.inner_end)
#define ADD_ALL(shift) EACH_LANE(j) fold_add(&acc[j], term(x, i + shift, parameter), first + r + j * turn);
#define ADD_SOME \
    EACH_LANE(j) { if (HAS_TERM(j)) fold_add(&acc[j], term(x, i + shift[j], parameter), first + r + j * turn); }

// Sums of eight terms, added as a tree without what is rounded off: three roundings are few.
#ifdef IN_EIGHTS
#define SUMMAND(j, k) summand(term(x, i + (k) * advance * step + j, parameter))
#define PAIR(j, k) (SUMMAND(j, k) + SUMMAND(j, (k) + 1))
#define ADD_BLOCKS \
    for (; r + reach + 7 * advance < range.inner_end; r += 8 * advance) { \
        const long i = row + r * step; \
        T sums[LANES]; \
        EACH_LANE(j) sums[j] = (PAIR(j, 0) + PAIR(j, 2)) + (PAIR(j, 4) + PAIR(j, 6)); \
        EACH_LANE(j) fold_add(&acc[j], sums[j], 0); \
    }
#else
#define ADD_BLOCKS
#endif

// The second pass, of one lane after the other or of all as a vector.
#if PASSES == 2 && defined(VECTOR)
#define ADD_AGAIN_ALL(shift) { \
        T terms[LANES]; \
        EACH_LANE(j) terms[j] = term(x, i + shift, parameter); \
        fold_add_again(&again, LOAD_LANES(terms)); \
    }
#define ADD_AGAIN_SOME { \
        T terms[LANES]; \
        EACH_LANE(j) terms[j] = HAS_TERM(j) ? term(x, i + shift[j], parameter) : NO_TERM; \
        fold_add_again(&again, LOAD_LANES(terms)); \
    }
#else
#define ADD_AGAIN_ALL(shift) EACH_LANE(j) fold_add_again(&again[j], term(x, i + shift, parameter));
#define ADD_AGAIN_SOME \
    EACH_LANE(j) { if (HAS_TERM(j)) fold_add_again(&again[j], term(x, i + shift[j], parameter)); }
#endif

static inline __attribute__((always_inline)) void fold_terms(
    Acc *acc, const Nest *reduced, const Split *split, Range range, long start, const long *shift, int contiguous,
    __global const X *x, M parameter
) {
    const long step = reduced->step[1][reduced->loops - 1];
    // Lanes take turns with the terms of one output.
    const long turn = split->across ? 0 : split->stride;
    const long advance = split->across ? split->stride : LANES * split->stride, reach = (LANES - 1) * turn;
    VISIT(ADD_BLOCKS, ADD_ALL, ADD_SOME)
#if PASSES == 2 && defined(VECTOR)
    Again again = fold_between(acc);
    VISIT(, ADD_AGAIN_ALL, ADD_AGAIN_SOME)
    fold_end(acc, &again);
#elif PASSES == 2
    Again again[LANES];
    EACH_LANE(j) again[j] = fold_between(&acc[j]);
    VISIT(, ADD_AGAIN_ALL, ADD_AGAIN_SOME)
    EACH_LANE(j) fold_end(&acc[j], &again[j]);
#endif
}

__kernel void fold(
    Nest kept, Nest reduced, Split split, __global const X *x, __global Y0 *y0, __global Y1 *y1, __global Acc *partial, M parameter
) {
    const long item = get_global_id(0);
    if (item >= split.items) return;
    long row, column, part;
    if (split.across) {
        // Neighbouring items have neighbouring outputs …
        const long groups = (split.columns + LANES - 1) / LANES, left = item / groups;
        column = (item - left * groups) * LANES;
        part = left / split.rows;
        row = left - part * split.rows;
    } else {
        // … or neighbouring parts of an output.
        const long output = item / split.parts;
        part = item - output * split.parts;
        row = output / split.columns;
        column = output - row * split.columns;
    }
    const long outer_part = part / split.inner_parts, inner_part = part - outer_part * split.inner_parts;
    Range range;
    range.outer_start = outer_part * split.outer_length;
    range.outer_end = min(range.outer_start + split.outer_length, split.outer);
    range.inner_start = inner_part * split.inner_shift;
    range.inner_end = min(range.inner_start + split.inner_length, split.inner);

    long at[OPERANDS];
    locate(&kept, row, at);
    const long column_step = kept.step[1][kept.loops - 1];
    const long width = split.across ? min((long)LANES, split.columns - column) : 1;
    const long lane_step = split.across ? column_step : split.stride * reduced.step[1][reduced.loops - 1];
    long shift[LANES];
    EACH_LANE(j) shift[j] = split.across && j >= width ? 0 : j * lane_step;
    const int contiguous = lane_step == 1 && (width == LANES || !split.across);
    Acc acc[LANES];
    EACH_LANE(j) acc[j] = fold_identity();
    fold_terms(acc, &reduced, &split, range, at[1] + column * column_step, shift, contiguous, x, parameter);

    // In memory, for loops that are not unrolled.
    Acc results[LANES];
    EACH_LANE(j) results[j] = acc[j];
    if (!split.across) {
        for (int count = LANES / 2; count > 0; count /= 2) {
            for (int j = 0; j < count; j++) fold_merge(&results[j], &results[j + count]);
        }
    }
    const long first = kept.step[0][kept.loops - 1], second = kept.step[2][kept.loops - 1];
    for (long j = 0; j < width; j++, column++) {
        if (split.parts == 1) {
            store_results(&results[j], split.terms, parameter, y0, at[0] + column * first, y1, at[2] + column * second);
        } else {
            partial[(part * split.rows + row) * split.columns + column] = results[j];
        }
    }
}

// Merges `parts` accumulators of each output into `left` ones: each of these has every `left`-th one.
__kernel void merge(
    Nest kept, long outputs, long parts, long left, long terms, __global const Acc *from, __global Acc *into,
    __global Y0 *y0, __global Y1 *y1, M parameter
) {
    const long item = get_global_id(0);
    if (item >= outputs * left) return;
    const long part = item / outputs, output = item - part * outputs;
    Acc acc = from[item];
    for (long p = part + left; p < parts; p += left) {
        const Acc other = from[p * outputs + output];
        fold_merge(&acc, &other);
    }
    if (left > 1) {
        into[item] = acc;
        return;
    }
    const long columns = kept.extent[kept.loops - 1], row = output / columns, column = output - row * columns;
    long at[OPERANDS];
    locate(&kept, row, at);
    store_results(
        &acc, terms, parameter, y0, at[0] + column * kept.step[0][kept.loops - 1], y1,
        at[2] + column * kept.step[2][kept.loops - 1]
    );
}
