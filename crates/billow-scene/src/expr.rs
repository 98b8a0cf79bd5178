//! Formulas of the time: `0.5*sin(2*pi*t)`.
//!
//! A small safe language: numbers, `t` [s], constants, named parameters, `+ - * / % ^`, comparisons (1 or 0),
//! parentheses and functions. Formulas are compiled to a stack program whose depth is known, so that evaluating one
//! neither allocates nor fails; errors carry the bytes of the text they concern.

use crate::read::log::nearest;
use std::ops::Range;

/// Deepest stack a formula may need.
const DEEPEST: usize = 64;
/// Longest formula [bytes].
const LONGEST: usize = 4096;

/// A compiled formula of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    ops: Vec<Op>,
}

/// What is wrong with a formula, and which bytes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError {
    /// The bytes concerned.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Number(f64),
    Time,
    Negate,
    Binary(Binary),
    Call(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
}

/// A function of the language: name, number of arguments, meaning.
struct Function(&'static str, usize, fn(&[f64]) -> f64);

/// Every function of the language.
const FUNCTIONS: &[Function] = &[
    Function("sin", 1, |a| a[0].sin()),
    Function("cos", 1, |a| a[0].cos()),
    Function("tan", 1, |a| a[0].tan()),
    Function("asin", 1, |a| a[0].asin()),
    Function("acos", 1, |a| a[0].acos()),
    Function("atan", 1, |a| a[0].atan()),
    Function("atan2", 2, |a| a[0].atan2(a[1])),
    Function("sinh", 1, |a| a[0].sinh()),
    Function("cosh", 1, |a| a[0].cosh()),
    Function("tanh", 1, |a| a[0].tanh()),
    Function("exp", 1, |a| a[0].exp()),
    Function("ln", 1, |a| a[0].ln()),
    Function("log2", 1, |a| a[0].log2()),
    Function("log10", 1, |a| a[0].log10()),
    Function("sqrt", 1, |a| a[0].sqrt()),
    Function("cbrt", 1, |a| a[0].cbrt()),
    Function("abs", 1, |a| a[0].abs()),
    Function("sign", 1, |a| if a[0] == 0.0 { 0.0 } else { a[0].signum() }),
    Function("floor", 1, |a| a[0].floor()),
    Function("ceil", 1, |a| a[0].ceil()),
    Function("round", 1, |a| a[0].round()),
    Function("fract", 1, |a| a[0] - a[0].floor()),
    Function("mod", 2, |a| a[0] - a[1] * (a[0] / a[1]).floor()),
    Function("min", 2, |a| a[0].min(a[1])),
    Function("max", 2, |a| a[0].max(a[1])),
    Function("clamp", 3, |a| a[0].max(a[1]).min(a[2])),
    Function("lerp", 3, |a| a[0] + (a[1] - a[0]) * a[2]),
    Function("step", 2, |a| if a[1] < a[0] { 0.0 } else { 1.0 }),
    Function("smoothstep", 3, |a| {
        let x = ((a[2] - a[0]) / (a[1] - a[0])).clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    }),
    Function("if", 3, |a| if a[0] != 0.0 { a[1] } else { a[2] }),
];

/// Every constant of the language.
const CONSTANTS: &[(&str, f64)] =
    &[("pi", std::f64::consts::PI), ("tau", std::f64::consts::TAU), ("e", std::f64::consts::E)];

impl Expr {
    /// A formula that is just a number.
    pub fn constant(x: f64) -> Self {
        Self { ops: vec![Op::Number(x)] }
    }

    /// Compiles `text`; `parameters` are names it may use besides its own.
    pub fn parse(text: &str, parameters: &[(String, f64)]) -> Result<Self, ExprError> {
        if text.len() > LONGEST {
            let message = format!("the formula has {} bytes, more than the {LONGEST} allowed", text.len());
            return Err(ExprError { span: 0..0, message, help: None });
        }
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens, at: 0, parameters, ops: Vec::new(), nesting: 0, end: text.len() };
        parser.comparison()?;
        if let Some((token, span)) = parser.tokens.get(parser.at) {
            return Err(error(span.clone(), format!("`{}` does not belong here", token.text())));
        }
        let expr = Self { ops: parser.ops };
        if expr.depth() > DEEPEST {
            return Err(error(0..text.len(), format!("the formula nests deeper than {DEEPEST} levels")));
        }
        Ok(expr)
    }

    /// The value at time `t` [s]. May be NaN or infinite: `1/t` at 0.
    pub fn eval(&self, t: f64) -> f64 {
        let mut stack = [0.0; DEEPEST];
        let mut top = 0;
        for op in &self.ops {
            let used = op.arity();
            top -= used;
            stack[top] = op.apply(&stack[top..top + used], t);
            top += 1;
        }
        stack[0]
    }

    /// Whether the value never changes.
    pub fn is_constant(&self) -> bool {
        !self.ops.contains(&Op::Time)
    }

    /// Largest stack the program needs.
    fn depth(&self) -> usize {
        let (mut now, mut most) = (0_usize, 0);
        for op in &self.ops {
            now = now + 1 - op.arity();
            most = most.max(now);
        }
        most
    }
}

