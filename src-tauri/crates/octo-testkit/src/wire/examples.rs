//! Example values that together cover every variant.

use super::{Field, Presence, Shape, Wire};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Makes values of a type's shape. Each nested type is expanded once; later occurrences get its simplest value.
#[derive(Debug)]
pub struct WireExamples<'a> {
    wire: &'a Wire,
    known_types: BTreeSet<String>,
    count: u64,
    /// Texts for fields that do not accept arbitrary words, by field name.
    texts: &'a [(&'a str, &'a str)],
}

impl Wire {
    /// Returns values of the first root that together cover every variant, optional field and list. `texts` are
    /// for fields that do not accept every text.
    pub fn examples(&self, texts: &[(&str, &str)]) -> Vec<Value> {
        let (_, root) = self.roots.first().expect("a root");
        let mut examples = WireExamples { wire: self, known_types: BTreeSet::new(), count: 0, texts };
        examples.all(&Shape::Named(root.clone()), "")
    }
}

impl WireExamples<'_> {
    fn all(&mut self, shape: &Shape, field: &str) -> Vec<Value> {
        match shape {
            Shape::Named(name) => {
                let inner = self.wire.declaration_of(name);
                if *inner == Shape::Text {
                    return vec![self.id(field)];
                }
                if self.known_types.insert(name.clone()) {
                    self.all(inner, field)
                } else {
                    vec![self.plain(inner, field)]
                }
            }
            Shape::OneOf(parts) => parts.iter().flat_map(|part| self.all(part, field)).collect(),
            Shape::Both(parts) => {
                self.wire.merged(parts).iter().flat_map(|object| self.all(object, field)).collect()
            }
            Shape::Object(fields) => self.objects(fields),
            Shape::List(item) => {
                let values = self.all(item, field);
                vec![Value::Array(values), json!([])]
            }
            Shape::Map(key, item) => {
                let values = self.all(item, field);
                let keys = self.keys(key, values.len());
                vec![Value::Object(keys.into_iter().zip(values).collect())]
            }
            Shape::Tuple(items) => {
                vec![Value::Array(items.iter().map(|item| self.all(item, field).remove(0)).collect())]
            }
            Shape::Flag => vec![json!(true), json!(false)],
            _ => vec![self.plain(shape, field)],
        }
    }

    /// Returns as many objects as the field with the most values needs.
    fn objects(&mut self, fields: &[Field]) -> Vec<Value> {
        let columns: Vec<(&str, Vec<Option<Value>>)> = fields
            .iter()
            .map(|field| {
                let mut values: Vec<Option<Value>> =
                    self.all(&field.shape, &field.name).into_iter().map(Some).collect();
                if field.presence == Presence::Optional {
                    values.push(None);
                }
                (field.name.as_str(), values)
            })
            .collect();
        let rows = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
        (0..rows)
            .map(|row| {
                let fields = columns.iter().filter_map(|(name, values)| {
                    let value = values.get(row % values.len())?.clone()?;
                    Some(((*name).to_owned(), value))
                });
                Value::Object(fields.collect())
            })
            .collect()
    }

    fn plain(&mut self, shape: &Shape, field: &str) -> Value {
        match shape {
            Shape::Named(name) => match self.wire.declaration_of(name) {
                Shape::Text => self.id(field),
                inner => self.plain(inner, field),
            },
            Shape::OneOf(parts) if parts.contains(&Shape::Null) => Value::Null,
            Shape::OneOf(parts) => parts.first().map(|part| self.plain(part, field)).unwrap_or_default(),
            Shape::Both(parts) => {
                self.wire.merged(parts).first().map(|part| self.plain(part, field)).unwrap_or_default()
            }
            Shape::Object(fields) => {
                let mut object = Map::new();
                for field in fields.iter().filter(|field| field.presence == Presence::Always) {
                    object.insert(field.name.clone(), self.plain(&field.shape, &field.name));
                }
                Value::Object(object)
            }
            Shape::List(_) => json!([]),
            Shape::Map(..) => json!({}),
            Shape::Tuple(items) => Value::Array(items.iter().map(|item| self.plain(item, field)).collect()),
            Shape::Text => match self.supplied_text(field) {
                Some(text) => json!(text),
                None => json!(format!("{field} 中\"{}", self.next())),
            },
            Shape::Number => json!(self.next()),
            Shape::Flag => json!(true),
            Shape::Null => Value::Null,
            Shape::Anything => json!({ "any": [1, null, "text"] }),
            Shape::Literal(text) => json!(text),
        }
    }

    fn keys(&mut self, key: &Shape, count: usize) -> Vec<String> {
        let key = match key {
            Shape::Named(name) => self.wire.declaration_of(name),
            key => key,
        };
        match key {
            Shape::OneOf(parts) => parts.iter().take(count).map(|part| self.wire.label(part)).collect(),
            _ => (0..count).map(|_| format!("key{}", self.next())).collect(),
        }
    }

    fn supplied_text(&self, field: &str) -> Option<&str> {
        self.texts.iter().find(|(name, _)| *name == field).map(|(_, text)| *text)
    }

    fn id(&mut self, field: &str) -> Value {
        match self.supplied_text(field) {
            Some(text) => json!(text),
            None => json!(format!("01a2006a99bc75c38d7f{:012x}", self.next())),
        }
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
}
