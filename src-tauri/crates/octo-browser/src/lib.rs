//! The person's own, visible Chrome over the DevTools protocol: found and attached to without taking anything
//! over, read as a snapshot of few tokens, and acted upon with real input.
//!
//! * [`Browser`] is the app's one connection to it, made when it is first needed and shared by all sessions;
//!   [`find`] and [`probe`] say where a browser is and whether it can be attached to, without any question to the
//!   person.
//! * [`Link`] is our own actor over a [`Transport`] (a websocket, or the pipe of a browser Octo started). Of
//!   chromiumoxide only the typed commands are used: its own `Browser` attaches to every tab, closes those that do not
//!   answer, and switches certificate errors off, and its `Connection` reads every answer twice.
//! * [`Tabs`] lists tabs without touching them; [`Page`] is the one in use.
//! * [`View`] looks at a page, gives its elements numbers and takes pictures with what is secret covered;
//!   [`Page::perform`] does an [`Act`] to one of them; [`Downloads`] tells of files that come.

mod act;
mod attachment;
mod discovery;
mod downloads;
mod launched;
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
pub use launched::*;
pub use link::*;
pub use message::{Answered, Event, Incoming, Refusal};
pub use page::*;
pub use tabs::*;
pub use transport::*;
pub use view::*;
