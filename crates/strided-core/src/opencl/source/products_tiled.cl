// For GPUs: a group of GROUP x GROUP work items computes a tile of SIDE x SIDE elements. Parts of both operands, STEP deep, are
// in local memory; each work item has PER x PER sums in registers.

#define PER 4
#define SIDE (GROUP * PER)
#define STEP 16

__kernel void tiled(Product p, __global T *out, __global const T *a, __global const T *b, T alpha, T beta) {
    __local T left[STEP][SIDE + 1], right[STEP][SIDE + 1];
    const long row_tiles = (p.rows + SIDE - 1) / SIDE, y = get_group_id(1);
    const long row = y % row_tiles * SIDE, column = get_group_id(0) * SIDE, batch = y / row_tiles;
    const int tx = get_local_id(0), ty = get_local_id(1), number = ty * GROUP + tx;
    a += start_of(&p, 1, batch);
    b += start_of(&p, 2, batch);
    T sum[PER][PER];
    for (int i = 0; i < PER; i++) {
        for (int j = 0; j < PER; j++) sum[i][j] = ZERO;
    }
    // Neighbouring work items read neighbouring elements, along whichever dim those are.
    const int a_by_depth = p.column[1] == 1, b_by_depth = p.row[2] == 1;
    for (long first = 0; first < p.depth; first += STEP) {
        for (int i = number; i < SIDE * STEP; i += GROUP * GROUP) {
            const int a_line = a_by_depth ? i / STEP : i % SIDE, a_k = a_by_depth ? i % STEP : i / SIDE;
            const int b_line = b_by_depth ? i / STEP : i % SIDE, b_k = b_by_depth ? i % STEP : i / SIDE;
            T value = ZERO;
            if (row + a_line < p.rows && first + a_k < p.depth) {
                value = a[(row + a_line) * p.row[1] + (first + a_k) * p.column[1]];
            }
            left[a_k][a_line] = value;
            value = ZERO;
            if (column + b_line < p.columns && first + b_k < p.depth) {
                value = b[(column + b_line) * p.column[2] + (first + b_k) * p.row[2]];
            }
            right[b_k][b_line] = value;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < STEP; k++) {
            T l[PER], r[PER];
            for (int i = 0; i < PER; i++) {
                l[i] = left[k][ty + i * GROUP];
                r[i] = right[k][tx + i * GROUP];
            }
            for (int i = 0; i < PER; i++) {
                for (int j = 0; j < PER; j++) sum[i][j] = add_product(l[i], r[j], sum[i][j]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out += start_of(&p, 0, batch);
    for (int i = 0; i < PER; i++) {
        for (int j = 0; j < PER; j++) {
            const long r = row + ty + i * GROUP, c = column + tx + j * GROUP;
            if (r < p.rows && c < p.columns) store(&p, out + r * p.row[0] + c * p.column[0], sum[i][j], alpha, beta);
        }
    }
}
