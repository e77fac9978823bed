//! Output as it comes, for whoever watches: it can only be appended to.

use super::screen::{End, Row, Screen};
use crate::Live;

/// Text that waits to be handed on; of a flood only the newest part is, because nobody can read it.
const MAX_PENDING: usize = 16 * 1024;

/// Turns rows and the line in progress into text that only grows. A line that is rewritten (a progress bar)
/// shows as it first was, and once more as it ended.
#[derive(Default)]
pub(super) struct Stream {
    sink: Option<Live>,
    pending: String,
    /// What of the line in progress was handed on.
    shown: String,
}

impl Stream {
    pub(super) fn watch(&mut self, sink: Option<Live>) {
        self.sink = sink;
        self.pending.clear();
        self.shown.clear();
    }

    /// A row is done.
    pub(super) fn row(&mut self, row: &Row, styled_from: &mut dyn FnMut(usize) -> String) {
        if self.sink.is_none() {
            return;
        }
        let shown = std::mem::take(&mut self.shown);
        if row.plain.starts_with(&shown) {
            self.pending.push_str(&styled_from(shown.chars().count()));
        } else {
            self.pending.push('\n');
            self.pending.push_str(&row.styled);
        }
        if row.end == End::Line {
            self.pending.push('\n');
        }
        if self.pending.len() > MAX_PENDING {
            let from = self.pending.len() - MAX_PENDING / 2;
            let newest = self
                .pending
                .bytes()
                .skip(from)
                .position(|byte| byte == b'\n')
                .map_or(self.pending.len(), |at| from + at + 1);
            self.pending.replace_range(..newest, "[…]\n");
        }
    }

    /// What is to be handed on now, the line in progress included.
    pub(super) fn take(&mut self, screen: &Screen) -> Option<(Live, String)> {
        let sink = self.sink.clone()?;
        let partial = screen.partial();
        if partial.plain.len() > self.shown.len() && partial.plain.starts_with(&self.shown) {
            self.pending.push_str(&screen.partial_from(self.shown.chars().count()));
            self.shown = partial.plain;
        }
        let text = std::mem::take(&mut self.pending);
        (!text.is_empty()).then_some((sink, text))
    }
}
