//! `skill_choices`, `skill_versions`, `suggestions`, `memory_writers`: data about skills and memories that is
//! not in their files. No events: subscribers of the library learn that something changed, and reload.

use crate::{
    Reader, StoreError, Tx,
    column::{from_word, id, id_or_null, to_word},
};
use octo_protocol::{
    Millis, SessionId, SkillRef, SkillVersion, SuggestionId, SuggestionKind, Switch, TurnId,
};
use rusqlite::{Row, params};
use std::collections::HashMap;

/// The number of versions kept per skill; older ones are deleted.
const KEPT_VERSIONS: u32 = 50;

/// The person's choices for a skill, and its last use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillChoice {
    /// Whether it is usable; `None` for Octo's default.
    pub on: Option<Switch>,
    /// Whether the agent may start it on its own; `None` for its author's default.
    pub automatic: Option<Switch>,
    /// The fingerprint of the version the person accepted.
    pub accepted: Option<String>,
    /// When it was last used.
    pub used_at: Option<Millis>,
    /// Whether Octo proposes changes to it.
    pub proposals: Switch,
}

/// A proposed skill that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestionRow {
    /// Its id.
    pub id: SuggestionId,
    /// The skill's name.
    pub name: String,
    /// Whether it creates or changes a skill.
    pub kind: SuggestionKind,
    /// The reason.
    pub reason: String,
    /// The session it comes from.
    pub session: Option<SessionId>,
    /// That session's title at the time.
    pub title: String,
    /// The turn it comes from.
    pub turn: Option<TurnId>,
    /// The cost of making it, in nano-dollars.
    pub cost_nanos: Option<u64>,
    /// When it was made.
    pub at: Millis,
    /// The proposed `SKILL.md`.
    pub text: String,
    /// The `SKILL.md` it was based on; `None` for a new skill.
    pub base: Option<String>,
}

/// The session that last wrote a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryWriter {
    /// The session.
    pub session: SessionId,
    /// Its title; `None` once the session is gone.
    pub title: Option<String>,
}

impl Reader<'_> {
    /// Returns the person's choices, for all skills with a choice or a use.
    pub fn skill_choices(&self) -> Result<HashMap<SkillRef, SkillChoice>, StoreError> {
        let rows = self.rows(
            "SELECT name, origin, project, is_on, automatic, accepted, used_at, quiet FROM skill_choices",
            [],
            |row| {
                let choice = SkillChoice {
                    on: switch(row.get(3)?),
                    automatic: switch(row.get(4)?),
                    accepted: row.get(5)?,
                    used_at: row.get(6)?,
                    proposals: if row.get(7)? { Switch::Off } else { Switch::On },
                };
                Ok((skill(row)?, choice))
            },
        )?;
        Ok(rows.into_iter().collect())
    }

    /// Returns the earlier versions of a skill, newest first.
    pub fn skill_versions(&self, skill: &SkillRef) -> Result<Vec<SkillVersion>, StoreError> {
        self.rows(
            "SELECT number, at FROM skill_versions WHERE name = ?1 AND origin = ?2 AND project = ?3
             ORDER BY number DESC",
            params![skill.name, to_word(&skill.origin)?, project(skill)],
            |row| Ok(SkillVersion { number: row.get(0)?, at: row.get(1)? }),
        )
    }

    /// Returns the number of earlier versions of each skill that has any.
    pub fn skill_version_counts(&self) -> Result<HashMap<SkillRef, u32>, StoreError> {
        let rows = self.rows(
            "SELECT name, origin, project, count(*) FROM skill_versions GROUP BY name, origin, project",
            [],
            |row| Ok((skill(row)?, row.get(3)?)),
        )?;
        Ok(rows.into_iter().collect())
    }

    /// Returns the `SKILL.md` of an earlier version.
    pub fn skill_version(&self, skill: &SkillRef, number: u32) -> Result<Option<String>, StoreError> {
        self.row(
            "SELECT text FROM skill_versions WHERE name = ?1 AND origin = ?2 AND project = ?3 AND number = ?4",
            params![skill.name, to_word(&skill.origin)?, project(skill), number],
            |row| Ok(row.get(0)?),
        )
    }

    /// Returns the suggestions that wait for the person, newest first.
    pub fn suggestions(&self) -> Result<Vec<SuggestionRow>, StoreError> {
        self.rows(
            "SELECT id, name, kind, reason, session, title, turn, cost, at, text, base FROM suggestions
             ORDER BY key DESC",
            [],
            suggestion,
        )
    }

    /// Returns a waiting suggestion.
    pub fn suggestion(&self, id: SuggestionId) -> Result<Option<SuggestionRow>, StoreError> {
        self.row(
            "SELECT id, name, kind, reason, session, title, turn, cost, at, text, base FROM suggestions
             WHERE id = ?1",
            [id.to_string()],
            suggestion,
        )
    }

    /// Returns the session that last wrote each memory, by the name of its file.
    pub fn memory_writers(&self) -> Result<HashMap<String, MemoryWriter>, StoreError> {
        let rows = self.rows(
            "SELECT file, session, (SELECT title FROM sessions WHERE id = session AND deleted_at IS NULL)
             FROM memory_writers",
            [],
            |row| Ok((row.get(0)?, MemoryWriter { session: id(row, 1)?, title: row.get(2)? })),
        )?;
        Ok(rows.into_iter().collect())
    }
}

