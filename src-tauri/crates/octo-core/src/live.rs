//! Streaming text: kept from its beginning for clients that open the session now, and published as deltas to
//! those already watching.

use octo_protocol::{CallId, Delta, MessageId, SessionId, StreamKind, StreamingBlock};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Maximum output of a running command kept for clients that open later, in bytes; the newest part is kept.
const OUTPUT_KEPT: usize = 256 * 1024;

/// A session's streams. Cheap to clone.
#[derive(Clone)]
pub(crate) struct LiveStreams {
    session: SessionId,
    deltas: broadcast::Sender<Arc<Delta>>,
    open: Arc<Mutex<Vec<StreamingBlock>>>,
}

impl LiveStreams {
    pub(crate) fn new(session: SessionId, deltas: broadcast::Sender<Arc<Delta>>) -> Self {
        Self { session, deltas, open: Arc::default() }
    }

    /// Appends text to a stream and creates the stream if it is new.
    pub(crate) fn push(&self, message: MessageId, block: u32, kind: &StreamKind, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut open = self.open.lock();
        let position = open
            .iter()
            .position(|stream| stream.message == message && stream.block == block && stream.kind == *kind);
        let index = position.unwrap_or_else(|| {
            open.push(StreamingBlock { message, block, kind: kind.clone(), start: 0, text: String::new() });
            open.len() - 1
        });
        let Some(stream) = open.get_mut(index) else { return };
        let offset = stream.start + stream.text.len() as u64;
        stream.text.push_str(text);
        if let StreamKind::Output { .. } = kind {
            trim(stream);
        }
        // Sent under the lock, so there is no gap between a snapshot and the deltas after it. It is not an
        // error if no client is watching.
        let delta = Delta {
            session: self.session,
            message,
            block,
            kind: kind.clone(),
            offset,
            text: text.to_owned(),
        };
        let _nobody = self.deltas.send(Arc::new(delta));
    }

    /// Ends a block's stream, because the complete block is now stored.
    pub(crate) fn close_block(&self, message: MessageId, block: u32) {
        self.retain(|streaming| {
            !(streaming.message == message
                && streaming.block == block
                && !matches!(streaming.kind, StreamKind::Output { .. }))
        });
    }

    /// Ends the streams of all of a message's own blocks.
    pub(crate) fn close_message(&self, message: MessageId) {
        self.retain(|streaming| {
            streaming.message != message || matches!(streaming.kind, StreamKind::Output { .. })
        });
    }

    /// Ends the stream of a call's output.
    pub(crate) fn close_call(&self, call: CallId) {
        self.retain(|streaming| streaming.kind != StreamKind::Output { call });
    }

    /// Returns all current streams.
    pub(crate) fn now(&self) -> Vec<StreamingBlock> {
        self.open.lock().clone()
    }

    fn retain(&self, predicate: impl Fn(&StreamingBlock) -> bool) {
        self.open.lock().retain(|stream| predicate(stream));
    }
}

fn trim(output: &mut StreamingBlock) {
    let text = &mut output.text;
    if text.len() <= OUTPUT_KEPT * 2 {
        return;
    }
    let mut start = text.len() - OUTPUT_KEPT;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.drain(..start);
    output.start += start as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_continue_where_the_snapshot_ends() {
        let (sender, mut deltas) = broadcast::channel(16);
        let live = LiveStreams::new(SessionId::new(), sender);
        let message = MessageId::new();
        live.push(message, 0, &StreamKind::Text, "héllo");
        let snapshot = live.now();
        live.push(message, 0, &StreamKind::Text, " world");
        assert_eq!(snapshot[0].text, "héllo");
        deltas.try_recv().unwrap();
        let next = deltas.try_recv().unwrap();
        assert_eq!((next.offset, next.text.as_str()), ("héllo".len() as u64, " world"));
        live.close_block(message, 0);
        assert!(live.now().is_empty());
    }

    #[test]
    fn long_output_keeps_its_end_and_its_offsets() {
        let (sender, mut deltas) = broadcast::channel(4096);
        let live = LiveStreams::new(SessionId::new(), sender);
        let (message, call) = (MessageId::new(), CallId::new());
        let kind = StreamKind::Output { call };
        let chunk = "é".repeat(1_000);
        let mut sent = 0;
        for _ in 0..600 {
            live.push(message, 0, &kind, &chunk);
            assert_eq!(deltas.try_recv().unwrap().offset, sent);
            sent += chunk.len() as u64;
        }
        let stream = &live.now()[0];
        assert!(stream.text.len() <= OUTPUT_KEPT * 2);
        assert_eq!(stream.start + stream.text.len() as u64, sent);
        live.close_call(call);
        assert!(live.now().is_empty());
    }
}
