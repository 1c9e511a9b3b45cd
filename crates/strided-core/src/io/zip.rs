//! Zip archives: the directory of one, and the writing of one, member by member, without going back.
//!
//! Members are stored or deflated. Sizes beyond 4 GB are read and written (zip64); encryption and archives in several files
//! are refused.

use super::budget::Budget;
use super::fault;
use super::output::FileOutput;
use super::source::{ByteSource, Cursor};
use crate::alloc::{try_collect, try_push, try_reserve_entry};
use crate::error::Result;
use flate2::Crc;
use std::collections::HashMap;

pub const LOCAL: &[u8; 4] = b"PK\x03\x04";
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
pub const END: &[u8; 4] = b"PK\x05\x06";
const END64: &[u8; 4] = b"PK\x06\x06";
const LOCATOR64: &[u8; 4] = b"PK\x06\x07";
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";
const END_BYTES: u64 = 22;
const LOCATOR_BYTES: u64 = 20;
/// The longest comment after the directory.
const MAX_COMMENT: u64 = 65535;
/// Stands for a size that is in the zip64 field.
const IN_ZIP64: u32 = u32::MAX;
const ZIP64_FIELD: u16 = 1;
/// A field that only takes space, so that the data after it is aligned.
const PADDING_FIELD: u16 = 0xd935;
/// Where the data of a stored member begins: at a multiple of this, so that it can be mapped.
const ALIGNMENT: u64 = 64;
pub const STORED: u16 = 0;
pub const DEFLATED: u16 = 8;
/// Flags: the member is encrypted; its sizes follow the data; its name is UTF-8.
const ENCRYPTED: u16 = 1;
const SIZES_FOLLOW: u16 = 8;
const UTF8: u16 = 1 << 11;

