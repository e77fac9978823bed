//! Chat services a person can write to Octo through: how each is spoken to, and how an answer is put for it.
//!
//! * [`Telegram`]: a bot of the person's own, asked for news by long polling. No port is opened, and nobody but the
//!   service learns where Octo is.
//! * [`Incoming`]: what people sent, in the service's order; [`Post`]: what is sent to them.
//! * [`posts`]: an answer, written in Markdown, as posts the service takes.
//!
//! Who may write, what becomes of a message and what is told of a session is decided by `octo-core`. Nothing here keeps
//! anything, and no error holds a token.

mod error;
mod incoming;
mod post;
mod telegram;
mod text;

pub use error::{ChatError, Refusal};
pub use incoming::{Incoming, Letter, LetterFile, Person, Press};
pub use post::{Button, Post, posts};
pub use telegram::{ANSWER_WAIT, LARGEST_FILE, POLL, SERVER, Telegram, server_address};
