//! Changes a `policy.toml` and keeps everything else that the person wrote in it.

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

/// The reason why a `policy.toml` was not changed. The file then keeps its content.
#[derive(Debug, thiserror::Error)]
pub enum PolicyChangeError {
    /// The file is invalid, and only the person knows the intended content.
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
    /// Makes a change if the file's content matches `stamp`. Replaces the file atomically; the new file is readable
    /// only by its owner, and a link to it stays a link. Keeps comments and layout.
    ///
    /// # Errors
    ///
    /// See [`PolicyChangeError`].
    pub fn change(&self, change: &PolicyChange, stamp: &str) -> Result<PolicyReading, PolicyChangeError> {
        let content = self.text()?;
        let text = content.clone().unwrap_or_default();
        let rules = parse(&text).map_err(|error| error.in_file(self.path()))?;
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
            // Checks the result, because a file may have any layout.
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
        // Checked as late as possible, because an editor may have saved the file in the meantime.
        if self.text()?.as_deref() != expected {
            return Err(PolicyChangeError::Changed);
        }
        file.persist(&target).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Returns a `policy.toml` with these rules. Keeps the comments and the layout of `text`, its former content.
pub(super) fn render(text: &str, rules: &PolicyRules) -> String {
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    for list in LISTS {
        let (texts, (section, key)) = (rules.list(list), section_and_key(list));
        let is_present = document.get(section).and_then(|table| table.get(key)).is_some();
        if texts.is_empty() && !is_present {
            continue;
        }
        let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
        let Some(table) = table.as_table_like_mut() else { continue };
        match table.get_mut(key).and_then(Item::as_array_mut) {
            Some(array) => fill(array, texts),
            None => {
                table.insert(key, value(texts.iter().collect::<Array>()));
            }
        }
    }
    document.to_string()
}

/// Sets the texts of an array. Texts that stay keep their positions and comments.
fn fill(array: &mut Array, texts: &[String]) {
    let stays =
        |item: &toml_edit::Value| item.as_str().is_some_and(|kept| texts.iter().any(|text| text == kept));
    // The document attaches a comment to the text after it, but the comment must not be removed with that text.
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
    for text in texts {
        if !array.iter().any(|item| item.as_str() == Some(text)) {
            array.push(text.as_str());
        }
    }
}
