//! Reports which variants a set of values covers and which it lacks.

use super::{Field, Presence, Shape, Wire};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

impl Wire {
    /// Returns the variants, optional fields and list items that no value of the first root covers. Each is a
    /// path from a type; the type names serve only to find it.
    ///
    /// # Panics
    /// If a value does not match the type.
    pub fn missing<'a>(&self, values: impl IntoIterator<Item = &'a Value>) -> Vec<String> {
        let (_, root) = self.roots.first().expect("a root");
        let shape = Shape::Named(root.clone());
        let mut expected = BTreeSet::new();
        self.expect(&shape, root, &mut BTreeSet::new(), &mut expected);
        for value in values {
            let mut marks = Vec::new();
            assert!(self.fits(&shape, value, root, &mut marks), "no value of {root}: {value}");
            for mark in marks {
                expected.remove(&mark);
            }
        }
        expected.into_iter().collect()
    }

    fn expect(&self, shape: &Shape, at: &str, known: &mut BTreeSet<String>, expected: &mut BTreeSet<String>) {
        match shape {
            Shape::Named(name) => {
                if known.insert(name.clone()) {
                    self.expect(self.named(name), name, known, expected);
                }
            }
            Shape::OneOf(parts) => {
                for part in parts {
                    let at = self.alternative(part, at);
                    expected.insert(at.clone());
                    self.expect(part, &at, known, expected);
                }
            }
            Shape::Both(parts) => {
                for object in self.merged(parts) {
                    let at = self.alternative(&object, at);
                    expected.insert(at.clone());
                    self.expect(&object, &at, known, expected);
                }
            }
            Shape::Object(fields) => {
                for field in fields {
                    let at = format!("{at}.{}", field.name);
                    if field.presence == Presence::Optional {
                        expected.insert(format!("{at} left out"));
                        expected.insert(format!("{at} given"));
                    }
                    self.expect(&field.shape, &at, known, expected);
                }
            }
            Shape::List(item) | Shape::Map(_, item) => {
                let at = format!("{at}[]");
                expected.insert(at.clone());
                self.expect(item, &at, known, expected);
            }
            Shape::Tuple(items) => items.iter().for_each(|item| self.expect(item, at, known, expected)),
            Shape::Flag => {
                expected.extend(["true", "false"].map(|flag| format!("{at} {flag}")));
            }
            Shape::Text | Shape::Number | Shape::Null | Shape::Anything | Shape::Literal(_) => {}
        }
    }

    fn alternative(&self, shape: &Shape, at: &str) -> String {
        format!("{at}:{}", self.label(shape))
    }

    /// Whether a value has a shape; adds the expected parts that the value covers to `marks`.
    fn fits(&self, shape: &Shape, value: &Value, at: &str, marks: &mut Vec<String>) -> bool {
        match (shape, value) {
            (Shape::Named(name), _) => self.fits(self.named(name), value, name, marks),
            (Shape::OneOf(parts), _) => self.fits_one(parts, value, at, marks),
            (Shape::Both(parts), _) => self.fits_one(&self.merged(parts), value, at, marks),
            (Shape::Object(fields), Value::Object(object)) => self.fits_object(fields, object, at, marks),
            (Shape::List(item), Value::Array(items)) => {
                self.fits_items(item, items.iter(), &format!("{at}[]"), marks)
            }
            (Shape::Map(_, item), Value::Object(items)) => {
                self.fits_items(item, items.values(), &format!("{at}[]"), marks)
            }
            (Shape::Tuple(shapes), Value::Array(items)) => {
                shapes.len() == items.len()
                    && shapes.iter().zip(items).all(|(shape, item)| self.fits(shape, item, at, marks))
            }
            (Shape::Literal(text), Value::String(value)) => text == value,
            (Shape::Flag, Value::Bool(flag)) => {
                marks.push(format!("{at} {flag}"));
                true
            }
            (Shape::Text, Value::String(_))
            | (Shape::Number, Value::Number(_))
            | (Shape::Null, Value::Null)
            | (Shape::Anything, _) => true,
            _ => false,
        }
    }

    fn fits_one(&self, parts: &[Shape], value: &Value, at: &str, marks: &mut Vec<String>) -> bool {
        parts.iter().any(|part| {
            let at = self.alternative(part, at);
            let mut own = vec![at.clone()];
            let fits = self.fits(part, value, &at, &mut own);
            if fits {
                marks.append(&mut own);
            }
            fits
        })
    }

    fn fits_object(
        &self,
        fields: &[Field],
        object: &Map<String, Value>,
        at: &str,
        marks: &mut Vec<String>,
    ) -> bool {
        object.keys().all(|key| fields.iter().any(|field| field.name == *key))
            && fields.iter().all(|field| {
                let at = format!("{at}.{}", field.name);
                match object.get(&field.name) {
                    Some(value) => {
                        marks.push(format!("{at} given"));
                        self.fits(&field.shape, value, &at, marks)
                    }
                    None => {
                        marks.push(format!("{at} left out"));
                        field.presence == Presence::Optional
                    }
                }
            })
    }

    fn fits_items<'a>(
        &self,
        shape: &Shape,
        mut items: impl Iterator<Item = &'a Value>,
        at: &str,
        marks: &mut Vec<String>,
    ) -> bool {
        items.all(|item| {
            marks.push(at.to_owned());
            self.fits(shape, item, at, marks)
        })
    }
}
