// For CPUs: both operands are packed into panels of PANEL_ROWS rows or PANEL_COLUMNS columns. A work item multiplies some row
// panels with some column panels, a part of the depth at a time, so that parts of panels stay in the cache. MICRO_KERNEL, which
// is made for the type, multiplies two of them with sums in registers.

#define BLOCK_SIZE (PANEL_ROWS * PANEL_COLUMNS)

// Lines are the rows of a (k = 1) or the columns of b (k = 2), `width` of them in a panel. The columns of complex matrices are
// packed with all real parts before all imaginary parts.
__kernel void pack(Product p, __global T *to, __global const T *from, long k, long lines, long width, long products) {
    const long at = get_global_id(0), y = get_global_id(1), panels = (lines + width - 1) / width;
    if (at >= p.depth || y >= panels * products) return;
    const long first = y % panels * width, count = min(width, lines - first);
    const long line_step = k == 1 ? p.row[1] : p.column[2], depth_step = k == 1 ? p.column[1] : p.row[2];
    from += start_of(&p, (int)k, p.first + y / panels) + first * line_step + at * depth_step;
    to += (y * p.depth + at) * width;
#ifdef IS_COMPLEX
    if (k == 2) {
        __global R *parts = (__global R *)to;
        for (long i = 0; i < width; i++) {
            const T value = i < count ? from[i * line_step] : ZERO;
            parts[i] = value.x;
            parts[width + i] = value.y;
        }
        return;
    }
#endif
    for (long i = 0; i < count; i++) to[i] = from[i * line_step];
    for (long i = count; i < width; i++) to[i] = ZERO;
}

__kernel void packed(Product p, __global T *out, __global const T *a, __global const T *b, T alpha, T beta, long products,
                     long column_panels_per_item) {
    const long row_panels = (p.rows + PANEL_ROWS - 1) / PANEL_ROWS;
    const long column_panels = (p.columns + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
    const long column_groups = (column_panels + column_panels_per_item - 1) / column_panels_per_item;
    const long x = get_global_id(0), y = get_global_id(1);
    if (x * ROW_PANELS_PER_ITEM >= row_panels || y >= column_groups * products) return;
    const long product = y / column_groups, row_panel = x * ROW_PANELS_PER_ITEM;
    const long column_panel = y % column_groups * column_panels_per_item;
    const long rows = min((long)ROW_PANELS_PER_ITEM, row_panels - row_panel);
    const long columns = min(column_panels_per_item, column_panels - column_panel);
    a += (product * row_panels + row_panel) * p.depth * PANEL_ROWS;
    b += (product * column_panels + column_panel) * p.depth * PANEL_COLUMNS;
    R sums[ROW_PANELS_PER_ITEM * MAX_COLUMN_PANELS_PER_ITEM * BLOCK_SIZE * PARTS];
    for (long i = 0; i < rows * columns * BLOCK_SIZE * PARTS; i++) sums[i] = (R)0;
    for (long first = 0; first < p.depth; first += DEPTH_BLOCK) {
        const long depth = min((long)DEPTH_BLOCK, p.depth - first);
        for (long column = 0; column < columns; column++) {
            for (long row = 0; row < rows; row++) {
                __global const R *pa = (__global const R *)(a + (row * p.depth + first) * PANEL_ROWS);
                __global const R *pb = (__global const R *)(b + (column * p.depth + first) * PANEL_COLUMNS);
                R *block = sums + (column * rows + row) * BLOCK_SIZE * PARTS;
                MICRO_KERNEL
            }
        }
    }
    out += start_of(&p, 0, p.first + product);
    for (long i = 0; i < rows * columns * BLOCK_SIZE; i++) {
        const long in_block = i % BLOCK_SIZE, block = i / BLOCK_SIZE;
        const long r = (row_panel + block % rows) * PANEL_ROWS + in_block / PANEL_COLUMNS;
        const long c = (column_panel + block / rows) * PANEL_COLUMNS + in_block % PANEL_COLUMNS;
        if (r >= p.rows || c >= p.columns) continue;
#ifdef IS_COMPLEX
        const T value = (T)(sums[2 * block * BLOCK_SIZE + in_block], sums[(2 * block + 1) * BLOCK_SIZE + in_block]);
#else
        const T value = sums[i];
#endif
        store(&p, out + r * p.row[0] + c * p.column[0], value, alpha, beta);
    }
}

#ifdef LANES
// As `direct`, for neighbouring columns of a matrix whose rows are contiguous: a work item has PANEL_COLUMNS of them.
__kernel void wide(Product p, __global T *out, __global const T *a, __global const T *b, T alpha, T beta, __global T *parts) {
    const long column = get_global_id(0) * PANEL_COLUMNS, y = get_global_id(1);
    if (column >= p.columns || y >= p.rows * p.batch * p.splits) return;
    const long row = y % p.rows, batch = y / p.rows % p.batch, split = y / p.rows / p.batch;
    const long first = split * p.split_depth, count = min(p.split_depth, p.depth - first);
    const long a_step = p.column[1], b_step = p.row[2], columns = min((long)PANEL_COLUMNS, p.columns - column);
    a += start_of(&p, 1, batch) + row * p.row[1] + first * a_step;
    b += start_of(&p, 2, batch) + column + first * b_step;
    T sums[PANEL_COLUMNS];
    if (columns == PANEL_COLUMNS) {
        V left = (V)0, right = (V)0;
        for (long k = 0; k < count; k++) {
            const V factor = (V)(a[k * a_step]);
            left = MULTIPLY_ADD(factor, LOAD(b + k * b_step), left);
            right = MULTIPLY_ADD(factor, LOAD(b + k * b_step + LANES), right);
        }
        STORE(left, sums);
        STORE(right, sums + LANES);
    } else {
        for (long c = 0; c < columns; c++) {
            T sum = ZERO;
            for (long k = 0; k < count; k++) sum = MULTIPLY_ADD(a[k * a_step], b[k * b_step + c], sum);
            sums[c] = sum;
        }
    }
    out += start_of(&p, 0, batch) + row * p.row[0] + column * p.column[0];
    for (long c = 0; c < columns; c++) {
        if (p.splits == 1) {
            store(&p, out + c * p.column[0], sums[c], alpha, beta);
        } else {
            parts[y * p.columns + column + c] = sums[c];
        }
    }
}
#endif
