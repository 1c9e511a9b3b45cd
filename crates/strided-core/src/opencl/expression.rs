//! Bodies of the op table as expressions of OpenCL C.
//!
//! A body is a short Rust expression over numbers: `{ a.add(alpha.mul(b)) }`. A method becomes a function of the source text, under
//! its name with a prefix: `op_add(a, op_mul(alpha, b))`. A function of `kernels::maths` does, too: `[Exp]` is `fn_Exp(a)`. So a new
//! row of the table needs nothing here, unless it uses a method or function that `source/` does not have.

use crate::op_table;
use crate::op_table::{Op, split};

/// The operands, keywords and bodies of a row, as text.
struct Row {
    name: &'static str,
    operands: &'static [&'static str],
    keywords: &'static [&'static str],
    first: &'static str,
    second: &'static str,
}

macro_rules! row {
    (($name:ident $first:tt [$($second:tt)?]) ($($a:ident)+) [$(($k:ident $default:tt $positional:ident))*]) => {
        Row {
            name: stringify!($name),
            operands: &[$(stringify!($a)),+],
            keywords: &[$(stringify!($k)),*],
            first: stringify!($first),
            second: concat!("", $(stringify!($second))?),
        }
    };
}

macro_rules! rows {
    ($({
        $name:ident $aliases:tt $args:tt $selector:tt $doc:tt $class:ident $rule:ident $body:tt $second:tt
        $operator:tt $refused:tt $by:tt $without:tt $integers:tt
    })*) => {
        /// In the order of [`Op`].
        const ROWS: &[Row] = &[$(split!(row (($name $body $second)) $args)),*];
    };
}
op_table!(rows);

/// The name of an operation.
pub fn name(op: Op) -> &'static str {
    let name = ROWS[op as usize].name;
    name.strip_prefix("r#").unwrap_or(name)
}

/// Rows whose bodies are kernels of the CPU, with an expression over their operands and keywords.
const KERNEL_ROWS: &[(&str, &str)] = &[
    ("where", "(v0 ? v1 : v2)"),
    ("isclose", "op_isclose(v0, v1, v2, v3, 0)"),
    ("isclose_nan", "op_isclose(v0, v1, v2, v3, 1)"),
    ("round", "op_round_decimals(v0, v1)"),
];

/// The expression of a body over the inputs `v0`, `v1` …: the operands, then the keywords if `with_keywords` asks for the body that
/// takes them. `None` if the row has none.
pub fn expression(op: Op, with_keywords: bool) -> Option<String> {
    let row = &ROWS[op as usize];
    let body = if with_keywords { row.second } else { row.first };
    let mut inputs = row.operands.to_vec();
    if with_keywords {
        inputs.extend(row.keywords);
    }
    if body.starts_with("[kernels") {
        if let Some((_, text)) = KERNEL_ROWS.iter().find(|(name, _)| *name == self::name(op)) {
            return Some((*text).into());
        }
        // `[kernels |dtype| kernels(Op::maximum, …)]`: the body of another row, over the operands of this one.
        let spaceless: String = body.split_whitespace().collect();
        let other = spaceless.split_once("Op::")?.1;
        let other = &other[..other.find(|c: char| !c.is_alphanumeric() && c != '_')?];
        let position = ROWS.iter().position(|row| row.name == other)?;
        return translate(ROWS[position].first, ROWS[position].operands);
    }
    translate(body, &inputs)
}

/// What each name of a body stands for.
type Names = Vec<(String, String)>;

/// Translates a body: `{ expression }`, `[Exp]`, `[Exp(before) y => after]` or `[scalar expression]`.
fn translate(body: &str, inputs: &[&str]) -> Option<String> {
    let names: Names =
        inputs.iter().enumerate().map(|(k, name)| (name.to_string(), format!("v{k}"))).collect();
    let mut parser = Parser { tokens: tokens(body), at: 0, names: names.clone() };
    if parser.accept("{") {
        return parser.block();
    }
    parser.expect("[")?;
    if parser.accept("scalar") {
        return parser.value();
    }
    let function = parser.word()?;
    if parser.accept("(") {
        let before = parser.value()?;
        parser.expect(")")?;
        let result = parser.word()?;
        parser.expect("=")?;
        parser.expect(">")?;
        parser.names.push((result, format!("fn_{function}({before})")));
        return parser.value();
    }
    let arguments: Vec<&str> = names.iter().map(|(_, text)| &text[..]).collect();
    Some(format!("fn_{function}({})", arguments.join(", ")))
}

/// Words, numbers and single characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let is_word = c.is_alphanumeric() || c == '_';
        // A point inside a number.
        let is_number = |token: &String| token.starts_with(|first: char| first.is_ascii_digit());
        match tokens.last_mut() {
            Some(token) if in_word && (is_word || c == '.' && is_number(token)) => token.push(c),
            _ if c.is_whitespace() => {}
            _ => tokens.push(c.to_string()),
        }
        in_word = is_word || c == '.' && in_word && tokens.last().is_some_and(is_number);
    }
    tokens
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
    names: Names,
}

