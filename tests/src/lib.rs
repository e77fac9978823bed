//! Support for the end-to-end tests: a private desktop, and the real application in it.

mod application;
mod bare;
mod clipboard;
mod desktop;
mod display;
mod driver;
mod keyring;
mod panel;

pub use application::{Application, Theme, example};
pub use bare::BareApplication;
pub use desktop::Desktop;
pub use panel::{Entry, Notice, Panel};
