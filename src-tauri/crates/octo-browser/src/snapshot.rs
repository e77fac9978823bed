//! A page's content as text for a model: few tokens, a small stable number per target, nothing a person cannot
//! see.
//!
//! Pure: turns browser replies into text. A capture contains the accessibility tree of every frame and one
//! layout snapshot per session (nothing is written into the page); they are joined by backend node id, with
//! frames below the elements that embed them. A snapshot is a list of lines: a paragraph, a table row or a
//! control is one, including the refs of its targets:
//!
//! ```text
//! page "Orders" https://shop.example/orders
//! # Orders
//! searchbox "Search" [3] = "blue"
//! 3 | Customer 3 | 39.00 | link Open [57] | button Delete [58]
//! click .trash [41]
//! ... 292 more lines like these with 584 targets: find, or read [9]
//! ```
//!
//! Page text is untrusted: the caller must wrap it in marks that say so. Names are bounded, invisible
//! characters are removed, and the values of password and card fields are never included.

mod capture;
mod clean;
mod cover;
mod diff;
mod find;
mod layout;
mod lines;
mod marks;
mod name;
mod paint;
mod read;
mod refs;
mod render;
mod role;
mod tokens;
mod tree;
mod view;
mod wire;

pub use capture::{
    CapturedFrame, CapturedSession, DocumentId, FrameDisplay, FrameOwner, PageCapture, Viewport,
};
pub use clean::clean_text;
pub use cover::CoverArea;
pub use diff::{ChangeExtent, Diff};
pub use find::{FindMatches, FindQuery};
pub use read::{MarkdownPage, PagePart, PartError};
pub use refs::{NodeIdentity, NodeRef, RefError, RefindError, Refs};
pub use render::{LineSelection, OmittedLines, RenderFilter, RenderedSnapshot, SnapshotArea, WHOLE};
pub use tokens::estimate_tokens;
pub use view::Snapshot;
pub use wire::{LayoutReply, ReadLayout, ReadTree, TreeReply};