/// A member of an archive.
#[derive(Debug)]
pub struct Member {
    pub name: String,
    pub method: u16,
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
    /// Where its bytes begin.
    pub position: u64,
    /// Where its header is.
    header: u64,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// The members of an archive, in the order of its directory.
pub fn read_directory(source: &dyn ByteSource) -> Result<Vec<Member>> {
    let (start, length, count) = find_directory(source)?;
    let mut cursor = Cursor::new(source, start, start + length);
    let mut members: Vec<Member> = Vec::new();
    let mut names = HashMap::new();
    let mut budget = Budget::default(); // for its probes: the names are as long as the directory
    while cursor.left() > 0 {
        let position = cursor.position();
        let member = read_entry(&mut cursor)?;
        budget.spend(2 * (size_of::<Member>() + member.name.len()))?;
        try_reserve_entry(&mut names)?;
        if names.insert(member.name.clone(), ()).is_some() {
            return Err(fault(position, format!("the archive has two members {:?}", member.name)));
        }
        try_push(&mut members, member)?;
    }
    if members.len() as u64 != count {
        return Err(fault(start, format!("the directory has {} members, and says {count}", members.len())));
    }
    for member in &mut members {
        find_data(source, member, start)?;
    }
    refuse_overlaps(&members)?;
    Ok(members)
}

/// The position, the length and the number of members of the directory.
fn find_directory(source: &dyn ByteSource) -> Result<(u64, u64, u64)> {
    let length = source.length();
    let searched = length.min(END_BYTES + MAX_COMMENT);
    let start = length - searched;
    let bytes = Cursor::new(source, start, length).bytes(searched, "the end of the archive")?;
    let is_end = |at: usize| bytes[at..].starts_with(END) && at as u64 + END_BYTES <= searched;
    let found = (0..bytes.len())
        .rev()
        .find(|&at| is_end(at) && at as u64 + END_BYTES + u64::from(u16_at(&bytes, at + 20)) == searched);
    let Some(at) = found else {
        return Err(fault(length, "the archive has no directory: it is damaged or incomplete"));
    };
    let end = &bytes[at..];
    let position = start + at as u64;
    let (disk, count) = (u16_at(end, 4), u64::from(u16_at(end, 10)));
    let (size, offset) = (u64::from(u32_at(end, 12)), u64::from(u32_at(end, 16)));
    let (size, offset, count) = match find_zip64(source, position)? {
        Some(found) => found,
        None if disk != 0 => return Err(fault(position, "the archive is in several files")),
        None => (size, offset, count),
    };
    match offset.checked_add(size) {
        Some(end) if end <= position => Ok((offset, size, count)),
        _ => Err(fault(
            position,
            format!("a directory of {size} bytes at byte {offset} is outside the archive"),
        )),
    }
}

fn find_zip64(source: &dyn ByteSource, end: u64) -> Result<Option<(u64, u64, u64)>> {
    let Some(at) = end.checked_sub(LOCATOR_BYTES) else { return Ok(None) };
    let locator: [u8; 20] = Cursor::new(source, at, end).array("a locator")?;
    if !locator.starts_with(LOCATOR64) {
        return Ok(None);
    }
    let position = u64_at(&locator, 8);
    if position > at {
        return Err(fault(at, format!("the zip64 directory at byte {position} is outside the archive")));
    }
    let record: [u8; 56] = Cursor::new(source, position, at).array("the zip64 directory")?;
    if !record.starts_with(END64) {
        return Err(fault(position, "wanted a zip64 directory"));
    }
    Ok(Some((u64_at(&record, 40), u64_at(&record, 48), u64_at(&record, 32))))
}

/// One entry of the directory.
fn read_entry(cursor: &mut Cursor<'_>) -> Result<Member> {
    let position = cursor.position();
    let fixed: [u8; 46] = cursor.array("an entry of the directory")?;
    if !fixed.starts_with(CENTRAL) {
        return Err(fault(position, "wanted an entry of the directory"));
    }
    let name = cursor.bytes(u64::from(u16_at(&fixed, 28)), "the name of a member")?;
    // Old archives have names in code page 437, which agrees with UTF-8 in ASCII.
    let name = String::from_utf8_lossy(&name).into_owned();
    let extra = cursor.bytes(u64::from(u16_at(&fixed, 30)), "the fields of a member")?;
    cursor.skip(u64::from(u16_at(&fixed, 32)), "the comment of a member")?;
    if u16_at(&fixed, 8) & ENCRYPTED != 0 {
        return Err(fault(position, format!("the member {name:?} is encrypted")));
    }
    let mut zip64 = Zip64Values { bytes: zip64_field(&extra), at: 0 };
    // The order of the values in the field.
    let size = zip64.value(u32_at(&fixed, 24));
    let compressed = zip64.value(u32_at(&fixed, 20));
    let header = zip64.value(u32_at(&fixed, 42));
    let (Some(size), Some(compressed), Some(header)) = (size, compressed, header) else {
        return Err(fault(position, format!("the member {name:?} lacks its zip64 sizes")));
    };
    let (method, crc) = (u16_at(&fixed, 10), u32_at(&fixed, 16));
    Ok(Member { name, method, crc, compressed, size, position: 0, header })
}

struct Zip64Values<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Zip64Values<'_> {
    /// A number of the directory, or the next one of the field if that is where it is.
    fn value(&mut self, short: u32) -> Option<u64> {
        if short != IN_ZIP64 {
            return Some(u64::from(short));
        }
        let bytes = self.bytes.get(self.at..self.at + 8)?;
        self.at += 8;
        Some(u64_at(bytes, 0))
    }
}

fn zip64_field(mut extra: &[u8]) -> &[u8] {
    while extra.len() >= 4 {
        let (id, size) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let Some(value) = extra.get(4..4 + size) else { break };
        if id == ZIP64_FIELD {
            return value;
        }
        extra = &extra[4 + size..];
    }
    &[]
}

