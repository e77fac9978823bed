//! A list of all names in the JSON of a set of types, one per line.

use super::{Field, Presence, Shape, Wire};
use std::collections::BTreeMap;

impl Wire {
    /// Returns a line for each field, tag and word. A type that occurs several times is listed at its first
    /// occurrence; the others refer to that with `@`, so that its name in Rust does not matter.
    pub fn list(&self) -> Vec<String> {
        let mut list = List { wire: self, places: BTreeMap::new(), lines: Vec::new() };
        for (label, root) in &self.roots {
            match list.places.get(root.as_str()) {
                Some(place) => list.lines.push(format!("{label} = @{place}")),
                None => {
                    list.places.insert(root, label.clone());
                    list.add(self.named(root), label);
                }
            }
        }
        list.lines
    }
}

struct List<'a> {
    wire: &'a Wire,
    places: BTreeMap<&'a str, String>,
    lines: Vec<String>,
}

impl<'a> List<'a> {
    fn add(&mut self, shape: &'a Shape, at: &str) {
        match shape {
            Shape::Named(name) => {
                if !self.places.contains_key(name.as_str()) {
                    self.places.insert(name, at.to_owned());
                    self.add(self.wire.named(name), at);
                }
            }
            Shape::OneOf(parts) => {
                let literals: Vec<&str> = parts
                    .iter()
                    .filter_map(|part| match part {
                        Shape::Literal(text) => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                if !literals.is_empty() {
                    self.lines.push(format!("{at} = {}", literals.join(" | ")));
                }
                for part in parts {
                    match part {
                        Shape::Literal(_) => {}
                        other => self.add(other, at),
                    }
                }
            }
            Shape::Both(parts) => {
                let tag = parts.first().and_then(|part| match part {
                    Shape::Object(fields) => Some(fields.as_slice()),
                    _ => None,
                });
                let rest = if tag.is_some() { parts.get(1..) } else { Some(parts.as_slice()) };
                self.object(tag.unwrap_or_default(), rest.unwrap_or_default(), at);
            }
            Shape::Object(fields) => self.object(fields, &[], at),
            Shape::List(item) => self.add(item, &format!("{at}[]")),
            Shape::Map(key, item) => {
                self.add(key, &format!("{at}{{key}}"));
                self.add(item, &format!("{at}{{}}"));
            }
            Shape::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.add(item, &format!("{at}[{index}]"));
                }
            }
            Shape::Literal(text) => self.lines.push(format!("{at} = {text}")),
            Shape::Text | Shape::Number | Shape::Flag | Shape::Null | Shape::Anything => {}
        }
    }

    /// Lists the fields of an object and of the shapes joined with it.
    fn object(&mut self, fields: &'a [Field], joined: &'a [Shape], at: &str) {
        let tag = fields.iter().find_map(|field| match &field.shape {
            Shape::Literal(text) => Some((field.name.as_str(), text.as_str())),
            _ => None,
        });
        let at = match tag {
            Some((name, text)) => {
                self.lines.push(format!("{at} {name}={text}"));
                format!("{at}:{text}")
            }
            None => at.to_owned(),
        };
        let fields = fields.iter().filter(|field| tag.is_none_or(|(name, _)| name != field.name));
        for field in fields {
            let place = format!("{at}.{}", field.name);
            let mark = if field.presence == Presence::Optional { "?" } else { "" };
            let told = self.describe(&field.shape);
            self.lines.push(format!("{place}{mark}: {told}"));
            self.add(&field.shape, &place);
        }
        for shape in joined {
            if let Shape::Named(name) = shape
                && let Some(place) = self.places.get(name.as_str())
            {
                self.lines.push(format!("{at} & @{place}"));
            } else {
                self.add(shape, &at);
            }
        }
    }

    fn describe(&self, shape: &Shape) -> String {
        match shape {
            Shape::Named(name) => match self.wire.named(name) {
                leaf @ (Shape::Text | Shape::Number | Shape::Flag) => self.describe(leaf),
                _ => {
                    self.places.get(name.as_str()).map_or_else(|| "*".to_owned(), |place| format!("@{place}"))
                }
            },
            Shape::OneOf(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.describe(part)).collect();
                parts.join(" | ")
            }
            Shape::List(item) => format!("[{}]", self.describe(item)),
            Shape::Map(_, item) => format!("{{{}}}", self.describe(item)),
            Shape::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.describe(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Shape::Object(_) | Shape::Both(_) => "*".to_owned(),
            Shape::Text => "text".to_owned(),
            Shape::Number => "number".to_owned(),
            Shape::Flag => "flag".to_owned(),
            Shape::Null => "null".to_owned(),
            Shape::Anything => "anything".to_owned(),
            Shape::Literal(text) => text.clone(),
        }
    }
}
