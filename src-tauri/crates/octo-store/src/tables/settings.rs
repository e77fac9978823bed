//! `settings`, `models`, `rules`.

use crate::{
    Reader, SettingsState, StoreError, Tx,
    column::{from_json, to_json},
    key,
};
use octo_protocol::{ModelEntry, ModelId, Rule, Settings, SettingsSnapshot};
use rusqlite::params;

impl Reader<'_> {
    /// Returns the settings; defaults if none were stored.
    pub fn settings(&self) -> Result<Settings, StoreError> {
        let stored =
            self.row("SELECT settings_json FROM settings WHERE only = 1", [], |row| from_json(row, 0))?;
        Ok(stored.unwrap_or_default())
    }

    /// Returns the stored settings, if they can no longer be parsed.
    pub fn unreadable_settings(&self) -> Result<Option<String>, StoreError> {
        let stored: Option<String> =
            self.row("SELECT settings_json FROM settings WHERE only = 1", [], |row| Ok(row.get(0)?))?;
        Ok(stored.filter(|text| serde_json::from_str::<Settings>(text).is_err()))
    }

    /// Returns the models, in the order they were added. An entry whose key is kept "for this run" was stored
    /// by one particular run: only the keys' owner knows whether the key still exists.
    pub fn models(&self) -> Result<Vec<ModelEntry>, StoreError> {
        self.rows("SELECT entry_json FROM models ORDER BY key", [], |row| from_json(row, 0))
    }

    /// Returns settings and models with the number of the last event they include.
    pub fn settings_state(&self) -> Result<SettingsState, StoreError> {
        Ok(SettingsState {
            seq: self.last_seq(key::SETTINGS_TOPIC)?,
            settings: self.settings()?,
            models: self.models()?,
        })
    }

    /// Returns the permanent permissions of a folder, oldest first.
    pub fn rules(&self, folder: &str) -> Result<Vec<Rule>, StoreError> {
        self.rows("SELECT rule_json FROM rules WHERE folder = ?1 ORDER BY key", [folder], |row| {
            from_json(row, 0)
        })
    }

    /// Returns all permanent permissions with their folders (or, for a permission of one session only, its
    /// scope), by folder, oldest first within each.
    pub fn all_rules(&self) -> Result<Vec<(String, Rule)>, StoreError> {
        self.rows("SELECT folder, rule_json FROM rules ORDER BY folder, key", [], |row| {
            Ok((row.get(0)?, from_json(row, 1)?))
        })
    }

    /// Returns the sites on which the agent may work without asking, each with its folder, or with the scope of
    /// the one session it applies to.
    pub fn site_rules(&self) -> Result<Vec<(String, String)>, StoreError> {
        let rules = self.rows("SELECT folder, rule_json FROM rules ORDER BY key", [], |row| {
            Ok((row.get::<_, String>(0)?, from_json::<Rule>(row, 1)?))
        })?;
        let of_site = |(folder, rule): (String, Rule)| match rule {
            Rule::Site { site } => Some((folder, site)),
            _ => None,
        };
        Ok(rules.into_iter().filter_map(of_site).collect())
    }
}

impl Tx<'_> {
    /// Stores the settings. The caller emits [`octo_protocol::Event::SettingsChanged`] in the same write, with
    /// its snapshot read from the tables.
    pub fn put_settings(&mut self, settings: &Settings) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO settings (only, settings_json) VALUES (1, ?1)
             ON CONFLICT (only) DO UPDATE SET settings_json = excluded.settings_json",
            [to_json(settings)?],
        )?;
        Ok(())
    }

    /// Adds a model, or changes the one with its id. The caller emits the event, as for [`Tx::put_settings`].
    pub fn put_model(&mut self, model: &ModelEntry) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO models (id, entry_json) VALUES (?1, ?2)
             ON CONFLICT (id) DO UPDATE SET entry_json = excluded.entry_json",
            params![model.id.to_string(), to_json(model)?],
        )?;
        Ok(())
    }

    /// Removes a model, if it exists. The caller emits the event, as for [`Tx::put_settings`].
    pub fn remove_model(&mut self, model: ModelId) -> Result<(), StoreError> {
        self.change("DELETE FROM models WHERE id = ?1", [model.to_string()])?;
        Ok(())
    }

    /// Adds a permanent permission to a folder; keeps an existing one.
    pub fn add_rule(&mut self, folder: &str, rule: &Rule) -> Result<(), StoreError> {
        self.change(
            "INSERT INTO rules (folder, rule_json) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![folder, to_json(rule)?],
        )?;
        Ok(())
    }

    /// Removes a permanent permission from a folder, if it exists.
    pub fn remove_rule(&mut self, folder: &str, rule: &Rule) -> Result<(), StoreError> {
        self.change(
            "DELETE FROM rules WHERE folder = ?1 AND rule_json = ?2",
            params![folder, to_json(rule)?],
        )?;
        Ok(())
    }

    /// Updates the tables to match the event, in case the caller did not.
    pub(crate) fn project_settings(&mut self, snapshot: &SettingsSnapshot) -> Result<(), StoreError> {
        self.put_settings(&snapshot.settings)?;
        if self.models()? != snapshot.models {
            self.change("DELETE FROM models", [])?;
            for model in &snapshot.models {
                self.put_model(model)?;
            }
        }
        Ok(())
    }
}
