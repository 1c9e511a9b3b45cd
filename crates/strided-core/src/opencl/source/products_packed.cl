// For CPUs: both operands are packed into panels of PANEL_ROWS rows or PANEL_COLUMNS columns, and a work item multiplies panels
// with sums in registers. `MICRO_KERNEL` is made for the type.

// Lines are the rows of a (k = 1) or the columns of b (k = 2), `width` of them in a panel.
__kernel void pack(Product p, __global T *to, __global const T *from, long k, long lines, long width, long products) {
    const long at = get_global_id(0), y = get_global_id(1), panels = (lines + width - 1) / width;
    if (at >= p.depth || y >= panels * products) return;
    const long first = y % panels * width, count = min(width, lines - first);
    const long line_step = k == 1 ? p.row[1] : p.column[2], depth_step = k == 1 ? p.column[1] : p.row[2];
    from += start_of(&p, (int)k, p.first + y / panels) + first * line_step + at * depth_step;
    to += (y * p.depth + at) * width;
    for (long i = 0; i < count; i++) to[i] = from[i * line_step];
    for (long i = count; i < width; i++) to[i] = ZERO;
}

__kernel void packed(Product p, __global T *out, __global const T *a, __global const T *b, T alpha, T beta, long products) {
    const long row_panels = (p.rows + PANEL_ROWS - 1) / PANEL_ROWS;
    const long column_panels = (p.columns + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
    const long x = get_global_id(0), y = get_global_id(1);
    if (x * PANELS_PER_ITEM >= row_panels || y >= column_panels * products) return;
    const long column_panel = y % column_panels, product = y / column_panels;
    const long column = column_panel * PANEL_COLUMNS, columns = min((long)PANEL_COLUMNS, p.columns - column);
    out += start_of(&p, 0, p.first + product) + column * p.column[0];
    const long last_panel = min((x + 1) * PANELS_PER_ITEM, row_panels);
    for (long panel = x * PANELS_PER_ITEM; panel < last_panel; panel++) {
        __global const T *pa = a + (product * row_panels + panel) * p.depth * PANEL_ROWS;
        __global const T *pb = b + (product * column_panels + column_panel) * p.depth * PANEL_COLUMNS;
        T block[PANEL_ROWS * PANEL_COLUMNS];
        MICRO_KERNEL
        const long row = panel * PANEL_ROWS, rows = min((long)PANEL_ROWS, p.rows - row);
        for (long r = 0; r < rows; r++) {
            __global T *to = out + (row + r) * p.row[0];
            for (long c = 0; c < columns; c++) {
                store(&p, to + c * p.column[0], block[r * PANEL_COLUMNS + c], alpha, beta);
            }
        }
    }
}
