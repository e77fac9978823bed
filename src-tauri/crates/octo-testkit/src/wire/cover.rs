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
            let mut visited = Vec::new();
            assert!(self.fits(&shape, value, root, &mut visited), "no value of {root}: {value}");
            for path in visited {
                expected.remove(&path);
            }
        }
        expected.into_iter().collect()
    }

    fn expect(
        &self,
        shape: &Shape,
        path: &str,
        visited: &mut BTreeSet<String>,
        expected: &mut BTreeSet<String>,
    ) {
        match shape {
            Shape::Named(name) => {
                if visited.insert(name.clone()) {
                    self.expect(self.declaration_of(name), name, visited, expected);
                }
            }
            Shape::OneOf(parts) => {
                for part in parts {
                    let path = self.alternative(part, path);
                    expected.insert(path.clone());
                    self.expect(part, &path, visited, expected);
                }
            }
            Shape::Both(parts) => {
                for object in self.merged(parts) {
                    let path = self.alternative(&object, path);
                    expected.insert(path.clone());
                    self.expect(&object, &path, visited, expected);
                }
            }
            Shape::Object(fields) => {
                for field in fields {
                    let path = format!("{path}.{}", field.name);
                    if field.presence == Presence::Optional {
                        expected.insert(format!("{path} left out"));
                        expected.insert(format!("{path} given"));
                    }
                    self.expect(&field.shape, &path, visited, expected);
                }
            }
            Shape::List(item) | Shape::Map(_, item) => {
                let path = format!("{path}[]");
                expected.insert(path.clone());
                self.expect(item, &path, visited, expected);
            }
            Shape::Tuple(items) => items.iter().for_each(|item| self.expect(item, path, visited, expected)),
            Shape::Flag => {
                expected.extend(["true", "false"].map(|flag| format!("{path} {flag}")));
            }
            Shape::Text | Shape::Number | Shape::Null | Shape::Anything | Shape::Literal(_) => {}
        }
    }

    fn alternative(&self, shape: &Shape, path: &str) -> String {
        format!("{path}:{}", self.label(shape))
    }

    /// Whether a value has a shape; adds the expected parts that the value covers to `visited`.
    fn fits(&self, shape: &Shape, value: &Value, path: &str, visited: &mut Vec<String>) -> bool {
        match (shape, value) {
            (Shape::Named(name), _) => self.fits(self.declaration_of(name), value, name, visited),
            (Shape::OneOf(parts), _) => self.fits_one(parts, value, path, visited),
            (Shape::Both(parts), _) => self.fits_one(&self.merged(parts), value, path, visited),
            (Shape::Object(fields), Value::Object(object)) => self.fits_object(fields, object, path, visited),
            (Shape::List(item), Value::Array(items)) => {
                self.fits_items(item, items.iter(), &format!("{path}[]"), visited)
            }
            (Shape::Map(_, item), Value::Object(items)) => {
                self.fits_items(item, items.values(), &format!("{path}[]"), visited)
            }
            (Shape::Tuple(shapes), Value::Array(items)) => {
                shapes.len() == items.len()
                    && shapes.iter().zip(items).all(|(shape, item)| self.fits(shape, item, path, visited))
            }
            (Shape::Literal(text), Value::String(value)) => text == value,
            (Shape::Flag, Value::Bool(flag)) => {
                visited.push(format!("{path} {flag}"));
                true
            }
            (Shape::Text, Value::String(_))
            | (Shape::Number, Value::Number(_))
            | (Shape::Null, Value::Null)
            | (Shape::Anything, _) => true,
            _ => false,
        }
    }

    fn fits_one(&self, parts: &[Shape], value: &Value, path: &str, visited: &mut Vec<String>) -> bool {
        parts.iter().any(|part| {
            let path = self.alternative(part, path);
            let mut part_paths = vec![path.clone()];
            let fits = self.fits(part, value, &path, &mut part_paths);
            if fits {
                visited.append(&mut part_paths);
            }
            fits
        })
    }

    fn fits_object(
        &self,
        fields: &[Field],
        object: &Map<String, Value>,
        path: &str,
        visited: &mut Vec<String>,
    ) -> bool {
        object.keys().all(|key| fields.iter().any(|field| field.name == *key))
            && fields.iter().all(|field| {
                let path = format!("{path}.{}", field.name);
                match object.get(&field.name) {
                    Some(value) => {
                        visited.push(format!("{path} given"));
                        self.fits(&field.shape, value, &path, visited)
                    }
                    None => {
                        visited.push(format!("{path} left out"));
                        field.presence == Presence::Optional
                    }
                }
            })
    }

    fn fits_items<'a>(
        &self,
        shape: &Shape,
        mut items: impl Iterator<Item = &'a Value>,
        path: &str,
        visited: &mut Vec<String>,
    ) -> bool {
        items.all(|item| {
            visited.push(path.to_owned());
            self.fits(shape, item, path, visited)
        })
    }
}
