//! The tasks that are attempted, each with its rules, and those that are not, each with its reason.

mod dates;
mod fields;
mod mail;
mod menus;
mod pages;
mod plain;
mod tables;

use super::player::{PlayResult, Player};
use futures::future::LocalBoxFuture;

/// Solves a task, or says where it failed.
pub(super) type Oracle = for<'p> fn(&'p mut Player) -> LocalBoxFuture<'p, PlayResult>;

/// Returns the tasks of all tables.
pub(super) fn all() -> impl Iterator<Item = &'static (&'static str, Oracle)> {
    [plain::TASKS, fields::TASKS, menus::TASKS, tables::TASKS, mail::TASKS, pages::TASKS, dates::TASKS]
        .into_iter()
        .flatten()
}

/// Reasons why a task cannot be done with text and numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum UnplayedReason {
    /// The requested content is painted and in no text. A model takes a picture for it.
    Painted,
    /// The task needs a pointer that moves freely, a button that is held, or a selection.
    PointerControl,
    /// The task needs knowledge, luck or long rules rather than a browser: synonyms, a shell, a price that may
    /// change while it is read, an opponent who may force a draw.
    Knowledge,
}

/// The tasks that are not attempted.
pub(super) const NOT_ATTEMPTED: &[(UnplayedReason, &[&str])] = &[
    (
        UnplayedReason::Painted,
        &[
            "bisect-angle",
            "circle-center",
            "click-color",
            "click-menu-2",
            "click-pie",
            "click-pie-nodelay",
            "click-shades",
            "click-shape",
            "count-shape",
            "count-sides",
            "drag-cube",
            "draw-circle",
            "draw-line",
            "find-midpoint",
            "hot-cold",
            "number-checkboxes",
            "right-angle",
            "use-colorwheel",
            "use-colorwheel-2",
            "visual-addition",
        ],
    ),
    (
        UnplayedReason::PointerControl,
        &[
            "chase-circle",
            "daily-calendar",
            "drag-circle",
            "drag-items",
            "drag-items-grid",
            "drag-shapes",
            "drag-shapes-2",
            "drag-single-shape",
            "drag-sort-numbers",
            "highlight-text",
            "highlight-text-2",
            "hover-shape",
            "moving-items",
            "resize-textarea",
            "simon-says",
            "text-editor",
            "use-slider-2",
        ],
    ),
    (
        UnplayedReason::Knowledge,
        &[
            "book-flight",
            "book-flight-nodelay",
            "click-checkboxes-soft",
            "find-greatest",
            "form-sequence-3",
            "stock-market",
            "terminal",
            "tic-tac-toe",
        ],
    ),
];

/// A table of tasks with their solutions.
macro_rules! oracles {
    ($($($task:literal),+ => |$player:ident| $body:block)*) => {
        pub(super) const TASKS: &[(&str, crate::miniwob::oracles::Oracle)] = &[$($(($task, {
            fn play($player: &mut crate::miniwob::player::Player) -> futures::future::LocalBoxFuture<'_, crate::miniwob::player::PlayResult> {
                Box::pin(async move $body)
            }
            play as crate::miniwob::oracles::Oracle
        }),)+)*];
    };
}
use oracles;

/// Returns the text between quotation marks in a sentence.
fn quoted(sentence: &str) -> Vec<String> {
    sentence.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the text between two others.
fn between<'s>(text: &'s str, start: &str, end: &str) -> Result<&'s str, String> {
    let after = text.split_once(start).ok_or_else(|| format!("no {start:?} in {text:?}"))?.1;
    if end.is_empty() {
        return Ok(after.trim());
    }
    Ok(after.split_once(end).ok_or_else(|| format!("no {end:?} in {after:?}"))?.0.trim())
}

/// Parses `2nd` as 2.
fn ordinal(sentence: &str) -> Result<usize, String> {
    sentence
        .split_whitespace()
        .filter_map(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)?.parse().ok())
        })
        .next()
        .ok_or_else(|| format!("no place in {sentence:?}"))
}
