//! The tools the model may call: one file each, typed input and output, failing closed.

mod context;
mod effects;
mod schema;
mod tool;

pub use context::*;
pub use effects::*;
pub use tool::*;
