//! Secrets the model types by name. It never has a value: it writes `{{secret:NAME}}`, and what is typed in its place is
//! fetched from the keychain at the last moment, for the one site the person bound it to.

use super::{Seat, weigh::Found};
use crate::{
    browsing::{facts::Facts, seat::Work},
    keys::{KeyRing, Slot},
};
use octo_browser::{
    Act, Page,
    safety::{
        BoundSecret, InForm, Origin, Piece, Release, SecretFault, SecretName, SecretTarget, Site, pieces,
    },
    snapshot::Place,
};
use octo_protocol::{ApiError, Secret, SiteSecret};
use octo_tools::ToolError;
use secrecy::{ExposeSecret as _, SecretString};
use std::sync::{
    PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

/// The shortest value that is kept: shorter ones could not be taken out of what is read (see
/// [`octo_browser::safety::Redactor`]).
const SHORTEST: usize = 4;
/// The longest value that is kept, in bytes: longer ones are no password, and keychains have limits.
const LONGEST: usize = 1_024;

/// The secrets of the person, by name.
pub(crate) struct Secrets {
    keys: KeyRing,
    known: RwLock<Vec<BoundSecret>>,
    /// How often something about them changed.
    changes: AtomicU64,
}

impl Secrets {
    pub fn new(keys: KeyRing, listed: &[SiteSecret]) -> Self {
        let secrets = Self { keys, known: RwLock::default(), changes: AtomicU64::new(0) };
        secrets.follow(listed);
        secrets
    }

    /// Takes the list into use as it is stored now.
    pub fn follow(&self, listed: &[SiteSecret]) {
        // One that somebody else wrote there and that is none stays unknown.
        let known = listed.iter().filter_map(|secret| read(secret).ok()).collect();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// How often something about them changed: whoever knows values asks for them again then.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(super) fn named(&self, name: &SecretName) -> Option<BoundSecret> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|secret| secret.name == *name).cloned()
    }

    /// Those that belong to one of these sites.
    pub(super) fn bound_to(&self, origins: &[Origin]) -> Vec<BoundSecret> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let is_there = |secret: &&BoundSecret| origins.iter().any(|origin| origin.is(&secret.site));
        known.iter().filter(is_there).cloned().collect()
    }

    /// What stands for the secrets of a site, for the model.
    pub fn at(&self, origin: &Origin) -> Vec<String> {
        let here = self.bound_to(std::slice::from_ref(origin));
        here.iter().map(|secret| secret.name.placeholder()).collect()
    }

    /// Puts a value away.
    ///
    /// # Errors
    /// `browser.secret_*` for a name, site or value that cannot be kept; `key.not_saved`.
    pub async fn save(&self, name: &str, site: &str, value: Secret) -> Result<SiteSecret, ApiError> {
        let named = SecretName::new(name).map_err(|_| ApiError::new("browser.secret_name"))?;
        let site: Site = site.trim().parse().map_err(|_| ApiError::new("browser.secret_site"))?;
        if !site.is_private_on_the_way() {
            return Err(ApiError::new("browser.secret_open_site").arg("site", &site));
        }
        if value.expose().chars().count() < SHORTEST || value.expose().len() > LONGEST {
            return Err(ApiError::new("browser.secret_value").arg("least", SHORTEST).arg("most", LONGEST));
        }
        self.keys.save(owner(&named), &site.to_string(), Slot::Key, value).await?;
        self.changes.fetch_add(1, Ordering::Relaxed);
        Ok(SiteSecret { name: named.to_string(), site: site.to_string() })
    }

    /// Takes a value out of the keychain.
    ///
    /// # Errors
    /// `key.not_removed`.
    pub async fn forget(&self, secret: &SiteSecret) -> Result<(), ApiError> {
        match read(secret) {
            Ok(secret) => self.keys.forget(owner(&secret.name), &secret.site.to_string(), Slot::Key).await,
            // Nothing was ever kept under it.
            Err(_) => Ok(()),
        }
    }

    /// Takes all values out of the keychain. One it refuses keeps none of the others back.
    ///
    /// # Errors
    /// The first of `key.not_removed`.
    pub async fn forget_all(&self) -> Result<(), ApiError> {
        let known = std::mem::take(&mut *self.known.write().unwrap_or_else(PoisonError::into_inner));
        let mut outcome = Ok(());
        for secret in known {
            let forgotten = self.keys.forget(owner(&secret.name), &secret.site.to_string(), Slot::Key).await;
            outcome = outcome.and(forgotten);
        }
        outcome
    }

    /// All values there are, for whoever must leave them out.
    ///
    /// # Errors
    /// `key.not_read`: who cannot know the values cannot leave them out.
    pub async fn values(&self) -> Result<Vec<SecretString>, ApiError> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut values = Vec::new();
        for secret in known {
            values.extend(self.value(&secret).await?);
        }
        Ok(values)
    }

    /// The value of one; none where the keychain has none.
    ///
    /// # Errors
    /// `key.not_read`.
    pub(super) async fn value(&self, secret: &BoundSecret) -> Result<Option<SecretString>, ApiError> {
        self.keys.load(owner(&secret.name), &secret.site.to_string(), Slot::Key).await
    }

    async fn fetch(&self, release: &Release) -> Result<SecretString, ToolError> {
        let value = self.keys.load(owner(release.name()), &release.site().to_string(), Slot::Key).await;
        value.ok().flatten().ok_or_else(|| {
            ToolError::new(format!(
                "The keychain has no value for {}. Nothing was typed. Ask the person to set it again in Settings, Browser, or to type it themselves.",
                release.name()
            ))
        })
    }
}

