//! Tiles: what kernels of line functions run over.

/// The rows of a tile, one for each position. The lanes of a row are adjacent.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct TileRows {
    pub start: *mut u8,
    /// Bytes from one position to the next.
    pub step: isize,
}

impl TileRows {
    pub const NONE: TileRows = TileRows { start: std::ptr::null_mut(), step: 0 };

    #[inline(always)]
    pub fn at<T>(self, row: usize, lane: usize) -> *mut T {
        self.start.wrapping_offset(row as isize * self.step).cast::<T>().wrapping_add(lane)
    }
}

/// Some consecutive positions of a strip.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct LineTile {
    pub from: TileRows,
    /// The results: may be the same memory as `from`.
    pub to: TileRows,
    /// The positions, as i64; `NONE` without them.
    pub indices: TileRows,
    /// The position of the first row in the first lane.
    pub position: usize,
    /// The number of positions by which each lane is ahead of the lane before.
    pub lane_positions: usize,
    pub rows: usize,
    pub width: usize,
}

/// Work on the tiles of a strip, in the order of their positions. The kernel holds the state of its lanes between
/// tiles.
pub(in crate::kernels) trait TileKernel {
    /// The size of the elements of tiles: inputs are cast to them, and results from them.
    fn element_bytes(&self) -> usize;

    /// Whether the kernel writes positions, too.
    fn is_indexed(&self) -> bool;

    /// Whether this pass writes results.
    fn writes(&self) -> bool;

    /// Works on one tile.
    ///
    /// # Safety
    /// `from` has `rows` rows of `width` readable elements. If the pass writes, `to` has as many writable elements, and
    /// `indices` as many writable i64 if the kernel is indexed. `to` is `from`, element for element, or does
    /// not overlap it; nothing else overlaps.
    unsafe fn run(&mut self, tile: &LineTile);
}
