//! The shell: a window, three commands and what only a desktop can do, around `octo_core::Octo`.
//!
//! Nothing is decided here. The page speaks `octo_protocol` through [`ipc`], the agent lives in the core,
//! and what this crate adds is what needs the desktop: the window itself, dialogs, blobs as images, one
//! running instance, and a close that lets work end.

mod appearance;
mod blobs;
mod closing;
#[cfg(target_os = "linux")]
mod graphics;
mod host;
mod ipc;
mod setup;
mod subscriptions;
mod windows;

pub use setup::run;
