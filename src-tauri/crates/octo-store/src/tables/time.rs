//! `time_sessions`, `time_steps`, `time_states`, `time_commands`: the time machine's tree and its recorded
//! states.

use crate::{
    NewTimeStep, Reader, RecordedState, StateMoment, StateSource, StepActivation, StoreError, TimeCommand,
    TimeStep, TimeSteps, Tx,
    column::{from_json, from_word, id, id_or_null, to_json, to_word},
    key::SessionKey,
    tx::now,
};
use octo_protocol::{FileImage, Millis, SessionId, StepKind, StepNumber, TurnId, UnsavedReason};
use rusqlite::{Row, params};

impl StateMoment {
    fn number(self) -> i64 {
        match self {
            Self::Before => 0,
            Self::After => 1,
            Self::Left => 2,
            Self::Between => 3,
        }
    }

    fn of(number: i64) -> Result<Self, StoreError> {
        match number {
            0 => Ok(Self::Before),
            1 => Ok(Self::After),
            2 => Ok(Self::Left),
            3 => Ok(Self::Between),
            _ => Err(StoreError::Failed("a stored side is none".to_owned())),
        }
    }
}

impl StateSource {
    fn number(self) -> i64 {
        match self {
            Self::Named => 0,
            Self::Found => 1,
            Self::Restored => 2,
        }
    }

    fn of(number: i64) -> Result<Self, StoreError> {
        match number {
            0 => Ok(Self::Named),
            1 => Ok(Self::Found),
            2 => Ok(Self::Restored),
            _ => Err(StoreError::Failed("a stored source is none".to_owned())),
        }
    }
}

fn task(row: &Row<'_>) -> Result<TimeStep, StoreError> {
    Ok(TimeStep {
        number: row.get(0)?,
        parent: row.get(1)?,
        kind: from_word(row.get(2)?)?,
        turn: id_or_null(row, 3)?,
        summary: row.get(4)?,
        folder: row.get(5)?,
        started_at: row.get(6)?,
        ended_at: row.get(7)?,
        said_after: row.get(8)?,
        lasting_more: row.get(9)?,
    })
}

/// Reads `path, number, side, source, image_json`.
fn state(row: &Row<'_>) -> Result<RecordedState, StoreError> {
    Ok(RecordedState {
        path: row.get(0)?,
        number: row.get(1)?,
        side: StateMoment::of(row.get(2)?)?,
        source: StateSource::of(row.get(3)?)?,
        image: from_json(row, 4)?,
    })
}

