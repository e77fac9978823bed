//! The knowledge of pages shared by a root session and its sub-agents: texts read by site, and values to
//! redact. Includes knowledge from before the last restart of Octo.

use crate::{BrowserSession, HomeBrowser, browser_session::BrowserWork, snapshot_files::load_snapshots};
use octo_browser::safety::{
    Origin, PageMemory, Redactor, SecretName, Site, SiteBoundSecret, TypedPart, parse_blocks, split_secrets,
};
use octo_protocol::{Block, SessionId};
use octo_tools::ToolError;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::OnceCell;

/// Number of the newest page texts that are recalled: more words than the page memory keeps.
const MAX_PAGES: u32 = 512;
/// Number of the newest calls with typed secrets that are searched for names.
const MAX_CALLS: u32 = 4_096;
/// Substring of each page text shown to the model.
const PAGE_MARKER: &str = "<browser_page origin=";
/// Substring of each call that types a secret by name.
const SECRET_MARKER: &str = "{{secret:";

/// The knowledge of pages.
#[derive(Default)]
pub(crate) struct PageKnowledge {
    texts: Mutex<ReadTexts>,
    /// Set once earlier messages have been recalled.
    recalled: OnceCell<()>,
}

/// The knowledge of pages that were read.
#[derive(Default)]
pub(crate) struct ReadTexts {
    /// Texts read, by site.
    pub memory: PageMemory,
    /// Redacts secret values in text that is read.
    pub redactor: Redactor,
    /// The secrets being redacted, with the change counter at which they were loaded.
    redacted_secrets: (u64, Vec<SiteBoundSecret>),
}

impl PageKnowledge {
    /// Locks the texts that were read. Never hold the guard across an await.
    pub fn texts(&self) -> MutexGuard<'_, ReadTexts> {
        self.texts.lock()
    }

    /// Records the page texts in a message to the model. Returns their sites.
    pub fn record_message(&self, text: &str) -> Vec<Site> {
        let blocks = parse_blocks(text);
        let mut texts = self.texts();
        for (site, text) in &blocks {
            texts.memory.record_text(site, text);
        }
        drop(texts);
        blocks.into_iter().map(|(site, _)| site).collect()
    }

    /// Redacts the values of these secrets from now on.
    async fn redact_secrets(
        &self,
        browser: &HomeBrowser,
        secrets: Vec<SiteBoundSecret>,
    ) -> Result<(), ToolError> {
        for secret in secrets {
            let changes = browser.secrets().changes();
            {
                let (current, redacted_secrets) = &mut self.texts().redacted_secrets;
                if *current != changes {
                    (*current, *redacted_secrets) = (changes, Vec::new());
                }
                if redacted_secrets.contains(&secret) {
                    continue;
                }
            }
            let value = browser.secrets().value(&secret).await.map_err(|_| {
                ToolError::new(format!(
                    "The keychain does not answer, and the value of {} must be kept out of what is read here. Nothing was done: ask the person to unlock their keychain.",
                    secret.name
                ))
            })?;
            let mut texts = self.texts();
            if let Some(value) = value {
                // A value too short to be redacted is never typed.
                let _too_short = texts.redactor.learn(&secret.name, &value);
            }
            texts.redacted_secrets.1.push(secret);
        }
        Ok(())
    }

    async fn recall(&self, browser: &HomeBrowser, root: SessionId) -> Result<(), ToolError> {
        let paths = browser.paths().clone();
        let history = browser.store().read(move |reader| {
            let (mut pages, mut calls, mut saved_texts) = (Vec::new(), Vec::new(), Vec::new());
            for session in reader.conversation_sources(root)? {
                pages.extend(reader.calls_containing(session, PAGE_MARKER, MAX_PAGES)?);
                calls.extend(reader.calls_containing(session, SECRET_MARKER, MAX_CALLS)?);
                saved_texts.extend(load_snapshots(&paths.outputs(session)));
            }
            Ok((pages, calls, saved_texts))
        });
        let (pages, calls, saved_texts) = history.await.map_err(|error| {
            tracing::warn!(%error, "could not recall the texts read from pages");
            ToolError::new(
                "What was read in this conversation before could not be looked up. Nothing was done.",
            )
        })?;
        for (site, text) in saved_texts {
            self.texts().memory.record_text(&site, &text);
        }
        let mut sites = Vec::new();
        for block in pages {
            let Block::ToolResult(result) = block else { continue };
            for site in self.record_message(&result.text) {
                if !sites.contains(&site) {
                    sites.push(site);
                }
            }
        }
        let origins: Vec<Origin> = sites.into_iter().map(Origin::Site).collect();
        let names: Vec<SecretName> = calls.iter().flat_map(names_in).collect();
        let mut secrets = browser.secrets().for_origins(&origins);
        secrets.extend(names.iter().filter_map(|name| browser.secrets().find(name)));
        self.redact_secrets(browser, secrets).await
    }
}

/// Returns the names of the secrets that a call typed.
fn names_in(block: &Block) -> Vec<SecretName> {
    let Block::ToolCall(call) = block else { return Vec::new() };
    // Parse from each match separately: an invalid placeholder must not hide later ones.
    let markers = call.arguments.match_indices(SECRET_MARKER).map(|(start, _)| start);
    let names = markers.filter_map(|start| {
        let remaining = call.arguments.get(start..)?;
        let end = remaining.find("}}")? + 2;
        match split_secrets(remaining.get(..end)?).ok()?.pop()? {
            TypedPart::Secret(name) => Some(name),
            TypedPart::Text(_) => None,
        }
    });
    names.collect()
}

impl BrowserSession {
    /// Recalls messages from before Octo was started. Called first in every call: after a restart or a
    /// compaction, text read at one site must still not be carried to another, and a typed value must still not
    /// be read.
    pub(crate) async fn recall(&self, work: &BrowserWork) -> Result<(), ToolError> {
        let knowledge = work.knowledge();
        knowledge.recalled.get_or_try_init(|| knowledge.recall(&self.0.browser, self.0.root)).await.map(drop)
    }

    /// Redacts the values that belong to these sites from now on. Called before a page of these sites is read:
    /// the page may show a value that Octo never typed.
    ///
    /// # Errors
    ///
    /// Fails if the keychain does not answer: a page whose secrets cannot be redacted is not read.
    pub(crate) async fn redact_site_values(
        &self,
        work: &BrowserWork,
        origins: &[Origin],
    ) -> Result<(), ToolError> {
        let secrets = self.0.browser.secrets().for_origins(origins);
        work.knowledge().redact_secrets(&self.0.browser, secrets).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::{CallId, ToolCall};

    #[test]
    fn secret_names_are_found_in_malformed_calls() {
        let names = |arguments: &str| {
            let (id, name) = (CallId::new(), "browser".to_owned());
            let call = ToolCall { id, provider_id: String::new(), name, arguments: arguments.to_owned() };
            let found = names_in(&Block::ToolCall(call));
            found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        for (arguments, expected) in [
            (r#"{"text":"{{secret:shop}}"}"#, "shop"),
            (r#"{"text":"a{{secret:shop}}b{{secret:mail}}"}"#, "shop mail"),
            (r#"{"text":"{{secret:two words}} {{secret:mail}}"}"#, "mail"),
            (r#"{"text":"{{secret:{{secret:mail}}"}"#, "mail"),
            (r#"{"text":"{{secret:"#, ""),
            ("{}", ""),
        ] {
            assert_eq!(names(arguments), expected, "{arguments}");
        }
    }
}
