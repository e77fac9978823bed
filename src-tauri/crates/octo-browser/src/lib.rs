//! Drives the person's own, visible Chrome over the DevTools protocol: attaches to it without taking it over,
//! reads pages as compact snapshots, and acts on them with real input.
//!
//! - [`Browser`] is the app's single connection, made on first use and shared by all sessions; [`find`] and
//!   [`probe`] report where a browser is and whether it accepts a connection, without asking the person.
//! - [`Link`] is Octo's own actor over a [`Transport`] (a websocket, or the pipe of a browser Octo started). Of
//!   chromiumoxide only the typed commands are used: its own `Browser` attaches to every tab, closes those that
//!   do not answer, and disables certificate errors, and its `Connection` parses every answer twice.
//! - [`Tabs`] lists tabs without touching them; [`Page`] is the one in use.
//! - [`TabView`] inspects a page, numbers its elements and takes pictures with secrets covered; [`Page::perform`]
//!   performs a [`BrowserAct`] on an element; [`Downloads`] reports incoming files.

mod act;
mod attachment;
mod discovery;
mod downloads;
mod launch;
mod link;
mod message;
mod page;
pub mod safety;
pub mod snapshot;
mod tabs;
mod transport;
mod view;
mod wire;

pub use act::*;
pub use attachment::*;
pub use chromiumoxide::cdp;
pub use discovery::*;
pub use downloads::*;
pub use launch::*;
pub use link::*;
pub use message::{BrowserEvent, BrowserMessage, CommandRefusal, RawAnswer};
pub use page::*;
pub use tabs::*;
pub use transport::*;
pub use view::*;
