//! JSON, as far as headers of files need it: objects keep their order and refuse a key that occurs twice.

use super::fault;
use crate::alloc::{try_push, try_push_char, try_reserve_entry};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

/// Headers are a few levels deep.
const MAX_DEPTH: usize = 64;
/// Names of objects with fewer members are compared one by one.
const SMALL_OBJECT: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    /// The characters of a number.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        match self {
            Json::Object(pairs) => pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Json<'a>]> {
        match self {
            Json::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn integer<T: std::str::FromStr>(&self) -> Option<T> {
        match self {
            Json::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    pub fn integers<T: std::str::FromStr>(&self) -> Option<Vec<T>> {
        self.list()?.iter().map(Json::integer).collect()
    }
}

/// Parses a text. `position` is that of its first byte in the file, for errors.
pub fn parse(text: &str, position: u64) -> Result<Json<'_>> {
    let mut parser = JsonParser { text, at: 0, position };
    let value = parser.value(0)?;
    parser.skip_space();
    match parser.next() {
        None => Ok(value),
        Some(_) => Err(parser.fault("characters after the end of the JSON value")),
    }
}

struct JsonParser<'a> {
    text: &'a str,
    at: usize,
    position: u64,
}

impl<'a> JsonParser<'a> {
    #[cold]
    fn fault(&self, reason: &str) -> Error {
        fault(self.position + self.at as u64, reason)
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.next(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.next() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(self.fault(&format!("wanted '{}' in JSON", byte as char))) }
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>> {
        if depth > MAX_DEPTH {
            return Err(self.fault("JSON is nested too deeply"));
        }
        self.skip_space();
        match self.next() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>> {
        self.at += 1;
        let mut pairs: Vec<(Cow<'a, str>, Json<'a>)> = Vec::new();
        let mut names = HashMap::new();
        if self.take(b'}') {
            return Ok(Json::Object(pairs));
        }
        loop {
            self.skip_space();
            if self.next() != Some(b'"') {
                return Err(self.fault("wanted a name in JSON"));
            }
            let name = self.string()?;
            // Most objects are small: a set of names is made when one is not.
            let is_known = if pairs.len() < SMALL_OBJECT {
                pairs.iter().any(|pair| pair.0 == name)
            } else {
                if names.is_empty() {
                    names.extend(pairs.iter().map(|pair| (pair.0.clone(), ())));
                }
                try_reserve_entry(&mut names)?;
                names.insert(name.clone(), ()).is_some()
            };
            if is_known {
                return Err(self.fault(&format!("the name {name:?} occurs twice")));
            }
            self.expect(b':')?;
            try_push(&mut pairs, (name, self.value(depth + 1)?))?;
            if !self.take(b',') {
                self.expect(b'}')?;
                return Ok(Json::Object(pairs));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json<'a>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Json::List(items));
        }
        loop {
            try_push(&mut items, self.value(depth + 1)?)?;
            if !self.take(b',') {
                self.expect(b']')?;
                return Ok(Json::List(items));
            }
        }
    }

    fn word(&mut self) -> Result<Json<'a>> {
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.fault("wanted a JSON value"))
    }

    fn number(&mut self) -> Result<Json<'a>> {
        let start = self.at;
        let digits = |parser: &mut Self| {
            let before = parser.at;
            while matches!(parser.next(), Some(b'0'..=b'9')) {
                parser.at += 1;
            }
            parser.at > before
        };
        self.at += usize::from(self.next() == Some(b'-'));
        let first = self.next();
        let whole = self.at;
        let mut valid = digits(self) && (first != Some(b'0') || self.at == whole + 1);
        if self.next() == Some(b'.') {
            self.at += 1;
            valid &= digits(self);
        }
        if matches!(self.next(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.next(), Some(b'+' | b'-')));
            valid &= digits(self);
        }
        if valid {
            Ok(Json::Number(&self.text[start..self.at]))
        } else {
            Err(self.fault("a malformed number in JSON"))
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.next() {
                None => return Err(self.fault("a string in JSON has no end")),
                Some(b'"') => {
                    let text = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(Cow::Borrowed(text));
                }
                Some(b'\\') => return self.escaped_string(start),
                Some(0..0x20) => return Err(self.fault("a control character in a string of JSON")),
                Some(_) => self.at += 1,
            }
        }
    }

    /// The rest of a string from its first backslash on.
    fn escaped_string(&mut self, start: usize) -> Result<Cow<'a, str>> {
        let mut text = String::from(&self.text[start..self.at]);
        loop {
            let rest = &self.text[self.at..];
            let Some(next) = rest.chars().next() else {
                return Err(self.fault("a string in JSON has no end"));
            };
            match next {
                '"' => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                '\\' => {
                    let escaped = self.escape()?;
                    try_push_char(&mut text, escaped)?;
                }
                '\0'..'\x20' => return Err(self.fault("a control character in a string of JSON")),
                _ => {
                    try_push_char(&mut text, next)?;
                    self.at += next.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        self.at += 1;
        let kind = self.next();
        self.at += usize::from(kind.is_some());
        Ok(match kind {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex()?;
                let code = if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let second = self.hex()?;
                    // If the second one is not a low surrogate, the code is not a character.
                    0x10000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00)
                } else {
                    first
                };
                char::from_u32(code)
                    .ok_or_else(|| self.fault("half of a surrogate pair in a string of JSON"))?
            }
            _ => return Err(self.fault("an unknown escape in a string of JSON")),
        })
    }

    fn hex(&mut self) -> Result<u32> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4 * usize::from(code.is_some());
        code.ok_or_else(|| self.fault("wanted four hexadecimal digits in JSON"))
    }
}

/// Appends a string with its quotes.
pub fn write_text(json: &mut String, text: &str) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\0'..'\x20' => write!(json, "\\u{:04x}", character as u32).expect("a string takes any text"),
            _ => json.push(character),
        }
    }
    json.push('"');
}

/// Appends items between brackets.
pub fn write_list<T: ToString>(json: &mut String, items: impl IntoIterator<Item = T>) {
    json.push('[');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            json.push(',');
        }
        json.push_str(&item.to_string());
    }
    json.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_are_parsed() {
        let parsed =
            parse(r#" {"a": [1, -2.5e3, true, null], "b\n\u00e9\ud83d\ude00": "x\"y"} "#, 0).unwrap();
        assert_eq!(parsed.get("a").unwrap().list().unwrap().len(), 4);
        assert_eq!(parsed.get("b\né😀").unwrap().text(), Some("x\"y"));
        assert_eq!(parsed.get("a").unwrap().list().unwrap()[1], Json::Number("-2.5e3"));
    }

    #[test]
    fn what_is_written_is_parsed_again() {
        let text = "quote \" slash \\ line \n tab \t nul \0 é 😀";
        let mut json = String::new();
        write_text(&mut json, text);
        assert_eq!(parse(&json, 0).unwrap().text(), Some(text));
    }

    #[test]
    fn malformed_text_is_refused_at_its_position() {
        for (text, at) in [
            ("", 0),
            ("{", 1),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("01", 2),
            ("1.", 2),
            ("tru", 0),
            ("\"a", 2),
            ("\"\\x\"", 3),
            ("\"\\ud800\"", 7),
            ("{\"a\":1,\"a\":2}", 10),
            (
                r#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1,"c":1}"#,
                106,
            ),
            ("{} x", 3),
        ] {
            let error = parse(text, 100).unwrap_err();
            assert!(error.to_string().starts_with(&format!("byte {}:", 100 + at)), "{text}: {error}");
        }
        assert!(parse(&"[".repeat(100_000), 0).is_err());
    }
}
