//! Secrets that the model types by name. The model never receives a value: it writes `{{secret:NAME}}`, and Octo
//! fetches the value from the keychain at the last moment, for the one site to which the person bound it.

use crate::{BrowserSession, assessment::AssessedCall, browser_session::BrowserWork, facts::ElementFacts};
use octo_browser::{
    BrowserAct, Page,
    safety::{
        Origin, OwningForm, SecretFault, SecretName, SecretRelease, SecretTarget, Site, SiteBoundSecret,
        TypedPart, split_secrets,
    },
    snapshot::NodeRef,
};
use octo_keys::{KeyRing, SecretKind};
use octo_protocol::{ApiError, Secret, SiteSecret};
use octo_tools::ToolError;
use parking_lot::RwLock;
use secrecy::{ExposeSecret as _, SecretString};
use std::sync::atomic::{AtomicU64, Ordering};

/// Minimum length of a stored value: shorter ones could not be redacted (see
/// [`octo_browser::safety::Redactor`]).
const MIN_VALUE_CHARS: usize = 4;
/// Maximum length of a stored value, in bytes: longer ones are not passwords, and keychains have limits.
const MAX_VALUE_BYTES: usize = 1_024;

/// The person's secrets, by name.
pub struct PersonSecrets {
    keys: KeyRing,
    secrets: RwLock<Vec<SiteBoundSecret>>,
    /// Number of changes so far, by which callers that cache values notice a change.
    changes: AtomicU64,
}

impl PersonSecrets {
    /// Creates the secrets from the list in the settings. The values stay in the keychain.
    pub fn new(keys: KeyRing, listed: &[SiteSecret]) -> Self {
        let secrets = Self { keys, secrets: RwLock::default(), changes: AtomicU64::new(0) };
        secrets.apply_list(listed);
        secrets
    }