/// Finds the data of a member, which follows its own header. `directory` is where data must end.
fn find_data(source: &dyn ByteSource, member: &mut Member, directory: u64) -> Result<()> {
    let outside = || fault(member.header, format!("the member {:?} is outside the archive", member.name));
    if member.header > directory {
        return Err(outside());
    }
    let mut cursor = Cursor::new(source, member.header, directory);
    let fixed: [u8; 30] = cursor.array("the header of a member")?;
    if !fixed.starts_with(LOCAL) {
        return Err(fault(member.header, format!("the member {:?} has no header", member.name)));
    }
    cursor.skip(u64::from(u16_at(&fixed, 26)) + u64::from(u16_at(&fixed, 28)), "the header of a member")?;
    if member.compressed > cursor.left() {
        return Err(outside());
    }
    if member.method == STORED && member.compressed != member.size {
        return Err(fault(member.header, format!("the stored member {:?} has two sizes", member.name)));
    }
    member.position = cursor.position();
    Ok(())
}

/// Refuses members that share bytes: a small archive could otherwise have any number of large members.
fn refuse_overlaps(members: &[Member]) -> Result<()> {
    let mut ranges = try_collect(members.iter().map(|m| (m.header, m.position + m.compressed, &m.name)))?;
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if pair[1].0 < pair[0].1 {
            return Err(fault(pair[1].0, format!("the members {:?} and {:?} overlap", pair[0].2, pair[1].2)));
        }
    }
    Ok(())
}

/// An archive that is being written.
#[derive(Default)]
pub struct Archive {
    directory: Vec<u8>,
    count: u64,
}

/// A deflated member that is being written: what its header said.
pub struct OpenMember {
    name: String,
    header: u64,
    data: u64,
    wide: bool,
}

impl Archive {
    /// Writes the header of a stored member; its data must follow.
    pub fn stored(&mut self, output: &mut FileOutput<'_>, name: &str, size: u64, crc: u32) -> Result<()> {
        let header = output.position();
        let wide = size >= u64::from(IN_ZIP64);
        let mut extra = Vec::new();
        if wide {
            push_field(&mut extra, ZIP64_FIELD, &[size.to_le_bytes(), size.to_le_bytes()].concat());
        }
        let end = header + 30 + name.len() as u64 + extra.len() as u64;
        if !end.is_multiple_of(ALIGNMENT) {
            let padding = (end + 4).next_multiple_of(ALIGNMENT) - (end + 4);
            push_field(&mut extra, PADDING_FIELD, &vec![0; padding as usize]);
        }
        write_local(output, name, &extra, STORED, 0, (crc, size, size))?;
        self.enter(name, STORED, 0, (crc, size, size), header);
        Ok(())
    }

    /// Writes the header of a deflated member, whose sizes will follow its data.
    pub fn begin_deflated(&self, output: &mut FileOutput<'_>, name: &str, size: u64) -> Result<OpenMember> {
        let header = output.position();
        // Deflating adds at most a few bytes per block.
        let wide = size >= u64::from(IN_ZIP64) - size / 1000 - 1024;
        let mut extra = Vec::new();
        if wide {
            push_field(&mut extra, ZIP64_FIELD, &[0; 16]);
        }
        let sizes = if wide { u64::from(IN_ZIP64) } else { 0 };
        write_local(output, name, &extra, DEFLATED, SIZES_FOLLOW, (0, sizes, sizes))?;
        Ok(OpenMember { name: name.into(), header, data: output.position(), wide })
    }

    /// Writes the sizes of a deflated member after its data.
    pub fn end_deflated(
        &mut self,
        output: &mut FileOutput<'_>,
        member: OpenMember,
        size: u64,
        crc: u32,
    ) -> Result<()> {
        let compressed = output.position() - member.data;
        let mut descriptor = DESCRIPTOR.to_vec();
        descriptor.extend(crc.to_le_bytes());
        for number in [compressed, size] {
            if member.wide {
                descriptor.extend(number.to_le_bytes());
            } else {
                descriptor.extend((number as u32).to_le_bytes());
            }
        }
        output.write(&descriptor)?;
        self.enter(&member.name, DEFLATED, SIZES_FOLLOW, (crc, compressed, size), member.header);
        Ok(())
    }

