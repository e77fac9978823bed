//! What the end-to-end tests stand on: a private desktop, and the real application in it.

mod application;
mod desktop;
mod display;
mod keyring;

pub use application::{Application, Theme};
pub use desktop::Desktop;