impl Op {
    fn arity(self) -> usize {
        match self {
            Self::Number(_) | Self::Time => 0,
            Self::Negate => 1,
            Self::Binary(_) => 2,
            Self::Call(f) => FUNCTIONS[f].1,
        }
    }

    fn apply(self, a: &[f64], t: f64) -> f64 {
        match self {
            Self::Number(x) => x,
            Self::Time => t,
            Self::Negate => -a[0],
            Self::Binary(op) => op.apply(a[0], a[1]),
            Self::Call(f) => (FUNCTIONS[f].2)(a),
        }
    }
}

impl Binary {
    fn apply(self, a: f64, b: f64) -> f64 {
        let truth = |b: bool| if b { 1.0 } else { 0.0 };
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Remainder => a % b,
            Self::Power => a.powf(b),
            Self::Less => truth(a < b),
            Self::Greater => truth(a > b),
            Self::LessEqual => truth(a <= b),
            Self::GreaterEqual => truth(a >= b),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64, String),
    Word(String),
    Sign(&'static str),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Self::Number(_, text) | Self::Word(text) => text,
            Self::Sign(sign) => sign,
        }
    }
}

const SIGNS: &[&str] = &["<=", ">=", "<", ">", "+", "-", "*", "/", "%", "^", "(", ")", ","];

fn error(span: Range<usize>, message: impl Into<String>) -> ExprError {
    ExprError { span, message: message.into(), help: None }
}

/// Cuts the text into numbers, words and signs.
fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, ExprError> {
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_digit() || c == '.' {
            number(rest, at)?
        } else if c.is_alphabetic() || c == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Word(rest[..length].to_owned()), length)
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            (Token::Sign(sign), sign.len())
        } else {
            return Err(error(
                at..at + c.len_utf8(),
                format!("`{}` means nothing in a formula", c.escape_debug()),
            ));
        };
        list.push((token, at..at + length));
        at += length;
    }
    Ok(list)
}

/// Reads a number such as `2`, `.5` or `1e-3`.
fn number(rest: &str, at: usize) -> Result<(Token, usize), ExprError> {
    let digits = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
    let mut length = digits(rest);
    if rest[length..].starts_with('.') {
        length += 1 + digits(&rest[length + 1..]);
    }
    if let Some(exponent) = rest[length..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let power = digits(&exponent[sign..]);
        length += if power > 0 { 1 + sign + power } else { 0 };
    }
    match rest[..length].parse::<f64>() {
        Ok(x) if x.is_finite() => Ok((Token::Number(x, rest[..length].to_owned()), length)),
        _ => Err(error(at..at + length, format!("`{}` is not a number", &rest[..length]))),
    }
}

/// Recursive descent: comparison < sum < product < sign < power < atom.
struct Parser<'a> {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    parameters: &'a [(String, f64)],
    ops: Vec<Op>,
    nesting: usize,
    end: usize,
}