    /// Adds a member to the directory.
    fn enter(&mut self, name: &str, method: u16, flags: u16, sizes: (u32, u64, u64), header: u64) {
        let (crc, compressed, size) = sizes;
        let mut zip64 = Vec::new();
        let mut short = |number: u64| {
            if number >= u64::from(IN_ZIP64) {
                zip64.extend(number.to_le_bytes());
                IN_ZIP64
            } else {
                number as u32
            }
        };
        let (size, compressed, header) = (short(size), short(compressed), short(header));
        let mut extra = Vec::new();
        if !zip64.is_empty() {
            push_field(&mut extra, ZIP64_FIELD, &zip64);
        }
        let entry = &mut self.directory;
        entry.extend(CENTRAL);
        entry.extend(version(extra.is_empty()));
        entry.extend(version(extra.is_empty()));
        push_common(entry, name, &extra, method, flags, (crc, compressed, size));
        entry.extend([0; 10]); // no comment, one disk, no attributes
        entry.extend(header.to_le_bytes());
        entry.extend(name.as_bytes());
        entry.extend(extra);
        self.count += 1;
    }

    /// Writes the directory.
    pub fn finish(self, output: &mut FileOutput<'_>) -> Result<()> {
        let (start, length) = (output.position(), self.directory.len() as u64);
        output.write(&self.directory)?;
        let wide = self.count >= 0xffff || start.max(length) >= u64::from(IN_ZIP64);
        let mut end = Vec::new();
        if wide {
            let position = output.position();
            end.extend(END64);
            end.extend(44u64.to_le_bytes());
            end.extend([version(false), version(false)].concat());
            end.extend([0; 8]); // disks
            for number in [self.count, self.count, length, start] {
                end.extend(number.to_le_bytes());
            }
            end.extend(LOCATOR64);
            end.extend([0; 4]);
            end.extend(position.to_le_bytes());
            end.extend(1u32.to_le_bytes());
        }
        let count = self.count.min(0xffff) as u16;
        end.extend(END);
        end.extend([0; 4]);
        end.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
        end.extend((length.min(u64::from(IN_ZIP64)) as u32).to_le_bytes());
        end.extend((start.min(u64::from(IN_ZIP64)) as u32).to_le_bytes());
        end.extend([0; 2]);
        output.write(&end)
    }
}

/// The version of the format that is needed to read a member.
fn version(short: bool) -> [u8; 2] {
    [if short { 20 } else { 45 }, 0]
}

fn push_field(extra: &mut Vec<u8>, id: u16, value: &[u8]) {
    extra.extend(id.to_le_bytes());
    extra.extend((value.len() as u16).to_le_bytes());
    extra.extend(value);
}

/// What headers and entries of the directory have in common.
fn push_common(
    bytes: &mut Vec<u8>,
    name: &str,
    extra: &[u8],
    method: u16,
    flags: u16,
    (crc, compressed, size): (u32, u32, u32),
) {
    let flags = flags | if name.is_ascii() { 0 } else { UTF8 };
    bytes.extend([flags.to_le_bytes(), method.to_le_bytes()].concat());
    bytes.extend([0, 0, 0x21, 0]); // midnight of 1 January 1980: files of equal content are equal
    for number in [crc, compressed, size] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([(name.len() as u16).to_le_bytes(), (extra.len() as u16).to_le_bytes()].concat());
}

fn write_local(
    output: &mut FileOutput<'_>,
    name: &str,
    extra: &[u8],
    method: u16,
    flags: u16,
    (crc, compressed, size): (u32, u64, u64),
) -> Result<()> {
    if name.len() > usize::from(u16::MAX) {
        return Err(super::refusal(format!("a name of {} bytes is too long for a zip archive", name.len())));
    }
    let short = |number: u64| number.min(u64::from(IN_ZIP64)) as u32;
    let mut header = LOCAL.to_vec();
    header.extend(version(compressed < u64::from(IN_ZIP64)));
    push_common(&mut header, name, extra, method, flags, (crc, short(compressed), short(size)));
    header.extend(name.as_bytes());
    header.extend(extra);
    output.write(&header)
}

/// The checksum of a member, taken piece by piece.
#[derive(Default)]
pub struct Checksum(Crc);

impl Checksum {
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn value(&self) -> u32 {
        self.0.sum()
    }
}
