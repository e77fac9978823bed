//! Messages sent while a turn is running, in the order in which the turn will read them.

use octo_protocol::{ApiError, Block, ChatService, ErrorCode, Event, QueuedId, QueuedMessage};

/// The waiting messages.
pub(super) struct Queue(Vec<QueuedMessage>);

impl Queue {
    pub(super) fn new(messages: Vec<QueuedMessage>) -> Self {
        Self(messages)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the queue as an event.
    pub(super) fn event(&self) -> Event {
        Event::QueueChanged { queue: self.0.clone() }
    }

    /// Adds a message at the end.
    pub(super) fn push(&mut self, blocks: Vec<Block>, via: Option<ChatService>) -> QueuedId {
        let queued = QueuedMessage { id: QueuedId::new(), blocks, at: octo_runtime::now(), via };
        let id = queued.id;
        self.0.push(queued);
        id
    }

    /// Replaces the content of a waiting message.
    pub(super) fn edit(&mut self, id: QueuedId, blocks: Vec<Block>) -> Result<(), ApiError> {
        let queued = self.0.iter_mut().find(|queued| queued.id == id).ok_or_else(gone)?;
        queued.blocks = blocks;
        Ok(())
    }

    /// Removes a waiting message.
    pub(super) fn remove(&mut self, id: QueuedId) -> Result<(), ApiError> {
        let count = self.0.len();
        self.0.retain(|queued| queued.id != id);
        if self.0.len() == count { Err(gone()) } else { Ok(()) }
    }

    /// Empties the queue and returns its messages.
    pub(super) fn take(&mut self) -> Vec<QueuedMessage> {
        std::mem::take(&mut self.0)
    }
}

fn gone() -> ApiError {
    ApiError::new("session.queued_gone").code(ErrorCode::Gone)
}
