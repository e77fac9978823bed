//! The agent: the application, its session actors, the turn machine, prompt and permission.
//!
//! [`Octo`] is the whole application without a face. A window, the headless forms and tests all hold one
//! and speak to it in `octo_protocol`'s words: [`Octo::request`] and [`Octo::subscribe`].

mod config;
mod octo;
mod subscription;

pub use config::*;
pub use octo::*;
pub use subscription::*;
