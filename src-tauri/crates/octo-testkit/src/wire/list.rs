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
                Some(number) => list.lines.push(format!("{label} = @{number}")),
                None => {
                    list.places.insert(root, label.clone());
                    list.add(self.declaration_of(root), label);
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
    fn add(&mut self, shape: &'a Shape, path: &str) {
        match shape {
            Shape::Named(name) => {
                if !self.places.contains_key(name.as_str()) {
                    self.places.insert(name, path.to_owned());
                    self.add(self.wire.declaration_of(name), path);
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
                    self.lines.push(format!("{path} = {}", literals.join(" | ")));
                }
                for part in parts {
                    match part {
                        Shape::Literal(_) => {}
                        other => self.add(other, path),
                    }
                }
            }
            Shape::Both(parts) => {
                let tag = parts.first().and_then(|part| match part {
                    Shape::Object(fields) => Some(fields.as_slice()),
                    _ => None,
                });
                let alternatives = if tag.is_some() { parts.get(1..) } else { Some(parts.as_slice()) };
                self.object(tag.unwrap_or_default(), alternatives.unwrap_or_default(), path);
            }
            Shape::Object(fields) => self.object(fields, &[], path),
            Shape::List(item) => self.add(item, &format!("{path}[]")),
            Shape::Map(key, item) => {
                self.add(key, &format!("{path}{{key}}"));
                self.add(item, &format!("{path}{{}}"));
            }
            Shape::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.add(item, &format!("{path}[{index}]"));
                }
            }
            Shape::Literal(text) => self.lines.push(format!("{path} = {text}")),
            Shape::Text | Shape::Number | Shape::Flag | Shape::Null | Shape::Anything => {}
        }
    }

    /// Lists the fields of an object and of the shapes joined with it.
    fn object(&mut self, fields: &'a [Field], joined: &'a [Shape], path: &str) {
        let tag = fields.iter().find_map(|field| match &field.shape {
            Shape::Literal(text) => Some((field.name.as_str(), text.as_str())),
            _ => None,
        });
        let path = match tag {
            Some((name, text)) => {
                self.lines.push(format!("{path} {name}={text}"));
                format!("{path}:{text}")
            }
            None => path.to_owned(),
        };
        let fields = fields.iter().filter(|field| tag.is_none_or(|(name, _)| name != field.name));
        for field in fields {
            let field_path = format!("{path}.{}", field.name);
            let suffix = if field.presence == Presence::Optional { "?" } else { "" };
            let description = self.describe(&field.shape);
            self.lines.push(format!("{field_path}{suffix}: {description}"));
            self.add(&field.shape, &field_path);
        }
        for shape in joined {
            if let Shape::Named(name) = shape
                && let Some(field_path) = self.places.get(name.as_str())
            {
                self.lines.push(format!("{path} & @{field_path}"));
            } else {
                self.add(shape, &path);
            }
        }
    }

    fn describe(&self, shape: &Shape) -> String {
        match shape {
            Shape::Named(name) => match self.wire.declaration_of(name) {
                leaf @ (Shape::Text | Shape::Number | Shape::Flag) => self.describe(leaf),
                _ => self
                    .places
                    .get(name.as_str())
                    .map_or_else(|| "*".to_owned(), |number| format!("@{number}")),
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
