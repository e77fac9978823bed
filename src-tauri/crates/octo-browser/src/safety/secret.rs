//! Named secrets: the model types a name, and Octo types the value from the person's keychain instead, but only
//! at the site to which the secret belongs.

use super::{
    field::{FieldFacts, SensitiveData},
    site::{Origin, Site},
};
use std::fmt;

/// Start of a secret placeholder: `{{secret:NAME}}`.
const PLACEHOLDER_START: &str = "{{secret:";
const PLACEHOLDER_END: &str = "}}";
/// Maximum length of a name.
const MAX_NAME: usize = 64;

/// The name of a secret: letters, digits, `_`, `-` and `.`, starting with a letter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

impl SecretName {
    /// Parses a name.
    ///
    /// # Errors
    ///
    /// [`SecretFault::Name`] if it is invalid.
    pub fn new(name: &str) -> Result<Self, SecretFault> {
        let starts_with_letter = name.starts_with(|first: char| first.is_ascii_alphabetic());
        let is_allowed =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.');
        if starts_with_letter && name.len() <= MAX_NAME && name.chars().all(is_allowed) {
            Ok(Self(name.to_owned()))
        } else {
            Err(SecretFault::Name)
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the placeholder that the model types and reads for the secret.
    pub fn placeholder(&self) -> String {
        format!("{PLACEHOLDER_START}{}{PLACEHOLDER_END}", self.0)
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A part of a text that the model wants typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedPart {
    /// Literal text.
    Text(String),
    /// The value of this secret.
    Secret(SecretName),
}

/// The reason why a secret is not typed. The messages are for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SecretFault {
    /// The name is missing or invalid, or the placeholder is not closed.
    #[error("a secret is written {{{{secret:NAME}}}}, the name of letters, digits, _, - and .")]
    Name,
    /// It belongs to another site.
    #[error("that secret belongs to another site")]
    OtherSite,
    /// The field is in a cross-site frame.
    #[error("the field is in a frame of another site")]
    OtherFrame,
    /// The form would send it to another or unknown site.
    #[error("the form would send it to another site")]
    OtherTarget,
    /// The page is unencrypted, so its traffic could be intercepted.
    #[error("the page is not encrypted")]
    NotEncrypted,
    /// The field displays typed text.
    #[error("the field is not one for a password, a code or a card")]
    VisibleField,
    /// The value is too short to be redacted reliably.
    #[error("the secret is too short to be kept out of what is read; the person can type it")]
    TooShort,
}

/// Splits a text for typing into literals and secrets.
///
/// # Errors
///
/// [`SecretFault::Name`] for an invalid placeholder: it is not typed literally.
pub fn split_secrets(text: &str) -> Result<Vec<TypedPart>, SecretFault> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(PLACEHOLDER_START) {
        let (name, after) = after.split_once(PLACEHOLDER_END).ok_or(SecretFault::Name)?;
        if !before.is_empty() {
            parts.push(TypedPart::Text(before.to_owned()));
        }
        parts.push(TypedPart::Secret(SecretName::new(name)?));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(TypedPart::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// A secret as the person configured it: its name and the one site it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteBoundSecret {
    /// Its name.
    pub name: SecretName,
    /// The site it may be typed at.
    pub site: Site,
}

/// The place where a secret is about to be typed, as the browser reports it at that moment.
#[derive(Clone, Debug)]
pub struct SecretTarget<'a> {
    /// The origin of the tab's main frame.
    pub page: &'a Origin,
    /// The origin of the frame the field is in.
    pub frame: &'a Origin,
    /// The target of the field's form; `None` without a form or without an address of its own.
    pub sends_to: Option<&'a Origin>,
    /// The field.
    pub field: &'a FieldFacts,
}

/// Permission to fetch one secret and type it now. Only [`SiteBoundSecret::release`] makes one.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct SecretRelease {
    name: SecretName,
    site: Site,
}

impl SecretRelease {
    /// Returns the name of the secret to fetch.
    pub fn name(&self) -> &SecretName {
        &self.name
    }

    /// Returns the site it is bound to.
    pub fn site(&self) -> &Site {
        &self.site
    }
}

impl SiteBoundSecret {
    /// Decides whether the secret may be typed at a target.
    ///
    /// # Errors
    ///
    /// The reason for a refusal.
    pub fn release(&self, target: &SecretTarget<'_>) -> Result<SecretRelease, SecretFault> {
        if !target.page.is(&self.site) {
            return Err(SecretFault::OtherSite);
        }
        if !target.frame.is(&self.site) {
            return Err(SecretFault::OtherFrame);
        }
        if target.sends_to.is_some_and(|origin| !origin.is(&self.site)) {
            return Err(SecretFault::OtherTarget);
        }
        if !self.site.is_transport_private() {
            return Err(SecretFault::NotEncrypted);
        }
        match target.field.sensitive() {
            Some(SensitiveData::Password | SensitiveData::Code | SensitiveData::Payment) => {
                Ok(SecretRelease { name: self.name.clone(), site: self.site.clone() })
            }
            Some(SensitiveData::Identity) | None => Err(SecretFault::VisibleField),
        }
    }
}
