//! A parser for the TypeScript declarations that `ts-rs` writes.

use super::{Field, Presence, Shape};
use std::{iter::Peekable, vec::IntoIter};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Quoted(String),
    Mark(char),
}

/// Returns the shape of `type Name = …;`.
pub(super) fn declaration(text: &str) -> Shape {
    let (_, shape) = text.split_once('=').unwrap_or_else(|| panic!("no declaration: {text}"));
    let mut parser = Parser { tokens: tokens(shape).into_iter().peekable() };
    let shape = parser.union();
    assert!(parser.takes(';') && parser.tokens.next().is_none(), "not understood to its end: {text}");
    shape
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut remaining = text;
    while let Some(character) = remaining.chars().next() {
        if remaining.starts_with("/*") {
            remaining =
                remaining.split_once("*/").unwrap_or_else(|| panic!("an open comment: {remaining}")).1;
        } else if character.is_whitespace() {
            remaining = remaining.trim_start();
        } else if let Some(quoted) = remaining.strip_prefix('"') {
            let (literal, after) =
                quoted.split_once('"').unwrap_or_else(|| panic!("an open quote: {remaining}"));
            found.push(Token::Quoted(literal.to_owned()));
            remaining = after;
        } else if character.is_alphanumeric() || character == '_' {
            let end = remaining.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(remaining.len());
            let (literal, after) = remaining.split_at(end);
            found.push(Token::Word(literal.to_owned()));
            remaining = after;
        } else {
            found.push(Token::Mark(character));
            remaining = remaining.get(character.len_utf8()..).unwrap_or_default();
        }
    }
    found
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
}

impl Parser {
    fn takes(&mut self, character: char) -> bool {
        self.tokens.next_if_eq(&Token::Mark(character)).is_some()
    }

    fn expect(&mut self, character: char) {
        assert!(self.takes(character), "{character} expected before {:?}", self.tokens.peek());
    }

    fn union(&mut self) -> Shape {
        self.takes('|');
        let mut parts = vec![self.intersection()];
        while self.takes('|') {
            parts.push(self.intersection());
        }
        if parts.len() == 1 { parts.remove(0) } else { Shape::OneOf(parts) }
    }

    fn intersection(&mut self) -> Shape {
        let mut parts = vec![self.primary()];
        while self.takes('&') {
            parts.push(self.primary());
        }
        if parts.len() == 1 { parts.remove(0) } else { Shape::Both(parts) }
    }

    fn primary(&mut self) -> Shape {
        match self.tokens.next() {
            Some(Token::Quoted(text)) => Shape::Literal(text),
            Some(Token::Mark('{')) => self.object(),
            Some(Token::Mark('(')) => {
                let inner = self.union();
                self.expect(')');
                inner
            }
            Some(Token::Mark('[')) => {
                let mut parts = Vec::new();
                while !self.takes(']') {
                    parts.push(self.union());
                    self.takes(',');
                }
                Shape::Tuple(parts)
            }
            Some(Token::Word(name)) => match name.as_str() {
                "string" => Shape::Text,
                "number" | "bigint" => Shape::Number,
                "boolean" => Shape::Flag,
                "null" => Shape::Null,
                "unknown" | "any" => Shape::Anything,
                "Array" => {
                    self.expect('<');
                    let inner = self.union();
                    self.expect('>');
                    Shape::List(Box::new(inner))
                }
                "Record" => {
                    self.expect('<');
                    let key = self.union();
                    self.expect(',');
                    let value = self.union();
                    self.expect('>');
                    match &value {
                        // `ts-rs` writes an object without fields this way.
                        Shape::Named(never) if never == "never" => Shape::Object(Vec::new()),
                        _ => Shape::Map(Box::new(key), Box::new(value)),
                    }
                }
                _ => Shape::Named(name),
            },
            other => panic!("a type expected, found {other:?}"),
        }
    }

    fn object(&mut self) -> Shape {
        let mut fields = Vec::new();
        while !self.takes('}') {
            if self.takes('[') {
                return self.map();
            }
            let name = match self.tokens.next() {
                Some(Token::Word(name) | Token::Quoted(name)) => name,
                other => panic!("a field expected, found {other:?}"),
            };
            let presence = if self.takes('?') { Presence::Optional } else { Presence::Always };
            self.expect(':');
            fields.push(Field { name, presence, shape: self.union() });
            self.takes(',');
        }
        Shape::Object(fields)
    }

    /// Parses `key in K]?: V }`.
    fn map(&mut self) -> Shape {
        self.tokens.next();
        assert_eq!(self.tokens.next(), Some(Token::Word("in".to_owned())));
        let key = self.union();
        self.expect(']');
        self.takes('?');
        self.expect(':');
        let value = self.union();
        self.takes(',');
        self.expect('}');
        Shape::Map(Box::new(key), Box::new(value))
    }
}
