//! The shell: a window, three commands and the functions only a desktop provides, around `octo_core::Octo`.
//!
//! Nothing is decided here. The page speaks `octo_protocol` through [`ipc`], the agent lives in the core, and
//! this crate adds the parts that need the desktop: the window itself, dialogs, blobs as images, a single
//! running instance, the tray, system notifications, links, updates, and an exit that lets work end. Decisions about
//! these are made in `octo_desktop`, which knows no window.

mod appearance;
mod attention;
mod autostart;
mod badge;
mod blobs;
mod exit;
#[cfg(target_os = "linux")]
mod graphics;
mod host;
mod ipc;
mod links;
#[cfg(target_os = "linux")]
mod memory_release;
#[cfg(any(target_os = "macos", test))]
#[cfg_attr(not(target_os = "macos"), expect(dead_code, reason = "built on Linux to be checked there"))]
mod menu;
mod notifications;
mod paste;
mod quick_ask;
#[cfg(target_os = "linux")]
mod recovery;
mod setup;
mod shell_state;
mod subscriptions;
mod tray;
mod updates;
mod windows;

pub use setup::{AppBuilder, run};
