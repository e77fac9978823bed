//! Full-text recall of a conversation: includes summarised messages, and the conversations of its sub-agents.

use crate::{Reader, StoreError, tables::transcript::block};
use octo_protocol::{Block, SessionId};
use rusqlite::params;

impl Reader<'_> {
    /// Returns a session with the sessions whose messages belong to its conversation: the ones it was branched
    /// from, farthest first, and itself, each after its sub-agents. Includes deleted ones; empty if the session
    /// does not exist.
    ///
    /// # Errors
    ///
    /// Read errors.
    pub fn conversation_sources(&self, session: SessionId) -> Result<Vec<SessionId>, StoreError> {
        let mut sources = Vec::new();
        for session in self.ancestors(session)?.into_iter().rev().chain([session]) {
            if self.find_key(session)?.is_none() {
                continue;
            }
            sources.extend(self.sub_agents(session)?);
            sources.push(session);
        }
        Ok(sources)
    }

    /// Returns the calls and results of a session that contain this text, as JSON encodes it: at most the
    /// newest `limit`, oldest first.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn calls_containing(
        &self,
        session: SessionId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<Block>, StoreError> {
        let rows = self.require_key(session)?.rows();
        let mut found = self.rows(
            "SELECT key, text, block_json FROM blocks
             WHERE key BETWEEN ?1 AND ?2 AND instr(block_json, ?3) ORDER BY key DESC LIMIT ?4",
            params![rows.start(), rows.end(), text, limit],
            block,
        )?;
        found.reverse();
        Ok(found.into_iter().map(|(_, block)| block).collect())
    }
}