impl Tx<'_> {
    /// Turns a skill on or off; `None` leaves a switch unchanged.
    pub fn switch_skill(
        &mut self,
        skill: &SkillRef,
        enabled: Option<Switch>,
        automatic: Option<Switch>,
    ) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO skill_choices (name, origin, project, is_on, automatic) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET is_on = coalesce(?4, is_on), automatic = coalesce(?5, automatic)",
            params![
                skill.name,
                to_word(&skill.origin)?,
                project(skill),
                enabled.map(is_on),
                automatic.map(is_on)
            ],
        )?;
        Ok(())
    }

    /// Records that the person accepts the current version of a skill.
    pub fn accept_skill(&mut self, skill: &SkillRef, fingerprint: &str) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO skill_choices (name, origin, project, accepted) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET accepted = excluded.accepted",
            params![skill.name, to_word(&skill.origin)?, project(skill), fingerprint],
        )?;
        Ok(())
    }

    /// Records a use of a skill.
    pub fn record_skill_use(&mut self, skill: &SkillRef, time: Millis) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO skill_choices (name, origin, project, used_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET used_at = excluded.used_at",
            params![skill.name, to_word(&skill.origin)?, project(skill), time],
        )?;
        Ok(())
    }

    /// Stops proposals for a skill.
    pub fn stop_proposals(&mut self, skill: &SkillRef) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO skill_choices (name, origin, project, quiet) VALUES (?1, ?2, ?3, 1)
             ON CONFLICT DO UPDATE SET quiet = 1",
            params![skill.name, to_word(&skill.origin)?, project(skill)],
        )?;
        Ok(())
    }

    /// Stores a `SKILL.md` that is about to be replaced.
    pub fn add_skill_version(
        &mut self,
        skill: &SkillRef,
        text: &str,
        time: Millis,
    ) -> Result<(), StoreError> {
        let origin = to_word(&skill.origin)?;
        self.change(
            "INSERT INTO skill_versions (name, origin, project, number, at, text)
             SELECT ?1, ?2, ?3, coalesce(max(number), 0) + 1, ?4, ?5 FROM skill_versions
             WHERE name = ?1 AND origin = ?2 AND project = ?3",
            params![skill.name, origin, project(skill), time, text],
        )?;
        self.change(
            "DELETE FROM skill_versions WHERE name = ?1 AND origin = ?2 AND project = ?3 AND number <=
               (SELECT max(number) FROM skill_versions WHERE name = ?1 AND origin = ?2 AND project = ?3) - ?4",
            params![skill.name, origin, project(skill), KEPT_VERSIONS],
        )?;
        Ok(())
    }

    /// Stores a suggestion until the person answers. It replaces a waiting one for the same skill.
    pub fn add_suggestion(&mut self, row: &SuggestionRow) -> Result<(), StoreError> {
        self.change("DELETE FROM suggestions WHERE name = ?1", [&row.name])?;
        self.change(
            "INSERT INTO suggestions (id, name, kind, reason, session, title, turn, cost, at, text, base)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                row.id.to_string(),
                row.name,
                to_word(&row.kind)?,
                row.reason,
                row.session.map(|session| session.to_string()),
                row.title,
                row.turn.map(|turn| turn.to_string()),
                row.cost_nanos.map(crate::column::count),
                row.at,
                row.text,
                row.base,
            ],
        )?;
        Ok(())
    }

    /// Stores the cost of making a suggestion, in nano-dollars, once known. Does nothing if the person has
    /// answered it meanwhile.
    pub fn set_suggestion_cost(&mut self, made: SuggestionId, cost: u64) -> Result<(), StoreError> {
        self.change(
            "UPDATE suggestions SET cost = ?2 WHERE id = ?1",
            params![made.to_string(), crate::column::count(cost)],
        )?;
        Ok(())
    }

    /// Removes an answered suggestion. Fails if it was answered before.
    pub fn remove_suggestion(&mut self, answered: SuggestionId) -> Result<(), StoreError> {
        self.change_one("the suggestion", "DELETE FROM suggestions WHERE id = ?1", [answered.to_string()])
    }

    /// Records that a session, or the person, wrote a memory.
    pub fn record_memory_writer(
        &mut self,
        file: &str,
        writer: Option<SessionId>,
        time: Millis,
    ) -> Result<(), StoreError> {
        match writer {
            Some(session) => self.change(
                "INSERT INTO memory_writers (file, session, at) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET session = excluded.session, at = excluded.at",
                params![file, session.to_string(), time],
            )?,
            None => self.change("DELETE FROM memory_writers WHERE file = ?1", [file])?,
        };
        Ok(())
    }
}

