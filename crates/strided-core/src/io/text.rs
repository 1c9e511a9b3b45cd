//! Numbers as decimal text, as C's `printf` writes and `scanf` reads them.

use super::fault;
use super::source::{ByteSource, Cursor};
use crate::dtype::DType;
use crate::error::Result;
use crate::storage::Storage;
use half::f16;
use std::ops::Range;
use std::str::FromStr;

/// No number is written with more characters: 17 digits, a sign, a point and an exponent.
const MAX_CHARS: usize = 64;

/// Skips white space, and takes the characters up to the next.
pub fn word<'b>(cursor: &mut Cursor<'_>, buffer: &'b mut Vec<u8>, what: &str) -> Result<&'b str> {
    buffer.clear();
    while let Some(byte) = cursor.next_byte()? {
        if byte.is_ascii_whitespace() || byte == 0x0b {
            if !buffer.is_empty() {
                break;
            }
        } else if buffer.len() == MAX_CHARS || !byte.is_ascii_graphic() {
            return Err(cursor.fault(format!("{what} is no number")));
        } else {
            buffer.push(byte);
        }
        cursor.take_byte();
    }
    if buffer.is_empty() {
        return Err(cursor.fault(format!("the file ends where {what} should be")));
    }
    std::str::from_utf8(buffer).map_err(|_| cursor.fault(format!("{what} is no number")))
}

/// The next number.
pub fn number<T: FromStr>(cursor: &mut Cursor<'_>, buffer: &mut Vec<u8>, what: &str) -> Result<T> {
    let position = cursor.position();
    let text = word(cursor, buffer, what)?;
    // C writes no plus sign, but reads one.
    let digits = text.strip_prefix('+').unwrap_or(text);
    digits.parse().map_err(|_| fault(position, format!("{what} is {text:?}, wanted a number in its range")))
}

/// A new storage with numbers of a text.
pub fn read_numbers(source: &dyn ByteSource, range: Range<u64>, count: u64, dtype: DType) -> Result<Storage> {
    let mut cursor = Cursor::new(source, range.start, range.end);
    let mut buffer = Vec::new();
    // Every number except the last takes two characters or more, so that the count is below the length of the file.
    if count > range.end - range.start {
        return Err(fault(
            range.start,
            format!("{count} numbers do not fit {} bytes", range.end - range.start),
        ));
    }
    macro_rules! fill {
        ($t:ty, $value:ident => $convert:expr) => {
            Storage::filled(count as usize * dtype.size(), |memory| {
                for element in memory.chunks_exact_mut(dtype.size()) {
                    let $value: $t = number(&mut cursor, &mut buffer, "an element")?;
                    element.copy_from_slice(&$convert.to_ne_bytes());
                }
                Ok(())
            })
        };
    }
    match dtype {
        DType::I16 => fill!(i16, value => value),
        DType::I32 => fill!(i32, value => value),
        DType::I64 => fill!(i64, value => value),
        DType::F16 => fill!(f32, value => f16::from_f32(value)),
        DType::F32 => fill!(f32, value => value),
        DType::F64 => fill!(f64, value => value),
        _ => Err(fault(range.start, format!("{} is never written as text", dtype.name()))),
    }
}

/// A number as `%.{digits}g` writes it.
pub fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.into();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.into();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("this format has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
    let decimals = (digits as i32 - 1 - exponent) as usize;
    without_zeros(&format!("{value:.decimals$}")).into()
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn numbers_are_written_as_by_printf() {
        for (value, digits, wanted) in [
            (0.1, 17, "0.10000000000000001"),
            (-0.0, 17, "-0"),
            (1.0, 17, "1"),
            (1e16, 17, "10000000000000000"),
            (1e17, 17, "1e+17"),
            (1e-4, 17, "0.0001"),
            (1e-5, 17, "1.0000000000000001e-05"),
            (f64::MAX, 17, "1.7976931348623157e+308"),
            (123_456_789.5, 9, "123456790"),
            (16_777_216.0, 9, "16777216"),
            (f64::from(0.1f32), 9, "0.100000001"),
            (-f64::INFINITY, 9, "-inf"),
            (-f64::NAN, 9, "-nan"),
        ] {
            assert_eq!(general(value, digits), wanted);
        }
    }
}