impl Parser<'_> {
    fn comparison(&mut self) -> Result<(), ExprError> {
        self.nesting += 1;
        if self.nesting > DEEPEST {
            return Err(error(self.here(), format!("the formula nests deeper than {DEEPEST} levels")));
        }
        self.sum()?;
        while let Some(sign) = self.take(&["<=", ">=", "<", ">"]) {
            self.sum()?;
            self.ops.push(Op::Binary(match sign {
                "<=" => Binary::LessEqual,
                ">=" => Binary::GreaterEqual,
                "<" => Binary::Less,
                _ => Binary::Greater,
            }));
        }
        self.nesting -= 1;
        Ok(())
    }

    fn sum(&mut self) -> Result<(), ExprError> {
        self.product()?;
        while let Some(sign) = self.take(&["+", "-"]) {
            self.product()?;
            self.ops.push(Op::Binary(if sign == "+" { Binary::Add } else { Binary::Subtract }));
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), ExprError> {
        self.signed()?;
        while let Some(sign) = self.take(&["*", "/", "%"]) {
            self.signed()?;
            self.ops.push(Op::Binary(match sign {
                "*" => Binary::Multiply,
                "/" => Binary::Divide,
                _ => Binary::Remainder,
            }));
        }
        Ok(())
    }

    /// `-x^2` is `-(x^2)`, as in mathematics.
    fn signed(&mut self) -> Result<(), ExprError> {
        let mut negative = false;
        while let Some(sign) = self.take(&["+", "-"]) {
            negative ^= sign == "-";
        }
        self.power()?;
        if negative {
            self.ops.push(Op::Negate);
        }
        Ok(())
    }

    fn power(&mut self) -> Result<(), ExprError> {
        self.atom()?;
        if self.take(&["^"]).is_some() {
            self.nesting += 1;
            if self.nesting > DEEPEST {
                return Err(error(self.here(), format!("the formula nests deeper than {DEEPEST} levels")));
            }
            self.signed()?;
            self.nesting -= 1;
            self.ops.push(Op::Binary(Binary::Power));
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), ExprError> {
        let span = self.here();
        match self.tokens.get(self.at).map(|t| t.0.clone()) {
            Some(Token::Number(x, _)) => {
                self.at += 1;
                self.ops.push(Op::Number(x));
                Ok(())
            }
            Some(Token::Word(word)) => {
                self.at += 1;
                if self.take(&["("]).is_some() { self.call(&word, span) } else { self.name(&word, span) }
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                self.comparison()?;
                self.expect(")")
            }
            Some(token) => Err(error(span, format!("expected a value, found `{}`", token.text()))),
            None => Err(error(span, "the formula ends where a value should stand")),
        }
    }

    fn name(&mut self, word: &str, span: Range<usize>) -> Result<(), ExprError> {
        let value = CONSTANTS.iter().find(|c| c.0 == word).map(|c| c.1);
        let value = value.or_else(|| self.parameters.iter().find(|p| p.0 == word).map(|p| p.1));
        if let Some(op) = value.map(Op::Number).or((word == "t").then_some(Op::Time)) {
            self.ops.push(op);
            return Ok(());
        }
        let mut wrong = error(span, format!("`{word}` is unknown"));
        let known =
            || CONSTANTS.iter().map(|c| c.0).chain(self.parameters.iter().map(|p| p.0.as_str())).chain(["t"]);
        wrong.help = Some(if FUNCTIONS.iter().any(|f| f.0 == word) {
            format!("`{word}` is a function: write `{word}(…)`")
        } else if let Some(guess) = nearest(word, known()) {
            format!("did you mean `{guess}`?")
        } else {
            format!(
                "known names are {}; others can be declared under [parameter]",
                known().collect::<Vec<_>>().join(", ")
            )
        });
        Err(wrong)
    }

    fn call(&mut self, word: &str, span: Range<usize>) -> Result<(), ExprError> {
        let Some(f) = FUNCTIONS.iter().position(|f| f.0 == word) else {
            let mut wrong = error(span, format!("there is no function `{word}`"));
            wrong.help = Some(match nearest(word, FUNCTIONS.iter().map(|f| f.0)) {
                Some(guess) => format!("did you mean `{guess}`?"),
                None => {
                    format!("functions are {}", FUNCTIONS.iter().map(|f| f.0).collect::<Vec<_>>().join(", "))
                }
            });
            return Err(wrong);
        };
        let mut count = 0;
        if self.take(&[")"]).is_none() {
            loop {
                self.comparison()?;
                count += 1;
                if self.take(&[","]).is_none() {
                    break;
                }
            }
            self.expect(")")?;
        }
        let wanted = FUNCTIONS[f].1;
        if count != wanted {
            let s = if wanted == 1 { "" } else { "s" };
            return Err(error(span, format!("`{word}` takes {wanted} value{s}, found {count}")));
        }
        self.ops.push(Op::Call(f));
        Ok(())
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), ExprError> {
        match self.take(&[sign]) {
            Some(_) => Ok(()),
            None => Err(error(self.here(), format!("`{sign}` is missing here"))),
        }
    }

    fn take(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        match self.tokens.get(self.at) {
            Some((Token::Sign(sign), _)) if signs.contains(sign) => {
                self.at += 1;
                Some(sign)
            }
            _ => None,
        }
    }

    /// Place of the next token, or the end of the text.
    fn here(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |t| t.1.clone())
    }
}

