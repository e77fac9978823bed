//! Skills proposed by Octo. A proposal has no effect before the person accepts it.

use super::{
    Library,
    skill::{SKILL_FILE, skill_text},
};
use octo_protocol::{
    ApiError, SessionId, SkillOrigin, SkillRef, SkillSuggestion, SuggestionAnswer, SuggestionId,
    SuggestionKind, Suggestions, Switch, TurnId,
};
use octo_runtime::now;
use octo_store::SuggestionRow;
use std::path::Path;

/// Maximum length of a proposal's reason, in characters.
const REASON: usize = 1_000;
/// Maximum number of waiting proposals. A new one for a skill replaces the earlier one.
const WAITING: usize = 50;

/// A new proposal.
pub(crate) struct Proposal {
    /// The proposed `SKILL.md`.
    pub(crate) text: String,
    /// The skill's name if the text does not give one.
    pub(crate) name: String,
    pub(crate) reason: String,
    /// The session that made it, with its title at that time.
    pub(crate) from: Option<(SessionId, String)>,
    pub(crate) turn: Option<TurnId>,
    /// Cost of making it, in nano-dollars.
    pub(crate) cost_nanos: Option<u64>,
}

impl Library {
    /// Returns the proposals waiting for the person, newest first.
    pub(crate) async fn suggestions(&self) -> Result<Suggestions, ApiError> {
        let rows = self.0.store.read(|reader| reader.suggestions()).await?;
        Ok(Suggestions { suggestions: rows.into_iter().map(|row| self.to_suggestion(row)).collect() })
    }

    fn to_suggestion(&self, row: SuggestionRow) -> SkillSuggestion {
        let path = self.own_folder(&row.name).join(SKILL_FILE);
        let diff = octo_workspace::diff(&path, row.base.as_deref().map(str::as_bytes), row.text.as_bytes());
        SkillSuggestion {
            id: row.id,
            name: row.name,
            kind: row.kind,
            reason: row.reason,
            session: row.session,
            title: row.title,
            turn: row.turn,
            cost_nanos: row.cost_nanos,
            at: row.at,
            text: row.text,
            diff,
        }
    }

    /// Stores a proposal for the person. Determines whether it is a new skill or an improved one.
    ///
    /// # Errors
    /// `skills.suggestion_*` if it is not a skill, or the person rejects proposals for it.
    pub(crate) async fn propose(&self, proposal: Proposal) -> Result<SkillSuggestion, ApiError> {
        let parsed = octo_skills::read(proposal.text.as_bytes(), &proposal.name);
        if let Some(error) = &parsed.error {
            return Err(super::cards::warning_to_error(error));
        }
        if !octo_skills::is_public_name(&parsed.name) {
            return Err(ApiError::new("skills.name").arg("name", &parsed.name));
        }
        let skill_set = self.skill_set(None).await?;
        let existing = skill_set.catalogue.get(&parsed.name);
        // The choice applies to an existing skill, or to a skill only ever proposed.
        let skill_ref = SkillRef { name: parsed.name.clone(), origin: SkillOrigin::User, project: None };
        let quiet = skill_set.choices.get(&skill_ref).is_some_and(|choice| choice.proposals == Switch::Off);
        if quiet || existing.is_some_and(|skill| skill_set.choice(skill).proposals == Switch::Off) {
            return Err(ApiError::new("skills.suggestion_unwanted").arg("name", &parsed.name));
        }
        // A skill of another agent or a bundled one is not changed: the person's copy would hide it.
        if let Some(skill) = existing.filter(|skill| !skill.source.is_writable()) {
            return Err(ApiError::new("skills.not_yours").arg("name", &skill.name));
        }
        let base = existing.map(skill_text).transpose()?;
        if base.as_deref() == Some(proposal.text.as_str()) {
            return Err(ApiError::new("skills.suggestion_same").arg("name", &parsed.name));
        }
        let suggestions = self.0.store.read(|reader| reader.suggestions()).await?;
        if suggestions.len() >= WAITING && suggestions.iter().all(|row| row.name != parsed.name) {
            return Err(ApiError::new("skills.suggestion_many").arg("most", WAITING));
        }
        let (session, title) = proposal.from.unzip();
        let row = SuggestionRow {
            id: SuggestionId::new(),
            name: parsed.name,
            kind: if base.is_some() { SuggestionKind::Better } else { SuggestionKind::New },
            reason: proposal
                .reason
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .chars()
                .take(REASON)
                .collect(),
            session,
            title: title.unwrap_or_default(),
            turn: proposal.turn,
            cost_nanos: proposal.cost_nanos,
            at: now(),
            text: proposal.text,
            base,
        };
        let stored_row = row.clone();
        self.0.store.write(move |tx| tx.add_suggestion(&stored_row)).await?;
        self.notify_change();
        Ok(self.to_suggestion(row))
    }

    /// Stores the cost of a proposal once it is known, in nano-dollars.
    pub(crate) async fn record_cost(&self, suggestion: SuggestionId, cost: u64) {
        match self.0.store.write(move |tx| tx.set_suggestion_cost(suggestion, cost)).await {
            Ok(()) => self.notify_change(),
            // The proposal waits for the person anyway.
            Err(error) => tracing::warn!(%error, "what a proposal cost is not stored"),
        }
    }

    /// Carries out the person's decision on a proposal.
    pub(crate) async fn answer(&self, id: SuggestionId, answer: SuggestionAnswer) -> Result<(), ApiError> {
        let row = self.0.store.read(move |reader| reader.suggestion(id)).await?;
        let Some(row) = row else { return Err(ApiError::new("skills.suggestion_gone")) };
        let skill_ref = SkillRef { name: row.name.clone(), origin: SkillOrigin::User, project: None };
        match answer {
            SuggestionAnswer::Accept { text } => {
                let text = text.unwrap_or(row.text);
                let parsed = octo_skills::read(text.as_bytes(), &row.name);
                if parsed.name != row.name || parsed.error.is_some() {
                    return Err(ApiError::new("skills.suggestion_name").arg("name", &row.name));
                }
                // The real location: the folder may have another name or be nested.
                let skill_set = self.skill_set(None).await?;
                let folder = skill_set.find(&skill_ref).map(|skill| skill.folder.clone());
                let folder = folder.unwrap_or_else(|_| self.own_folder(&row.name));
                if row.base.is_none()
                    && folder.join(SKILL_FILE).exists()
                    && skill_set.find(&skill_ref).is_err()
                {
                    return Err(ApiError::new("skills.folder_taken").arg("path", folder.display()));
                }
                self.write_skill(skill_ref, folder, text).await?;
            }
            SuggestionAnswer::Discard => {}
            SuggestionAnswer::Never => {
                self.0.store.write(move |tx| tx.stop_proposals(&skill_ref)).await?;
            }
        }
        self.0.store.write(move |tx| tx.remove_suggestion(id)).await?;
        self.notify_change();
        Ok(())
    }

    /// Returns the folder of a skill of the person's own.
    fn own_folder(&self, name: &str) -> std::path::PathBuf {
        Path::new(&self.0.home).join("skills").join(name)
    }
}
