//! The projection of each event into the tables.
//!
//! Events carry totals, never differences. The usage of a turn is in [`Event::TurnEnded`], the usage of a
//! session in [`Event::SessionChanged`]; the core maintains the sums. [`Event::MessageEnded`] changes its
//! message and the size of the context, nothing else.

use crate::{StoreError, Tx, key::SessionKey, tables::transcript::MessageState};
use octo_protocol::{Event, EventDomain, Millis, NoteKind, SessionId, SessionInfo, StoredTopic};

/// Changes the tables according to the event. `number` is the topic's.
pub(crate) fn project(
    tx: &mut Tx<'_>,
    topic: &StoredTopic,
    number: SessionKey,
    time: Millis,
    event: &Event,
) -> Result<(), StoreError> {
    match (topic, event.domain()) {
        (StoredTopic::Session { id }, EventDomain::Conversation | EventDomain::Progress) => {
            same_session(*id, event)?;
        }
        (StoredTopic::Sessions, EventDomain::Sessions)
        | (StoredTopic::Settings, EventDomain::Settings)
        | (StoredTopic::Trash, EventDomain::Trash) => {}
        _ => return Err(StoreError::Failed(format!("an event does not belong to {topic}"))),
    }
    match event {
        Event::SessionChanged { info } => tx.project_head(number, info),
        Event::TurnStarted { turn } => {
            tx.project_turn_started(number, turn)?;
            tx.project_suggestion(number, None)
        }
        Event::Suggested { suggestion } => tx.project_suggestion(number, Some(suggestion)),
        Event::BudgetReached { stop } => tx.project_budget(number, Some(stop)),
        Event::BudgetAnswered => tx.project_budget(number, None),
        Event::MessageAdded { message } => tx.project_message(number, message, MessageState::Whole),
        Event::MessageStarted { message } => tx.project_message(number, message, MessageState::Open),
        Event::BlockAdded { message, index, block } => tx.project_block(number, *message, *index, block),
        Event::MessageEnded { message, end, usage } => {
            tx.project_message_ended(number, *message, *end, usage.as_ref())
        }
        Event::MessageDiscarded { message } => tx.project_message_discarded(number, *message),
        Event::CallChanged { call } => tx.project_call(number, call),
        Event::QuestionAsked { question } => tx.project_question_asked(number, question),
        Event::QuestionClosed { question, answer: _ } => tx.project_question_closed(number, *question),
        Event::TodosChanged { todos } => tx.project_todos(number, todos),
        Event::QueueChanged { queue } => tx.project_queue(number, queue),
        Event::CommandsChanged { commands } => tx.project_commands(number, commands),
        Event::RetryScheduled { retry } => tx.project_retry(number, Some(retry)),
        Event::RetryStarted => tx.project_retry(number, None),
        Event::TurnStopping { turn } => tx.project_turn_stopping(number, *turn),
        Event::TurnEnded { turn } => {
            tx.project_turn_ended(number, turn)?;
            // A stop may end a turn that was waiting for its next attempt.
            tx.project_retry(number, None)
        }
        Event::CallBilled { call } => tx.project_billed(number, call),
        // The process doing the work knows its progress; a crash ends it.
        Event::CompactionStarted => Ok(()),
        Event::CompactionFailed { error } => tx.project_note(number, time, NoteKind::NotCompacted, error),
        Event::ContextCompacted { tokens } => tx.project_context_tokens(number, *tokens),
        Event::TasksChanged => Ok(()),
        Event::WentTo { task, undone } => tx.project_went_to(number, *task, undone),
        Event::CommandAnswered { note } => tx.project_note(number, time, NoteKind::Answer, note),
        Event::SessionListed { info } => {
            let session = tx.require_key(info.id)?;
            tx.project_head(session, info)
        }
        Event::SessionRemoved { id } => {
            let session = tx.require_key(*id)?;
            tx.project_removed(session, time)
        }
        Event::SettingsChanged { snapshot } => tx.project_settings(snapshot),
        // Derived from the rows, which are written before it.
        Event::TrashChanged { totals: _ } => Ok(()),
    }
}

fn same_session(topic: SessionId, event: &Event) -> Result<(), StoreError> {
    match event {
        Event::SessionChanged { info: SessionInfo { id, .. } } if *id != topic => {
            Err(StoreError::Failed("a head does not belong to its topic".to_owned()))
        }
        _ => Ok(()),
    }
}
