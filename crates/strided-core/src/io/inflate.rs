//! Deflated bytes of a source.

use super::fault;
use super::source::ByteSource;
use crate::error::Result;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::ops::Range;

/// About the most bytes that one byte can be inflated to: a declared length beyond it is wrong.
const MAX_RATIO: u64 = 1032;
/// Compressed bytes that are read at a time.
const BYTES_PER_READ: usize = 1 << 16;

/// Whether this many bytes can come out of that many compressed ones.
pub fn is_possible(inflated: u64, compressed: u64) -> bool {
    inflated <= compressed.saturating_mul(MAX_RATIO)
}

/// A stream of inflated bytes.
pub struct Inflater<'a> {
    source: &'a dyn ByteSource,
    /// Compressed bytes that were not read yet.
    range: Range<u64>,
    input: Vec<u8>,
    used: usize,
    stream: Decompress,
    ended: bool,
}

impl<'a> Inflater<'a> {
    pub fn new(source: &'a dyn ByteSource, range: Range<u64>) -> Inflater<'a> {
        let stream = Decompress::new(false);
        Inflater { source, range, input: Vec::new(), used: 0, stream, ended: false }
    }

    /// Fills a slice as far as the stream goes. Returns the number of bytes.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < into.len() && !self.ended {
            if self.used == self.input.len() && !self.range.is_empty() {
                self.refill()?;
            }
            let before = (self.stream.total_in(), self.stream.total_out());
            let input = &self.input[self.used..];
            let status = self.stream.decompress(input, &mut into[done..], FlushDecompress::None);
            let status =
                status.map_err(|error| fault(self.position(), format!("damaged deflated data: {error}")))?;
            let taken = (self.stream.total_in() - before.0) as usize;
            let made = (self.stream.total_out() - before.1) as usize;
            self.used += taken;
            done += made;
            self.ended = status == Status::StreamEnd || taken == 0 && made == 0 && self.range.is_empty();
        }
        Ok(done)
    }

    fn refill(&mut self) -> Result<()> {
        let length = BYTES_PER_READ.min((self.range.end - self.range.start) as usize);
        self.input.resize(length, 0);
        self.used = 0;
        self.source.read_at(self.range.start, &mut self.input)?;
        self.range.start += length as u64;
        Ok(())
    }

    /// Where in the source the next compressed byte is.
    fn position(&self) -> u64 {
        self.range.start - (self.input.len() - self.used) as u64
    }

    /// Fills a slice, or fails if the stream ends before.
    pub fn read_exact(&mut self, into: &mut [u8]) -> Result<()> {
        let got = self.read(into)?;
        if got == into.len() {
            return Ok(());
        }
        let reason = format!("the deflated data ends {} bytes too early", into.len() - got);
        Err(fault(self.position(), reason))
    }
}

/// Inflates all of a range into a slice, without the first `skipped` bytes. The stream must end with the slice, and all of
/// it must have the checksum.
pub fn inflate_into(
    source: &dyn ByteSource,
    range: Range<u64>,
    skipped: u64,
    crc: u32,
    into: &mut [u8],
) -> Result<()> {
    let start = range.start;
    let mut inflater = Inflater::new(source, range);
    let mut checksum = Crc::new();
    let mut dropped = vec![0; BYTES_PER_READ.min(skipped as usize)];
    let mut rest = skipped;
    while rest > 0 {
        let piece = &mut dropped[..BYTES_PER_READ.min(rest as usize)];
        inflater.read_exact(piece)?;
        checksum.update(piece);
        rest -= piece.len() as u64;
    }
    for piece in into.chunks_mut(BYTES_PER_READ) {
        inflater.read_exact(piece)?;
        checksum.update(piece);
    }
    if inflater.read(&mut [0])? != 0 {
        return Err(fault(start, "the deflated data is longer than the archive says"));
    }
    if checksum.sum() != crc {
        return Err(fault(start, "the deflated data is damaged: its checksum differs"));
    }
    Ok(())
}
