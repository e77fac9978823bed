//! The JSON of the protocol's types, independent of their names in Rust.
//!
//! The types declare their form in TypeScript. [`Wire`] parses these declarations into a set of shapes, so that
//! a test can list the names in the JSON, make examples of every variant, and report the variants a set of
//! values lacks.

mod cover;
mod examples;
mod list;
mod parse;

pub use examples::WireExamples;

use std::collections::BTreeMap;
use ts_rs::{Config, TS, TypeVisitor};

/// The form of a JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Text,
    Number,
    Flag,
    Null,
    Anything,
    Literal(String),
    List(Box<Shape>),
    /// Keys and values.
    Map(Box<Shape>, Box<Shape>),
    Tuple(Vec<Shape>),
    Object(Vec<Field>),
    /// An object with the fields of all of these.
    Both(Vec<Shape>),
    OneOf(Vec<Shape>),
    Named(String),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) presence: Presence,
    pub(crate) shape: Shape,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Always,
    Optional,
}

/// Types by their TypeScript names, with the roots from which they were reached.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    pub(crate) types: BTreeMap<String, Shape>,
    /// The label of each root in lists, and its type.
    pub(crate) roots: Vec<(String, String)>,
}

impl Wire {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a type and all types it mentions; lists show the type as `label`.
    #[must_use]
    pub fn with<T: TS + 'static>(mut self, label: &str) -> Self {
        let config = Config::new();
        Visitor { config: &config, types: &mut self.types }.visit::<T>();
        self.roots.push((label.to_owned(), T::ident(&config)));
        self
    }

    pub(crate) fn declaration_of(&self, name: &str) -> &Shape {
        self.types.get(name).unwrap_or_else(|| panic!("{name} is not among the types"))
    }

    /// Returns the objects that an intersection describes: one, or one for each alternative of its parts.
    pub(crate) fn merged(&self, parts: &[Shape]) -> Vec<Shape> {
        let mut merged: Vec<Vec<Field>> = vec![Vec::new()];
        for part in parts {
            let alternatives = self.objects(part);
            merged = merged
                .iter()
                .flat_map(|before| {
                    alternatives.iter().map(move |after| [before.as_slice(), after.as_slice()].concat())
                })
                .collect();
        }
        merged.into_iter().map(Shape::Object).collect()
    }

    fn objects(&self, shape: &Shape) -> Vec<Vec<Field>> {
        match shape {
            Shape::Object(fields) => vec![fields.clone()],
            Shape::Named(name) => self.objects(self.declaration_of(name)),
            Shape::OneOf(parts) => parts.iter().flat_map(|part| self.objects(part)).collect(),
            Shape::Both(parts) => self.merged(parts).iter().flat_map(|part| self.objects(part)).collect(),
            other => panic!("{other:?} is no object"),
        }
    }

    /// Returns a label that distinguishes an alternative from the others.
    pub(crate) fn label(&self, shape: &Shape) -> String {
        match shape {
            Shape::Literal(text) => text.clone(),
            Shape::Object(fields) => fields
                .iter()
                .find_map(|field| match &field.shape {
                    Shape::Literal(text) => Some(text.clone()),
                    _ => None,
                })
                .unwrap_or_else(|| {
                    fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join("+")
                }),
            Shape::Both(parts) => parts.first().map(|part| self.label(part)).unwrap_or_default(),
            Shape::Named(name) => match self.declaration_of(name) {
                Shape::OneOf(_) => "some".to_owned(),
                shape => self.label(shape),
            },
            Shape::Text => "text".to_owned(),
            Shape::Number => "number".to_owned(),
            Shape::Flag => "flag".to_owned(),
            Shape::Null => "null".to_owned(),
            Shape::Anything => "anything".to_owned(),
            Shape::List(_) | Shape::Tuple(_) => "list".to_owned(),
            Shape::Map(..) => "map".to_owned(),
            Shape::OneOf(_) => "some".to_owned(),
        }
    }
}

struct Visitor<'a> {
    config: &'a Config,
    types: &'a mut BTreeMap<String, Shape>,
}

impl TypeVisitor for Visitor<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_some() {
            let name = T::ident(self.config);
            if self.types.contains_key(&name) {
                return;
            }
            self.types.insert(name, parse::declaration(&T::decl(self.config)));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}