fn read(secret: &SiteSecret) -> Result<BoundSecret, SecretFault> {
    let site = secret.site.parse().map_err(|_| SecretFault::OtherSite)?;
    Ok(BoundSecret { name: SecretName::new(&secret.name)?, site })
}

fn owner(name: &SecretName) -> String {
    format!("secret {name}")
}

/// A text to be written: what is no secret of it, which is judged, and leave for those that are.
pub(super) struct Plain {
    pub text: String,
    pub releases: Vec<Release>,
}

impl Secrets {
    /// Whether the secrets in a text may be typed into a field. Without any, nothing is asked of it.
    pub(super) fn release(
        &self,
        page: &Page,
        place: &Place,
        facts: Option<&Facts>,
        text: &str,
    ) -> Result<Plain, ToolError> {
        let refused = |why: &dyn std::fmt::Display| {
            ToolError::new(format!(
                "Nothing was typed: {why}. The person can type it themselves: they can take the page over."
            ))
        };
        let mut plain = Plain { text: String::new(), releases: Vec::new() };
        for piece in pieces(text).map_err(|fault| refused(&fault))? {
            let name = match piece {
                Piece::Text(text) => {
                    plain.text.push_str(&text);
                    continue;
                }
                Piece::Secret(name) => name,
            };
            let main = Origin::read(&page.origin());
            let secret = self.named(&name).ok_or_else(|| {
                let here = self.at(&main).join(", ");
                let here = if here.is_empty() { "none".to_owned() } else { here };
                refused(&format!("no secret is called {name}; for this site there is: {here}"))
            })?;
            let facts = facts.ok_or_else(|| refused(&"it is not known what the field is"))?;
            let frame = Origin::read(&place.origin);
            let sends_to = match &facts.element.form {
                InForm::None => None,
                InForm::Form(form) if form.action.is_empty() => None,
                InForm::Form(form) => Some(Origin::read(&form.action)),
                InForm::Unknown => Some(Origin::Opaque),
            };
            let target = SecretTarget {
                page: &main,
                frame: &frame,
                sends_to: sends_to.as_ref(),
                field: &facts.element.field,
            };
            plain.releases.push(secret.release(&target).map_err(|fault| refused(&fault))?);
        }
        Ok(plain)
    }
}

impl Seat {
    /// The act with the values in place of the names. What reads the page knows of each before the page does.
    pub(super) async fn with_secrets(
        &self,
        work: &mut Work,
        act: Act,
        found: &Found,
    ) -> Result<Act, ToolError> {
        if found.releases.is_empty() {
            return Ok(act);
        }
        let (Act::Type(_, text) | Act::Fill(_, text)) = &act else {
            return Err(ToolError::new(super::faults::CHANGED));
        };
        let mut typed = String::new();
        let mut releases = found.releases.iter();
        for piece in pieces(text).map_err(|fault| ToolError::new(format!("Nothing was typed: {fault}.")))? {
            match piece {
                Piece::Text(text) => typed.push_str(&text),
                Piece::Secret(name) => {
                    let release = releases.next().filter(|release| *release.name() == name);
                    let release = release.ok_or_else(|| ToolError::new(super::faults::CHANGED))?;
                    let value = self.0.browser.secrets().fetch(release).await?;
                    let learnt = work.read().redactor.learn(&name, &value);
                    learnt.map_err(|fault| ToolError::new(format!("Nothing was typed: {fault}.")))?;
                    typed.push_str(value.expose_secret());
                }
            }
        }
        Ok(match act {
            Act::Type(place, _) => Act::Type(place, typed),
            Act::Fill(place, _) => Act::Fill(place, typed),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_forgotten_is_in_no_keychain_any_more() {
        let keys = KeyRing::without_keychain();
        let secrets = Secrets::new(keys.clone(), &[]);
        let mut listed = Vec::new();
        for (name, site) in [("mail", "https://mail.example"), ("shop", "https://shop.example")] {
            listed.push(secrets.save(name, site, Secret::new("long enough")).await.unwrap());
        }
        secrets.follow(&listed);
        let held =
            |secret: &SiteSecret| keys.holds(format!("secret {}", secret.name), &secret.site, Slot::Key);
        assert!(listed.iter().all(held));
        secrets.forget(&listed[0]).await.unwrap();
        assert!(!held(&listed[0]) && held(&listed[1]), "one alone");
        secrets.forget_all().await.unwrap();
        assert!(!listed.iter().any(held));
        let here = Origin::read("https://shop.example/login");
        assert!(secrets.at(&here).is_empty(), "and the model is offered none");
    }
}
