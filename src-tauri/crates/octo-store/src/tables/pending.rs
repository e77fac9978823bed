//! `questions`, `queue`, `todos`, and a session's other pending items.

use crate::{
    Reader, StoreError, Tx,
    column::{count, from_json, from_json_or_null, read_count, to_json},
    key::SessionKey,
};
use octo_protocol::{BudgetStop, Question, QuestionId, QueuedMessage, Retry, Suggestion, Todo};
use rusqlite::params;

impl Reader<'_> {
    /// Returns the unanswered questions, oldest first.
    pub(crate) fn questions(&self, session: SessionKey) -> Result<Vec<Question>, StoreError> {
        self.rows("SELECT question_json FROM questions WHERE session = ?1 ORDER BY key", [session.0], |row| {
            from_json(row, 0)
        })
    }

    /// Returns the queued messages, oldest first.
    pub(crate) fn queue(&self, session: SessionKey) -> Result<Vec<QueuedMessage>, StoreError> {
        self.rows("SELECT queued_json FROM queue WHERE session = ?1 ORDER BY position", [session.0], |row| {
            from_json(row, 0)
        })
    }

    /// Returns the plan.
    pub(crate) fn todos(&self, session: SessionKey) -> Result<Vec<Todo>, StoreError> {
        self.rows("SELECT todo_json FROM todos WHERE session = ?1 ORDER BY position", [session.0], |row| {
            from_json(row, 0)
        })
    }

    /// Returns the highest number a plan item ever had.
    pub(crate) fn todo_last_id(&self, session: SessionKey) -> Result<u32, StoreError> {
        let id =
            self.row("SELECT todo_last_id FROM sessions WHERE key = ?1", [session.0], |row| Ok(row.get(0)?))?;
        Ok(id.unwrap_or(0))
    }

    /// Returns a guess at the next message, and an exhausted budget.
    pub(crate) fn suggestion_and_budget(
        &self,
        session: SessionKey,
    ) -> Result<(Option<Suggestion>, Option<BudgetStop>), StoreError> {
        let found = self.row(
            "SELECT suggestion_json, budget_json FROM sessions WHERE key = ?1",
            [session.0],
            |row| Ok((from_json_or_null(row, 0)?, from_json_or_null(row, 1)?)),
        )?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the scheduled retry, and the input tokens of the last model call.
    pub(crate) fn retry_and_context_tokens(
        &self,
        session: SessionKey,
    ) -> Result<(Option<Retry>, u64), StoreError> {
        let found =
            self.row("SELECT retry_json, context_tokens FROM sessions WHERE key = ?1", [session.0], |row| {
                Ok((from_json_or_null(row, 0)?, read_count(row, 1)?))
            })?;
        Ok(found.unwrap_or((None, 0)))
    }
}

impl Tx<'_> {
    pub(crate) fn project_question_asked(
        &self,
        session: SessionKey,
        question: &Question,
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO questions (id, session, question_json) VALUES (?1, ?2, ?3)",
            params![question.id.to_string(), session.0, to_json(question)?],
        )?;
        Ok(())
    }

    pub(crate) fn project_question_closed(
        &self,
        session: SessionKey,
        question: QuestionId,
    ) -> Result<(), StoreError> {
        self.change_one(
            "the question",
            "DELETE FROM questions WHERE id = ?1 AND session = ?2",
            params![question.to_string(), session.0],
        )
    }

    pub(crate) fn project_queue(
        &self,
        session: SessionKey,
        queue: &[QueuedMessage],
    ) -> Result<(), StoreError> {
        self.change("DELETE FROM queue WHERE session = ?1", [session.0])?;
        for (position, queued) in (0_i64..).zip(queue) {
            self.change(
                "INSERT INTO queue (session, position, queued_json) VALUES (?1, ?2, ?3)",
                params![session.0, position, to_json(queued)?],
            )?;
        }
        Ok(())
    }

    pub(crate) fn project_todos(&self, session: SessionKey, todos: &[Todo]) -> Result<(), StoreError> {
        self.change("DELETE FROM todos WHERE session = ?1", [session.0])?;
        for (position, todo) in (0_i64..).zip(todos) {
            self.change(
                "INSERT INTO todos (session, position, todo_json) VALUES (?1, ?2, ?3)",
                params![session.0, position, to_json(todo)?],
            )?;
        }
        if let Some(last_id) = todos.iter().map(|todo| todo.id).max() {
            self.change(
                "UPDATE sessions SET todo_last_id = ?2 WHERE key = ?1 AND todo_last_id < ?2",
                params![session.0, last_id],
            )?;
        }
        Ok(())
    }

    pub(crate) fn project_retry(&self, session: SessionKey, retry: Option<&Retry>) -> Result<(), StoreError> {
        self.change(
            "UPDATE sessions SET retry_json = ?2 WHERE key = ?1 AND retry_json IS NOT ?2",
            params![session.0, retry.map(to_json).transpose()?],
        )?;
        Ok(())
    }

    pub(crate) fn project_suggestion(
        &self,
        session: SessionKey,
        suggestion: Option<&Suggestion>,
    ) -> Result<(), StoreError> {
        self.change(
            "UPDATE sessions SET suggestion_json = ?2 WHERE key = ?1 AND suggestion_json IS NOT ?2",
            params![session.0, suggestion.map(to_json).transpose()?],
        )?;
        Ok(())
    }

    pub(crate) fn project_budget(
        &self,
        session: SessionKey,
        stop: Option<&BudgetStop>,
    ) -> Result<(), StoreError> {
        self.change(
            "UPDATE sessions SET budget_json = ?2 WHERE key = ?1 AND budget_json IS NOT ?2",
            params![session.0, stop.map(to_json).transpose()?],
        )?;
        Ok(())
    }

    pub(crate) fn project_context_tokens(&self, session: SessionKey, tokens: u64) -> Result<(), StoreError> {
        self.change("UPDATE sessions SET context_tokens = ?2 WHERE key = ?1", [session.0, count(tokens)])?;
        Ok(())
    }
}