fn skill(row: &Row<'_>) -> Result<SkillRef, StoreError> {
    let project: String = row.get(2)?;
    Ok(SkillRef {
        name: row.get(0)?,
        origin: from_word(row.get(1)?)?,
        project: (!project.is_empty()).then_some(project),
    })
}

fn suggestion(row: &Row<'_>) -> Result<SuggestionRow, StoreError> {
    Ok(SuggestionRow {
        id: id(row, 0)?,
        name: row.get(1)?,
        kind: from_word(row.get(2)?)?,
        reason: row.get(3)?,
        session: id_or_null(row, 4)?,
        title: row.get(5)?,
        turn: id_or_null(row, 6)?,
        cost_nanos: row.get::<_, Option<i64>>(7)?.map(|cost| u64::try_from(cost).unwrap_or(0)),
        at: row.get(8)?,
        text: row.get(9)?,
        base: row.get(10)?,
    })
}

fn project(skill: &SkillRef) -> &str {
    skill.project.as_deref().unwrap_or_default()
}

fn switch(stored: Option<bool>) -> Option<Switch> {
    stored.map(|is_on| if is_on { Switch::On } else { Switch::Off })
}

fn is_on(switch: Switch) -> bool {
    switch == Switch::On
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use octo_protocol::SkillOrigin;

    fn named(name: &str, project: Option<&str>) -> SkillRef {
        SkillRef {
            name: name.to_owned(),
            origin: if project.is_some() { SkillOrigin::Project } else { SkillOrigin::User },
            project: project.map(str::to_owned),
        }
    }

    #[test]
    fn choices_are_stored_per_skill_origin() {
        let home = octo_testkit::test_folder();
        let store = Store::open(home.path()).unwrap();
        let (global, project_skill) = (named("a", None), named("a", Some("/w")));
        let (first_skill, second) = (global.clone(), project_skill.clone());
        store
            .write_blocking(move |tx| {
                tx.switch_skill(&first_skill, Some(Switch::Off), None)?;
                tx.switch_skill(&first_skill, None, Some(Switch::On))?;
                tx.record_skill_use(&first_skill, 7)?;
                tx.accept_skill(&second, "print")?;
                tx.stop_proposals(&second)
            })
            .unwrap();
        let choices = store.read_blocking(|reader| reader.skill_choices()).unwrap();
        let of_mine = SkillChoice {
            on: Some(Switch::Off),
            automatic: Some(Switch::On),
            used_at: Some(7),
            ..SkillChoice::default()
        };
        let of_theirs = SkillChoice {
            accepted: Some("print".to_owned()),
            proposals: Switch::Off,
            ..SkillChoice::default()
        };
        assert_eq!(choices, HashMap::from([(global, of_mine), (project_skill, of_theirs)]));
    }

    #[test]
    fn the_newest_versions_are_kept_and_keep_their_numbers() {
        let home = octo_testkit::test_folder();
        let store = Store::open(home.path()).unwrap();
        let skill = named("a", None);
        let skill_ref = skill.clone();
        store
            .write_blocking(move |tx| {
                for number in 1..=KEPT_VERSIONS + 2 {
                    tx.add_skill_version(&skill_ref, &format!("v{number}"), i64::from(number))?;
                }
                tx.add_skill_version(&named("b", None), "other", 1)
            })
            .unwrap();
        let (versions, oldest, removed, counts) = store
            .read_blocking(|reader| {
                Ok((
                    reader.skill_versions(&skill)?,
                    reader.skill_version(&skill, 3)?,
                    reader.skill_version(&skill, 2)?,
                    reader.skill_version_counts()?,
                ))
            })
            .unwrap();
        assert_eq!(versions.len(), KEPT_VERSIONS as usize);
        assert_eq!(versions[0], SkillVersion { number: KEPT_VERSIONS + 2, at: i64::from(KEPT_VERSIONS) + 2 });
        assert_eq!((oldest.as_deref(), removed), (Some("v3"), None));
        assert_eq!(counts, HashMap::from([(skill, KEPT_VERSIONS), (named("b", None), 1)]));
    }

    #[test]
    fn each_skill_has_one_open_suggestion_answered_once() {
        let home = octo_testkit::test_folder();
        let store = Store::open(home.path()).unwrap();
        let row = |name: &str, time| SuggestionRow {
            id: SuggestionId::new(),
            name: name.to_owned(),
            kind: SuggestionKind::Better,
            reason: "why".to_owned(),
            session: Some(SessionId::new()),
            title: "title".to_owned(),
            turn: None,
            cost_nanos: Some(5),
            at: time,
            text: "new".to_owned(),
            base: Some("old".to_owned()),
        };
        let (older, newer, other_skill) = (row("a", 1), row("a", 2), row("b", 3));
        let rows = [older.clone(), newer.clone(), other_skill.clone()];
        store.write_blocking(move |tx| rows.iter().try_for_each(|row| tx.add_suggestion(row))).unwrap();
        let (open_suggestions, removed) =
            store.read_blocking(|reader| Ok((reader.suggestions()?, reader.suggestion(older.id)?))).unwrap();
        assert_eq!((open_suggestions, removed), (vec![other_skill, newer.clone()], None));
        store
            .write_blocking(move |tx| {
                tx.set_suggestion_cost(older.id, 9)?;
                tx.set_suggestion_cost(newer.id, 7)
            })
            .unwrap();
        let costs: Vec<_> = store
            .read_blocking(|reader| reader.suggestions())
            .unwrap()
            .iter()
            .map(|row| row.cost_nanos)
            .collect();
        assert_eq!(costs, [Some(5), Some(7)]);
        store.write_blocking(move |tx| tx.remove_suggestion(newer.id)).unwrap();
        assert!(store.write_blocking(move |tx| tx.remove_suggestion(newer.id)).is_err());
    }

    #[test]
    fn a_memory_the_person_edits_belongs_to_the_person() {
        let home = octo_testkit::test_folder();
        let store = Store::open(home.path()).unwrap();
        let session = SessionId::new();
        store
            .write_blocking(move |tx| {
                tx.record_memory_writer("a.md", Some(session), 1)?;
                tx.record_memory_writer("b.md", Some(session), 1)?;
                tx.record_memory_writer("b.md", None, 2)
            })
            .unwrap();
        let writers = store.read_blocking(|reader| reader.memory_writers()).unwrap();
        assert_eq!(writers, HashMap::from([("a.md".to_owned(), MemoryWriter { session, title: None })]));
    }
}