    /// Applies the list as stored now.
    pub fn apply_list(&self, listed: &[SiteSecret]) {
        // Skip an invalid entry that another program wrote.
        let secrets = listed.iter().filter_map(|secret| parse_secret(secret).ok()).collect();
        *self.secrets.write() = secrets;
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the change counter: callers that cache values reload them when it changes.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(crate) fn find(&self, name: &SecretName) -> Option<SiteBoundSecret> {
        let secrets = self.secrets.read();
        secrets.iter().find(|secret| secret.name == *name).cloned()
    }

    /// Returns the secrets that belong to one of these sites.
    pub(crate) fn for_origins(&self, origins: &[Origin]) -> Vec<SiteBoundSecret> {
        let secrets = self.secrets.read();
        let is_bound_there = |secret: &&SiteBoundSecret| origins.iter().any(|origin| origin.is(&secret.site));
        secrets.iter().filter(is_bound_there).cloned().collect()
    }

    /// Returns the placeholders of a site's secrets, for the model.
    pub fn placeholders(&self, origin: &Origin) -> Vec<String> {
        let bound = self.for_origins(std::slice::from_ref(origin));
        bound.iter().map(|secret| secret.name.placeholder()).collect()
    }

    /// Stores a value.
    ///
    /// # Errors
    ///
    /// `browser.secret_*` for an invalid name, site or value; `key.not_saved`.
    pub async fn save(&self, name: &str, site: &str, value: Secret) -> Result<SiteSecret, ApiError> {
        let secret_name = SecretName::new(name).map_err(|_| ApiError::new("browser.secret_name"))?;
        let site: Site = site.trim().parse().map_err(|_| ApiError::new("browser.secret_site"))?;
        if !site.is_transport_private() {
            return Err(ApiError::new("browser.secret_open_site").arg("site", &site));
        }
        if value.expose().chars().count() < MIN_VALUE_CHARS || value.expose().len() > MAX_VALUE_BYTES {
            return Err(ApiError::new("browser.secret_value")
                .arg("least", MIN_VALUE_CHARS)
                .arg("most", MAX_VALUE_BYTES));
        }
        self.keys.save(owner(&secret_name), &site.to_string(), SecretKind::Key, value).await?;
        self.changes.fetch_add(1, Ordering::Relaxed);
        Ok(SiteSecret { name: secret_name.to_string(), site: site.to_string() })
    }

    /// Deletes a value from the keychain.
    ///
    /// # Errors
    ///
    /// `key.not_removed`.
    pub async fn forget(&self, secret: &SiteSecret) -> Result<(), ApiError> {
        match parse_secret(secret) {
            Ok(secret) => {
                self.keys.forget(owner(&secret.name), &secret.site.to_string(), SecretKind::Key).await
            }
            // No value was stored under it.
            Err(_) => Ok(()),
        }
    }

    /// Deletes all values from the keychain. A failure does not stop the rest.
    ///
    /// # Errors
    ///
    /// The first `key.not_removed` that occurs.
    pub async fn forget_all(&self) -> Result<(), ApiError> {
        let secrets = std::mem::take(&mut *self.secrets.write());
        let mut outcome = Ok(());
        for secret in secrets {
            let result =
                self.keys.forget(owner(&secret.name), &secret.site.to_string(), SecretKind::Key).await;
            outcome = outcome.and(result);
        }
        outcome
    }

    /// Returns all stored values, for callers that must redact them.
    ///
    /// # Errors
    ///
    /// `key.not_read`: unknown values cannot be redacted.
    pub async fn values(&self) -> Result<Vec<SecretString>, ApiError> {
        let secrets = self.secrets.read().clone();
        let mut values = Vec::new();
        for secret in secrets {
            values.extend(self.value(&secret).await?);
        }
        Ok(values)
    }

    /// Returns a secret's value, or `None` if the keychain has none.
    ///
    /// # Errors
    ///
    /// `key.not_read`.
    pub(crate) async fn value(&self, secret: &SiteBoundSecret) -> Result<Option<SecretString>, ApiError> {
        self.keys.load(owner(&secret.name), &secret.site.to_string(), SecretKind::Key).await
    }

    async fn fetch(&self, release: &SecretRelease) -> Result<SecretString, ToolError> {
        let value = self.keys.load(owner(release.name()), &release.site().to_string(), SecretKind::Key).await;
        value.ok().flatten().ok_or_else(|| {
            ToolError::new(format!(
                "The keychain has no value for {}. Nothing was typed. Ask the person to set it again in Settings, Browser, or to type it themselves.",
                release.name()
            ))
        })
    }
}

fn parse_secret(secret: &SiteSecret) -> Result<SiteBoundSecret, SecretFault> {
    let site = secret.site.parse().map_err(|_| SecretFault::OtherSite)?;
    Ok(SiteBoundSecret { name: SecretName::new(&secret.name)?, site })
}

fn owner(name: &SecretName) -> String {
    format!("secret {name}")
}

/// A text to be written: its non-secret part, which is judged, and the permissions for its secrets.
pub(crate) struct JudgedText {
    pub text: String,
    pub releases: Vec<SecretRelease>,
}

impl PersonSecrets {
    /// Decides whether the secrets in a text may be typed into a field. Without secrets, the field is not
    /// checked.
    pub(crate) fn release(
        &self,
        page: &Page,
        node_ref: &NodeRef,
        facts: Option<&ElementFacts>,
        text: &str,
    ) -> Result<JudgedText, ToolError> {
        let refusal = |cause: &dyn std::fmt::Display| {
            ToolError::new(format!(
                "Nothing was typed: {cause}. The person can type it themselves: they can take the page over."
            ))
        };
        let mut typed = JudgedText { text: String::new(), releases: Vec::new() };
        for part in split_secrets(text).map_err(|fault| refusal(&fault))? {
            let name = match part {
                TypedPart::Text(text) => {
                    typed.text.push_str(&text);
                    continue;
                }
                TypedPart::Secret(name) => name,
            };
            let page_origin = Origin::parse(&page.origin());
            let secret = self.find(&name).ok_or_else(|| {
                let available = self.placeholders(&page_origin).join(", ");
                let available = if available.is_empty() { "none".to_owned() } else { available };
                refusal(&format!("no secret is called {name}; for this site there is: {available}"))
            })?;
            let facts = facts.ok_or_else(|| refusal(&"it is not known what the field is"))?;
            let frame = Origin::parse(&node_ref.origin);
            let sends_to = match &facts.element.form {
                OwningForm::None => None,
                OwningForm::Form(form) if form.action.is_empty() => None,
                OwningForm::Form(form) => Some(Origin::parse(&form.action)),
                OwningForm::Unknown => Some(Origin::Opaque),
            };
            let target = SecretTarget {
                page: &page_origin,
                frame: &frame,
                sends_to: sends_to.as_ref(),
                field: &facts.element.field,
            };
            typed.releases.push(secret.release(&target).map_err(|fault| refusal(&fault))?);
        }
        Ok(typed)
    }
}

impl BrowserSession {
    /// Returns the act with the values of secrets in place of their names. The redactor learns each value before the
    /// page does.
    pub(crate) async fn with_secrets(
        &self,
        work: &mut BrowserWork,
        act: BrowserAct,
        assessed: &AssessedCall,
    ) -> Result<BrowserAct, ToolError> {
        if assessed.releases.is_empty() {
            return Ok(act);
        }
        let (BrowserAct::Type(_, text) | BrowserAct::Fill(_, text)) = &act else {
            return Err(ToolError::new(crate::faults::CHANGED));
        };
        let mut typed = String::new();
        let mut releases = assessed.releases.iter();
        for part in
            split_secrets(text).map_err(|fault| ToolError::new(format!("Nothing was typed: {fault}.")))?
        {
            match part {
                TypedPart::Text(text) => typed.push_str(&text),
                TypedPart::Secret(name) => {
                    let release = releases.next().filter(|release| *release.name() == name);
                    let release = release.ok_or_else(|| ToolError::new(crate::faults::CHANGED))?;
                    let value = self.0.browser.secrets().fetch(release).await?;
                    let result = work.read_texts().redactor.learn(&name, &value);
                    result.map_err(|fault| ToolError::new(format!("Nothing was typed: {fault}.")))?;
                    typed.push_str(value.expose_secret());
                }
            }
        }
        Ok(match act {
            BrowserAct::Type(node_ref, _) => BrowserAct::Type(node_ref, typed),
            BrowserAct::Fill(node_ref, _) => BrowserAct::Fill(node_ref, typed),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::KeychainState;

    #[tokio::test]
    async fn a_forgotten_secret_is_removed_from_the_keychain() {
        let keys = KeyRing::of_system(KeychainState::Unavailable);
        let secrets = PersonSecrets::new(keys.clone(), &[]);
        let mut listed = Vec::new();
        for (name, site) in [("mail", "https://mail.example"), ("shop", "https://shop.example")] {
            listed.push(secrets.save(name, site, Secret::new("long enough")).await.unwrap());
        }
        secrets.apply_list(&listed);
        let is_stored = |secret: &SiteSecret| {
            keys.holds(format!("secret {}", secret.name), &secret.site, SecretKind::Key)
        };
        assert!(listed.iter().all(is_stored));
        secrets.forget(&listed[0]).await.unwrap();
        assert!(!is_stored(&listed[0]) && is_stored(&listed[1]), "one alone");
        secrets.forget_all().await.unwrap();
        assert!(!listed.iter().any(is_stored));
        let origin = Origin::parse("https://shop.example/login");
        assert!(secrets.placeholders(&origin).is_empty(), "and the model is offered none");
    }
}
