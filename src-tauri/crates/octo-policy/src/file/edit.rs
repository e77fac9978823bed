//! Changes a `policy.toml` and keeps everything else that the person wrote into it.

use super::{
    LISTS, PolicyFault, PolicyFile, PolicyReading, PolicyRules, RuleFault,
    fault::{check, section_and_key},
    parse, stamp_of,
};
use octo_protocol::PolicyRule;
use std::{
    fs,
    io::{self, Write},
};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// A change of a `policy.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyChange {
    /// Adds a rule; an existing one stays.
    Add(PolicyRule),
    /// Removes a rule; a missing one is no error.
    Remove(PolicyRule),
}

/// Reason why a `policy.toml` was not changed. The file is then as before.
#[derive(Debug, thiserror::Error)]
pub enum PolicyChangeError {
    /// The file is broken, and only the person knows what it should say.
    #[error(transparent)]
    Broken(#[from] PolicyFault),
    /// The file is no longer the one that the change was made for.
    #[error("the file was changed meanwhile")]
    Changed,
    /// The typed text is not a valid rule.
    #[error("{0:?}")]
    Rule(RuleFault),
    /// The layout of the file does not allow the change.
    #[error("the file's layout does not let the change be made")]
    Layout,
    /// The file cannot be written.
    #[error("the file cannot be written: {0}")]
    Unwritable(#[from] io::Error),
}

impl PolicyFile {
    /// Makes a change if the file's content matches `stamp`. The file is replaced atomically, readable only by
    /// its owner; a link to it stays a link. Comments and layout are kept.
    ///
    /// # Errors
    ///
    /// See [`PolicyChangeError`].
    pub fn change(&self, change: &PolicyChange, stamp: &str) -> Result<PolicyReading, PolicyChangeError> {
        let content = self.text()?;
        let text = content.clone().unwrap_or_default();
        let rules = parse(&text).map_err(|broken| broken.at(self.path()))?;
        if stamp_of(content.as_deref()) != stamp {
            return Err(PolicyChangeError::Changed);
        }
        let mut changed = rules.clone();
        match change {
            PolicyChange::Add(rule) => {
                check(rule).map_err(PolicyChangeError::Rule)?;
                let list = changed.list_mut(rule.list);
                if !list.contains(&rule.text) {
                    list.push(rule.text.clone());
                }
            }
            PolicyChange::Remove(rule) => changed.list_mut(rule.list).retain(|text| *text != rule.text),
        }
        if changed != rules {
            let new = render(&text, &changed);
            // The result must be the intended one, whatever the file looks like.
            if parse(&new).ok().as_ref() != Some(&changed) {
                return Err(PolicyChangeError::Layout);
            }
            self.replace(content.as_deref(), &new)?;
        }
        Ok(self.read())
    }

    fn replace(&self, expected: Option<&str>, new: &str) -> Result<(), PolicyChangeError> {
        let target = match expected {
            Some(_) => fs::canonicalize(self.path())?,
            None => self.path().to_owned(),
        };
        let folder = target.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        // A temporary file is readable only by its owner.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(new.as_bytes())?;
        file.as_file().sync_all()?;
        // As late as possible: an editor may have saved the file since it was read.
        if self.text()?.as_deref() != expected {
            return Err(PolicyChangeError::Changed);
        }
        file.persist(&target).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Returns the `policy.toml` `text` with these rules in it. The person's comments and layout stay.
pub(super) fn render(text: &str, rules: &PolicyRules) -> String {
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    for list in LISTS {
        let (words, (section, key)) = (rules.list(list), section_and_key(list));
        let is_present = document.get(section).and_then(|table| table.get(key)).is_some();
        if words.is_empty() && !is_present {
            continue;
        }
        let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
        let Some(table) = table.as_table_like_mut() else { continue };
        match table.get_mut(key).and_then(Item::as_array_mut) {
            Some(array) => fill(array, words),
            None => {
                table.insert(key, value(words.iter().collect::<Array>()));
            }
        }
    }
    document.to_string()
}

/// Sets the words of an array. Words that stay, and their comments, keep their places.
fn fill(array: &mut Array, words: &[String]) {
    let stays =
        |item: &toml_edit::Value| item.as_str().is_some_and(|text| words.iter().any(|word| word == text));
    // In the document, a comment after a word is attached to the next one, and must not be removed with it.
    let comments: String = array
        .iter()
        .filter(|item| !stays(item))
        .filter_map(|item| item.decor().prefix()?.as_str())
        .filter(|text| text.contains('#'))
        .collect();
    array.retain(stays);
    if !comments.is_empty() {
        let trailing = format!("{comments}{}", array.trailing().as_str().unwrap_or_default());
        let end = if trailing.ends_with('\n') { "" } else { "\n" };
        array.set_trailing(format!("{trailing}{end}"));
    }
    for word in words {
        if !array.iter().any(|item| item.as_str() == Some(word)) {
            array.push(word.as_str());
        }
    }
}
