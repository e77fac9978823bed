//! Live output for listeners: it can only be appended to.

use super::screen::{Row, RowEnd, Screen};
use crate::LiveSink;

/// The maximum text pending for listeners; of a flood only the newest part is kept, because people cannot read
/// it all.
const MAX_PENDING_BYTES: usize = 16 * 1024;

/// Converts rows and the line in progress to append-only text. A rewritten line (a progress bar) appears in its
/// first state, and once more in its final state.
#[derive(Default)]
pub(super) struct LiveStream {
    sink: Option<LiveSink>,
    pending: String,
    /// The part of the line in progress that listeners already received.
    sent: String,
}

impl LiveStream {
    pub(super) fn watch(&mut self, sink: Option<LiveSink>) {
        self.sink = sink;
        self.pending.clear();
        self.sent.clear();
    }

    /// Adds a finished row.
    pub(super) fn row(&mut self, row: &Row, styled_from: &mut dyn FnMut(usize) -> String) {
        if self.sink.is_none() {
            return;
        }
        let sent = std::mem::take(&mut self.sent);
        if row.plain.starts_with(&sent) {
            self.pending.push_str(&styled_from(sent.chars().count()));
        } else {
            self.pending.push('\n');
            self.pending.push_str(&row.styled);
        }
        if row.end == RowEnd::Line {
            self.pending.push('\n');
        }
        if self.pending.len() > MAX_PENDING_BYTES {
            let start = self.pending.len() - MAX_PENDING_BYTES / 2;
            let newest = self
                .pending
                .bytes()
                .skip(start)
                .position(|byte| byte == b'\n')
                .map_or(self.pending.len(), |offset| start + offset + 1);
            self.pending.replace_range(..newest, "[…]\n");
        }
    }

    /// Returns the text for listeners that is due now, including the line in progress.
    pub(super) fn take(&mut self, screen: &Screen) -> Option<(LiveSink, String)> {
        let sink = self.sink.clone()?;
        let partial = screen.partial();
        if partial.plain.len() > self.sent.len() && partial.plain.starts_with(&self.sent) {
            self.pending.push_str(&screen.partial_from(self.sent.chars().count()));
            self.sent = partial.plain;
        }
        let text = std::mem::take(&mut self.pending);
        (!text.is_empty()).then_some((sink, text))
    }
}