impl Reader<'_> {
    /// Returns the steps of a session; empty before its first one.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn time_steps(&self, session: SessionId) -> Result<TimeSteps, StoreError> {
        let key = self.require_key(session)?;
        let Some((active, last_step, conversation)) = self.row(
            "SELECT active, last, conversation FROM time_sessions WHERE session = ?1",
            [key.0],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?
        else {
            return Ok(TimeSteps::default());
        };
        let tasks = self.rows(
            "SELECT number, parent, kind, turn, summary, folder, started_at, ended_at, said_after, lasting_more
             FROM time_tasks WHERE session = ?1 ORDER BY number",
            [key.0],
            task,
        )?;
        Ok(TimeSteps { active, conversation, last: last_step, steps: tasks })
    }

    /// Returns all recorded states of a session's paths, by path, step and moment.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn time_states(&self, session: SessionId) -> Result<Vec<RecordedState>, StoreError> {
        let key = self.require_key(session)?;
        self.rows(
            "SELECT path, number, side, source, image_json FROM time_states WHERE session = ?1
             ORDER BY path, number, side",
            [key.0],
            state,
        )
    }

    /// Returns the recorded states of these paths of a session, by path, step and moment.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn time_states_of(
        &self,
        session: SessionId,
        paths: &[Vec<u8>],
    ) -> Result<Vec<RecordedState>, StoreError> {
        let key = self.require_key(session)?;
        let mut states = Vec::new();
        for path in paths {
            states.extend(self.rows(
                "SELECT path, number, side, source, image_json FROM time_states
                 WHERE session = ?1 AND path = ?2 ORDER BY number, side",
                params![key.0, path],
                state,
            )?);
        }
        Ok(states)
    }

    /// Returns the states recorded at one moment of a step, by path.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn time_states_at(
        &self,
        session: SessionId,
        number: StepNumber,
        moment: StateMoment,
    ) -> Result<Vec<RecordedState>, StoreError> {
        let key = self.require_key(session)?;
        self.rows(
            "SELECT path, number, side, source, image_json FROM time_states
             WHERE session = ?1 AND number = ?2 AND side = ?3 ORDER BY path",
            params![key.0, number, moment.number()],
            state,
        )
    }

    /// Returns the number of paths each step of a session changed.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn time_change_counts(&self, session: SessionId) -> Result<Vec<(StepNumber, u32)>, StoreError> {
        let key = self.require_key(session)?;
        self.rows(
            "SELECT number, count(*) FROM time_states WHERE session = ?1 AND side = 0 GROUP BY number",
            [key.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Returns the commands whose end was not recorded, oldest first.
    pub fn time_commands(&self) -> Result<Vec<TimeCommand>, StoreError> {
        self.rows(
            "SELECT c.key, s.id, c.number, c.folder FROM time_commands AS c
             JOIN sessions AS s ON s.key = c.session ORDER BY c.key",
            [],
            |row| {
                Ok(TimeCommand {
                    key: row.get(0)?,
                    session: id(row, 1)?,
                    number: row.get(2)?,
                    folder: row.get(3)?,
                })
            },
        )
    }

    /// Returns every step that has ended, of all sessions, oldest first: the order in which their contents may
    /// be deleted.
    pub fn time_steps_by_age(&self) -> Result<Vec<(SessionId, StepNumber)>, StoreError> {
        self.rows(
            "SELECT s.id, t.number FROM time_tasks AS t JOIN sessions AS s ON s.key = t.session
             WHERE t.ended_at IS NOT NULL ORDER BY t.ended_at, t.session, t.number",
            [],
            |row| Ok((id(row, 0)?, row.get(1)?)),
        )
    }
}

impl Tx<'_> {
    /// Adds a step under the session's next number, which it returns; adds the start along with the first one.
    /// The step's conversation continues from the conversation's current step, and if the step becomes the
    /// active one, the conversation moves to it.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`]; [`StoreError::Failed`] if the turn has a step already.
    pub fn add_time_step(
        &mut self,
        session: SessionId,
        step: &NewTimeStep,
        activate: StepActivation,
    ) -> Result<StepNumber, StoreError> {
        let key = self.require_key(session)?;
        let time = now();
        let is_first = self.change(
            "INSERT INTO time_sessions (session, active, last) VALUES (?1, 0, 0) ON CONFLICT DO NOTHING",
            [key.0],
        )?;
        if is_first == 1 {
            let start = NewTimeStep {
                parent: 0,
                kind: StepKind::Start,
                turn: None,
                summary: String::new(),
                folder: step.folder.clone(),
            };
            self.insert_time_step(key, 0, None, &start, time, Some(time))?;
        }
        let last_step: Option<StepNumber> =
            self.row("SELECT last FROM time_sessions WHERE session = ?1", [key.0], |row| Ok(row.get(0)?))?;
        let number = last_step.unwrap_or(0) + 1;
        let ended = if activate == StepActivation::Running { None } else { Some(time) };
        self.insert_time_step(key, number, Some(step.parent), step, time, ended)?;
        self.change_one(
            "the session's tasks",
            "UPDATE time_sessions SET last = ?2, active = CASE WHEN ?3 THEN ?2 ELSE active END,
               conversation = CASE WHEN ?3 THEN NULL ELSE conversation END
             WHERE session = ?1",
            params![key.0, number, activate != StepActivation::Beside],
        )?;
        Ok(number)
    }

    fn insert_time_step(
        &self,
        session: SessionKey,
        number: StepNumber,
        parent: Option<StepNumber>,
        step: &NewTimeStep,
        time: Millis,
        ended: Option<Millis>,
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO time_tasks (session, number, parent, kind, turn, summary, folder, started_at, ended_at,
               said_after)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
               (SELECT nullif(conversation, ?3) FROM time_sessions WHERE session = ?1))",
            params![
                session.0,
                number,
                parent,
                to_word(&step.kind)?,
                step.turn.as_ref().map(TurnId::to_string),
                step.summary,
                step.folder,
                time,
                ended,
            ],
        )?;
        Ok(())
    }

    /// Makes a step the active one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] for a step that does not exist.
    pub fn set_active_time_step(&mut self, session: SessionId, number: StepNumber) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        self.change_one(
            "the task",
            "UPDATE time_sessions SET active = ?2 WHERE session = ?1
               AND EXISTS (SELECT 1 FROM time_tasks WHERE session = ?1 AND number = ?2)",
            params![key.0, number],
        )
    }

    /// Records the step of the conversation, before a restore of only the files.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn set_conversation_step(
        &mut self,
        session: SessionId,
        number: StepNumber,
    ) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        self.change("UPDATE time_sessions SET conversation = ?2 WHERE session = ?1", params![key.0, number])?;
        Ok(())
    }

    /// Removes a step without successors: an entry for something that did not happen. Its number is not reused.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn drop_time_step(&mut self, session: SessionId, number: StepNumber) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        for table in ["time_states", "time_lasting"] {
            let sql = format!("DELETE FROM {table} WHERE session = ?1 AND number = ?2");
            self.change(&sql, params![key.0, number])?;
        }
        self.change_one(
            "the task",
            "DELETE FROM time_tasks WHERE session = ?1 AND number = ?2",
            params![key.0, number],
        )
    }

    /// Marks a step as ended now, or as running again.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] for a step that does not exist.
    pub fn set_time_step_running(
        &mut self,
        session: SessionId,
        number: StepNumber,
        running: StepActivation,
    ) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        let ended = if running == StepActivation::Running { None } else { Some(now()) };
        self.change_one(
            "the task",
            "UPDATE time_tasks SET ended_at = ?3 WHERE session = ?1 AND number = ?2",
            params![key.0, number, ended],
        )
    }

    /// Records states of paths. The state before a step keeps its first recording; later recordings replace the
    /// other moments.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn record_time_states(
        &mut self,
        session: SessionId,
        states: &[RecordedState],
    ) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        for state in states {
            self.change(
                "INSERT INTO time_states (session, path, number, side, source, image_json)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (session, path, number, side) DO UPDATE
                   SET image_json = excluded.image_json, source = min(source, excluded.source)
                   WHERE excluded.side > 0",
                params![
                    key.0,
                    state.path,
                    state.number,
                    state.side.number(),
                    state.source.number(),
                    to_json(&state.image)?,
                ],
            )?;
        }
        Ok(())
    }

    /// Records a running command. Returns its number.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn add_time_command(
        &mut self,
        session: SessionId,
        number: StepNumber,
        folder: &[u8],
    ) -> Result<i64, StoreError> {
        let key = self.require_key(session)?;
        self.change(
            "INSERT INTO time_commands (session, number, folder) VALUES (?1, ?2, ?3)",
            params![key.0, number, folder],
        )?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Removes a command that ended. An unknown command is no error.
    pub fn remove_time_command(&mut self, key: i64) -> Result<(), StoreError> {
        self.change("DELETE FROM time_commands WHERE key = ?1", [key])?;
        Ok(())
    }

    /// Releases the contents a step recorded: they count as [`UnsavedReason::Forgotten`] from now on, and states that
    /// need them cannot be restored. Returns the number of released states.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn forget_time_states(
        &mut self,
        session: SessionId,
        number: StepNumber,
    ) -> Result<usize, StoreError> {
        let key = self.require_key(session)?;
        let states = self.rows(
            "SELECT path, number, side, source, image_json FROM time_states
             WHERE session = ?1 AND number = ?2",
            params![key.0, number],
            state,
        )?;
        let mut forgotten = 0;
        for state in states {
            let FileImage::File { len, .. } = state.image else { continue };
            let image = FileImage::Unsaved { why: UnsavedReason::Forgotten, len, modified: 0 };
            forgotten += self.change(
                "UPDATE time_states SET image_json = ?5
                 WHERE session = ?1 AND path = ?2 AND number = ?3 AND side = ?4",
                params![key.0, state.path, state.number, state.side.number(), to_json(&image)?],
            )?;
        }
        Ok(forgotten)
    }

    /// Deletes all time machine data of a session, for its permanent deletion.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`].
    pub fn forget_time(&mut self, session: SessionId) -> Result<(), StoreError> {
        let key = self.require_key(session)?;
        for table in ["time_states", "time_lasting", "time_commands", "time_tasks", "time_sessions"] {
            self.change(&format!("DELETE FROM {table} WHERE session = ?1"), [key.0])?;
        }
        Ok(())
    }
}
