//! Chat services through which a person can write to Octo: the client of each, and the formatting of answers
//! for it.
//!
//! * [`ChatClient`]: what Octo asks of any service; [`ServiceClient`] is the client of whichever it is.
//! * [`Telegram`]: the person's own bot, polled for updates by long polling. Octo opens no port, and only the
//!   service learns its address.
//! * [`InboundUpdate`]: people's messages, in the service's order; [`Post`]: a message to them.
//! * [`posts`]: splits a Markdown answer into posts that the service accepts.
//!
//! `octo-core` decides who may write, how a message is handled and which events of a session are reported. This
//! crate stores nothing, and no error contains a token.

mod client;
mod error;
mod incoming;
mod post;
mod telegram;
mod text;

pub use client::{ChatClient, ServiceClient, server_address};
pub use error::{ChatError, ServiceRefusal};
pub use incoming::{ButtonPress, InboundContent, InboundFile, InboundUpdate, Person};
pub use post::{Button, Post, posts};
pub use telegram::{ANSWER_WAIT, DEFAULT_SERVER, LARGEST_FILE, POLL_TIME, Telegram};