/// The section of the manual about formulas.
pub(crate) fn reference() -> String {
    let (functions, constants) = vocabulary();
    let shown = |(name, count): &(&str, usize)| format!("`{name}({})`", ["x", "y", "z"][..*count].join(", "));
    format!(
        "### Formulas\n\nNames: `t`, {}, and those under `[parameter]`. Operators: `+ - * / % ^ < > <= >=`. \
         Functions: {}.\n",
        constants.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", "),
        functions.iter().map(shown).collect::<Vec<_>>().join(", ")
    )
}

/// Names of all functions with their number of arguments, and of all constants.
pub(crate) fn vocabulary() -> (Vec<(&'static str, usize)>, Vec<&'static str>) {
    (FUNCTIONS.iter().map(|f| (f.0, f.1)).collect(), CONSTANTS.iter().map(|c| c.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, t: f64) -> f64 {
        Expr::parse(text, &[("speed".into(), 3.0)]).expect(text).eval(t)
    }

    #[test]
    fn formulas_follow_the_usual_rules() {
        for (text, t, expected) in [
            ("1 + 2*3", 0.0, 7.0),
            ("-2^2", 0.0, -4.0),
            ("2^-1", 0.0, 0.5),
            ("2^3^2", 0.0, 512.0),
            ("7 - 2 - 1", 0.0, 4.0),
            ("8/4/2", 0.0, 1.0),
            ("0.5*sin(2*pi*t)", 0.25, 0.5),
            ("if(t < 1, 10, 20)", 2.0, 20.0),
            ("mod(-1, 3)", 0.0, 2.0),
            ("speed*t", 2.0, 6.0),
            ("clamp(t, 0, 1)", 9.0, 1.0),
            ("smoothstep(0, 2, t)", 1.0, 0.5),
            ("1e-3*1E3 + .5", 0.0, 1.5),
            ("--+t", 4.0, 4.0),
            ("2e", 0.0, f64::NAN),
        ] {
            match expected.is_nan() {
                true => assert!(Expr::parse(text, &[]).is_err(), "{text}"),
                false => assert_eq!(value(text, t), expected, "{text}"),
            }
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        for (text, span, message) in [
            ("sin(2*pi*t", 10..10, "`)` is missing here"),
            ("2 * speeed", 4..10, "`speeed` is unknown"),
            ("sine(t)", 0..4, "there is no function `sine`"),
            ("atan2(t)", 0..5, "`atan2` takes 2 values, found 1"),
            ("2 +", 3..3, "the formula ends where a value should stand"),
            ("", 0..0, "the formula ends where a value should stand"),
            ("1 2", 2..3, "`2` does not belong here"),
            ("t; t", 1..2, "`;` means nothing in a formula"),
            ("*2", 0..1, "expected a value, found `*`"),
            ("1e999", 0..5, "`1e999` is not a number"),
        ] {
            let found = Expr::parse(text, &[("speed".into(), 3.0)]).expect_err(text);
            assert_eq!((found.span, found.message.as_str()), (span, message), "{text}");
        }
        let deep = "(".repeat(2000);
        assert!(Expr::parse(&deep, &[]).expect_err("deep").message.contains("nests deeper"));
        let tower = "2^".repeat(1000) + "2";
        assert!(Expr::parse(&tower, &[]).expect_err("deep").message.contains("nests deeper"));
        let right = "1+(".repeat(60) + "1" + &")".repeat(60);
        assert_eq!(value(&right, 0.0), 61.0);
    }
}