impl Parser {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += found as usize;
        found
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.accept(token).then_some(())
    }

    fn word(&mut self) -> Option<String> {
        let word = self.tokens.get(self.at)?.clone();
        self.at += 1;
        word.starts_with(|c: char| c.is_alphanumeric() || c == '_').then_some(word)
    }

    /// What follows `{`: declarations and a value, up to `}`.
    fn block(&mut self) -> Option<String> {
        let depth = self.names.len();
        while self.accept("let") {
            let name = self.word()?;
            self.expect("=")?;
            let value = self.value()?;
            self.expect(";")?;
            self.names.push((name, value));
        }
        let value = self.value()?;
        self.names.truncate(depth);
        self.expect("}")?;
        Some(value)
    }

    /// Operands between `|`, `^` and `&`, which only connect truth values here.
    fn value(&mut self) -> Option<String> {
        let mut left = self.comparison()?;
        while let operator @ ("|" | "^" | "&") = self.peek() {
            let operator = operator.to_string();
            self.at += 1;
            left = format!("({left} {operator} {})", self.comparison()?);
        }
        Some(left)
    }

    fn comparison(&mut self) -> Option<String> {
        let left = self.factor()?;
        let next = self.tokens.get(self.at + 1).map_or("", String::as_str);
        let (function, length) = match (self.peek(), next) {
            ("=", "=") => ("op_eq", 2),
            ("!", "=") => ("op_ne", 2),
            ("<", "=") => ("op_le", 2),
            (">", "=") => ("op_ge", 2),
            ("<", _) => ("op_lt", 1),
            (">", _) => ("op_gt", 1),
            _ => return Some(left),
        };
        self.at += length;
        Some(format!("{function}({left}, {})", self.factor()?))
    }

    fn factor(&mut self) -> Option<String> {
        if self.accept("!") {
            return Some(format!("!({})", self.factor()?));
        }
        if self.accept("if") {
            let condition = self.value()?;
            self.expect("{")?;
            let then = self.block()?;
            self.expect("else")?;
            let otherwise = if self.peek() == "if" {
                self.factor()?
            } else {
                self.expect("{")?;
                self.block()?
            };
            return Some(format!("({condition} ? {then} : {otherwise})"));
        }
        let mut value = self.primary()?;
        while self.accept(".") {
            let method = self.word()?;
            self.expect("(")?;
            let arguments = self.arguments()?;
            value = format!("op_{method}({})", [vec![value], arguments].concat().join(", "));
        }
        Some(value)
    }

    /// Values up to `)`.
    fn arguments(&mut self) -> Option<Vec<String>> {
        let mut arguments = Vec::new();
        while !self.accept(")") {
            arguments.push(self.value()?);
            self.accept(",");
        }
        Some(arguments)
    }

    fn primary(&mut self) -> Option<String> {
        if self.accept("(") {
            let value = self.value()?;
            self.expect(")")?;
            return Some(value);
        }
        let word = self.word()?;
        match &word[..] {
            "T" => {
                self.expect(":")?;
                self.expect(":")?;
                let constant = self.word()?;
                match &constant[..] {
                    "of" => {
                        self.expect("(")?;
                        Some(format!("CONSTANT({})", self.constant()?))
                    }
                    _ => Some(constant), // ZERO and ONE
                }
            }
            "Bool" => {
                for token in [":", ":", "new", "("] {
                    self.expect(token)?;
                }
                let value = self.value()?;
                self.expect(")")?;
                Some(format!("({value})"))
            }
            _ => self.names.iter().rev().find(|(name, _)| *name == word).map(|(_, text)| text.clone()),
        }
    }

    /// Numbers with `*` and `/` between them, up to `)`.
    fn constant(&mut self) -> Option<String> {
        let (mut value, mut divides) = (1.0, false);
        loop {
            let mut word = self.word()?;
            while self.accept(":") {
                self.expect(":")?;
                word = self.word()?;
            }
            let number: f64 = if word == "PI" { std::f64::consts::PI } else { word.parse().ok()? };
            value = if divides { value / number } else { value * number };
            if self.accept(")") {
                return Some(format!("{value:?}"));
            }
            divides = self.peek() == "/";
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(op: Op) -> String {
        expression(op, false).unwrap()
    }

    #[test]
    fn bodies_are_translated() {
        assert_eq!(text(Op::add), "op_add(v0, v1)");
        assert_eq!(expression(Op::add, true).unwrap(), "op_add(v0, op_mul(v2, v1))");
        assert_eq!(text(Op::eq), "(op_eq(v0, v1))");
        assert_eq!(text(Op::isneginf), "((op_is_infinite(v0) & op_is_negative(v0)))");
        assert_eq!(text(Op::logical_not), "(!(op_is_nonzero(v0)))");
        assert_eq!(text(Op::exp), "fn_Exp(v0)");
        assert_eq!(text(Op::gcd), "op_gcd(v0, v1)");
        assert_eq!(text(Op::deg2rad), "op_mul(v0, CONSTANT(0.017453292519943295))");
        assert_eq!(text(Op::clamp_min), "op_maximum(v0, v1)");
        assert_eq!(text(Op::r#where), "(v0 ? v1 : v2)");
        assert_eq!(expression(Op::isclose, false), None);
        let softplus = "(op_gt(op_mul(v0, v1), v2) ? v0 : op_div(fn_Softplus(op_mul(v0, v1)), v1))";
        assert_eq!(expression(Op::softplus, true).unwrap(), softplus);
        let heaviside = "(op_ne(v0, v0) ? v0 : (op_eq(v0, ZERO) ? v1 : (op_gt(v0, ZERO) ? ONE : ZERO)))";
        assert_eq!(text(Op::heaviside), heaviside);
    }

    macro_rules! ops {
        ($({ $name:ident $($rest:tt)* })*) => {
            const OPS: &[Op] = &[$(Op::$name),*];
        };
    }
    op_table!(ops);

    #[test]
    fn every_row_has_an_expression() {
        let has_one = |&op: &Op| expression(op, false).or_else(|| expression(op, true)).is_some();
        let without: Vec<&str> = OPS.iter().filter(|op| !has_one(op)).map(|&op| name(op)).collect();
        assert_eq!(without, [""; 0]);
    }
}
