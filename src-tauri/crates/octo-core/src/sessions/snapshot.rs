//! The current state of a session, whether or not its actor is running.

use super::{Sessions, unknown_session};
use octo_protocol::{ApiError, SessionId, SessionSnapshot, StreamKind};

/// Number of messages in a session's snapshot; earlier ones are loaded in pages.
const SNAPSHOT_MESSAGES: u32 = 200;

impl Sessions {
    /// Returns the current session with its streams.
    pub(crate) async fn snapshot(&self, id: SessionId) -> Result<SessionSnapshot, ApiError> {
        // The streams are read first: a block that ends in between is then in the page as well, and is left out
        // below; in the opposite order it could be in neither.
        let live = self.runtime.open.get(id).await.map(|handle| handle.live().clone());
        let streaming = live.map(|live| live.now()).unwrap_or_default();
        let result = self.runtime.base.store.read(move |reader| reader.snapshot(id, SNAPSHOT_MESSAGES)).await;
        let mut snapshot = result?.ok_or_else(unknown_session)?;
        snapshot.streaming = streaming
            .into_iter()
            .filter(|stream| {
                matches!(stream.kind, StreamKind::Output { .. })
                    || snapshot.page.messages.iter().any(|message| {
                        message.id == stream.message
                            && message.meta.end.is_none()
                            && message.blocks.len() <= stream.block as usize
                    })
            })
            .collect();
        Ok(snapshot)
    }
}
