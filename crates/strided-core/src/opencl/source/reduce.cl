// Reductions: outputs of many terms. A work item folds some terms of one output, its LANES accumulators taking turns; or, if lanes go
// across, some terms of LANES neighbouring outputs, one accumulator for each. Where the terms of an output are divided into parts, each
// leaves an accumulator in memory, and `merge` merges those.

#ifndef PASSES
#define PASSES 1
#endif
#define EACH_LANE(j) _Pragma("unroll") for (int j = 0; j < LANES; j++)

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

// Calls DO(j, element, position) for each term; `shift[j]` is the distance of lane j in elements.
#define VISIT(DO) \
    for (long q = range.outer_start; q < range.outer_end; q++) { \
        long at[OPERANDS]; \
        locate(reduced, q, at); \
        const long row = start + at[1], first = q * split->inner; \
        long r = range.inner_start; \
        if (contiguous) { \
            for (; r + reach < range.inner_end; r += advance) { \
                const long i = row + r * step; \
                EACH_LANE(j) { DO(j, i + j, first + r + j * turn) } \
            } \
        } else { \
            for (; r + reach < range.inner_end; r += advance) { \
                const long i = row + r * step; \
                EACH_LANE(j) { DO(j, i + shift[j], first + r + j * turn) } \
            } \
        } \
        if (LANES > 1 && r < range.inner_end) { \
            const long i = row + r * step; \
            EACH_LANE(j) { if (r + j * turn < range.inner_end) { DO(j, i + shift[j], first + r + j * turn) } } \
        } \
    }
#define ADD(j, i, position) fold_add(&acc[j], term(x, i, parameter), position);
#define ADD_AGAIN(j, i, position) fold_add_again(&again[j], term(x, i, parameter));

static inline __attribute__((always_inline)) void fold_terms(
    Acc *acc, const Nest *reduced, const Split *split, Range range, long start, const long *shift, int contiguous,
    __global const X *x, M parameter
) {
    const long step = reduced->step[1][reduced->loops - 1];
    // Lanes take turns with the terms of one output.
    const long turn = split->across ? 0 : split->stride;
    const long advance = split->across ? split->stride : LANES * split->stride, reach = (LANES - 1) * turn;
    VISIT(ADD)
#if PASSES == 2
    Again again[LANES];
    EACH_LANE(j) again[j] = fold_between(&acc[j]);
    VISIT(ADD_AGAIN)
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
