//! Rebuilds the last request each model saw before Octo was closed, so that the first call after a start is
//! explained like any other.

use super::state::Session;
use crate::pairing::pair_results;
use octo_protocol::BilledCall;

impl Session {
    /// Restores the state from the ledger row of each model's last answered call. A call whose message is no
    /// longer in the model's context (because of a compaction) says nothing about the next one.
    pub(super) fn recall(&mut self, lines: &[BilledCall]) {
        for line in lines {
            let index = self.conversation.iter().position(|message| Some(message.id) == line.message);
            let card = line.model.and_then(|model| self.runtime.services.models.card_of(model));
            let (Some(earlier), Some(card), Some(usage)) =
                (index.and_then(|index| self.conversation.get(..index)), card, line.usage)
            else {
                continue;
            };
            let sent_request =
                self.outgoing().reconstruct_sent(line, &card, pair_results(earlier).into_owned());
            self.warmth.remember(sent_request.with_usage(usage));
        }
    }
}
