//! Python literals, as far as the header of a .npy file needs them.

use super::fault;
use crate::error::{Error, Result};

/// Headers are a few levels deep, also those of nested structs.
const MAX_DEPTH: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    None,
    Bool(bool),
    Int(i128),
    Text(String),
    /// A list or a tuple.
    Sequence(Vec<Literal>),
    Dict(Vec<(Literal, Literal)>),
}

/// Parses a text. `position` is that of its first byte in the file, for errors.
pub fn parse(text: &str, position: u64) -> Result<Literal> {
    let mut parser = LiteralParser { bytes: text.as_bytes(), text, at: 0, position };
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.at == text.len() {
        Ok(value)
    } else {
        Err(parser.fault("characters after the end of the literal"))
    }
}

struct LiteralParser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    position: u64,
}

impl LiteralParser<'_> {
    #[cold]
    fn fault(&self, reason: &str) -> Error {
        fault(self.position + self.at as u64, reason)
    }

    fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Literal> {
        if depth > MAX_DEPTH {
            return Err(self.fault("the literal is nested too deeply"));
        }
        self.skip_space();
        match self.bytes.get(self.at) {
            Some(b'(') => self.sequence(b')', depth),
            Some(b'[') => self.sequence(b']', depth),
            Some(b'{') => self.dict(depth),
            Some(b'\'' | b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.integer(),
            Some(b'u' | b'b') if matches!(self.bytes.get(self.at + 1), Some(b'\'' | b'"')) => {
                self.at += 1;
                self.string()
            }
            _ => self.word(),
        }
    }

    fn sequence(&mut self, close: u8, depth: usize) -> Result<Literal> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.value(depth + 1)?);
            if !self.take(b',') {
                if self.take(close) {
                    // `(3)` is a number in brackets; headers write tuples with a comma.
                    break;
                }
                return Err(self.fault("wanted ',' or the end of a sequence"));
            }
        }
        Ok(Literal::Sequence(items))
    }

    fn dict(&mut self, depth: usize) -> Result<Literal> {
        self.at += 1;
        let mut pairs = Vec::new();
        while !self.take(b'}') {
            let key = self.value(depth + 1)?;
            if !self.take(b':') {
                return Err(self.fault("wanted ':'"));
            }
            pairs.push((key, self.value(depth + 1)?));
            if !self.take(b',') && self.bytes.get(self.at) != Some(&b'}') {
                return Err(self.fault("wanted ',' or '}'"));
            }
        }
        Ok(Literal::Dict(pairs))
    }

    fn string(&mut self) -> Result<Literal> {
        let quote = self.bytes[self.at];
        self.at += 1;
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'\\' {
                return Err(self.fault("an escape in a string of a header"));
            }
            if byte == quote {
                let text = self.text[start..self.at].to_string();
                self.at += 1;
                return Ok(Literal::Text(text));
            }
            self.at += 1;
        }
        Err(self.fault("a string has no end"))
    }

    fn integer(&mut self) -> Result<Literal> {
        let start = self.at;
        self.at += usize::from(self.bytes[self.at] == b'-');
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let parsed = self.text[start..self.at].parse().map_err(|_| self.fault("a malformed number"))?;
        // Python 2 wrote long integers with this letter.
        self.at += usize::from(self.bytes.get(self.at) == Some(&b'L'));
        Ok(Literal::Int(parsed))
    }

    fn word(&mut self) -> Result<Literal> {
        let words = [("None", Literal::None), ("True", Literal::Bool(true)), ("False", Literal::Bool(false))];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.fault("wanted a literal"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed() {
        let header =
            "{'descr': [('a', '<f4'), ('b', '|S3', (2,))], 'fortran_order': False, 'shape': (3L, 4), }  \n";
        let Literal::Dict(pairs) = parse(header, 0).unwrap() else { panic!("a dict") };
        assert_eq!(pairs.len(), 3);
        assert_eq!(pairs[2].1, Literal::Sequence(vec![Literal::Int(3), Literal::Int(4)]));
    }

    #[test]
    fn other_python_is_refused() {
        for text in ["", "{", "{'a'}", "{1: 2 3: 4}", "(1 2)", "'a", "'\\x00'", "1.5", "f()", "(1,) + (2,)"] {
            assert!(parse(text, 0).is_err(), "{text}");
        }
        assert!(parse(&"(".repeat(100_000), 0).is_err());
    }
}
