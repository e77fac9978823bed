//! The one ordered list of schema steps.

use rusqlite_migration::{M, Migrations};

/// All steps, oldest first. A released step never changes; a change of the schema is a new step.
pub(crate) const STEPS: &[M<'static>] = &[M::up(include_str!("../migrations/0001_start.sql"))];

/// Marks the file as ours in its header: "Octo".
pub(crate) const APPLICATION_ID: i32 = 0x4f63_746f;

pub(crate) fn migrations(steps: &'static [M<'static>]) -> Migrations<'static> {
    Migrations::from_slice(steps)
}
