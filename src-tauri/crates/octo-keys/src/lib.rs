//! Keys of models and search providers, and the values of models' headers: in the system's keychain, bound to
//! the host they were saved for.
//!
//! The binding is part of the keychain entry's name, so an address changed anywhere else (including the
//! database) finds no key: a key is only ever sent to the host it was saved for.

use keyring::Entry;
use octo_protocol::{ApiError, KeyState, KeychainState, Secret};
use parking_lot::Mutex;
use secrecy::SecretString;
use std::{collections::HashMap, fmt::Display, sync::Arc, time::Duration};

/// The keychain's service name.
const SERVICE: &str = "octo";
/// Time limit of the keychain: it may be waiting for the person to unlock it, but a daemon that hangs must not
/// hang Octo.
const KEYCHAIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit of the check by [`KeyRing::open`].
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Where keys are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStorage {
    /// In the system's keychain, or in memory if there is none.
    System,
    /// In memory only: the headless form with a key from the environment.
    Memory,
}

/// Selects one of a model's secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind<'a> {
    /// Its key.
    Key,
    /// The value of the header with this name, in lower case.
    Header(&'a str),
}

/// The storage of keys. Cheap to clone.
#[derive(Clone)]
pub struct KeyRing {
    keys: KeyStorage,
    state: KeychainState,
    memory: Arc<Mutex<HashMap<String, Secret>>>,
}

impl KeyRing {
    /// Checks whether a keychain is available.
    pub async fn open(keys: KeyStorage) -> Self {
        let state = match keys {
            KeyStorage::Memory => KeychainState::Unavailable,
            KeyStorage::System => {
                let probe =
                    blocking(PROBE_TIMEOUT, || match entry("probe").and_then(|entry| entry.get_password()) {
                        Ok(_) | Err(keyring::Error::NoEntry) => Ok(()),
                        Err(error) => Err(error),
                    });
                match probe.await {
                    Ok(()) => KeychainState::Available,
                    Err(error) => {
                        tracing::warn!(%error, "no keychain: keys are kept for this run only");
                        KeychainState::Unavailable
                    }
                }
            }
        };
        Self { keys, state, memory: Arc::default() }
    }

    /// Creates a key ring of the system whose keychain is known to be in this state.
    pub fn of_system(state: KeychainState) -> Self {
        Self { keys: KeyStorage::System, state, memory: Arc::default() }
    }

    /// Returns whether keys outlive this run: they do if the keychain is available.
    pub fn state(&self) -> KeychainState {
        self.state
    }

    /// Whether this process uses only the keys it was given, whatever the keychain contains. What it knows
    /// about a model's key then says nothing about other processes.
    pub fn is_pass_through(&self) -> bool {
        self.keys == KeyStorage::Memory
    }

    /// Whether a secret of this owner (a model, a search provider) is kept in memory for a host.
    pub fn holds(&self, owner: impl Display, host: &str, kind: SecretKind<'_>) -> bool {
        self.memory.lock().contains_key(&account(&owner, host, kind))
    }

    /// Saves a secret of an owner for a host.
    pub async fn save(
        &self,
        owner: impl Display,
        host: &str,
        kind: SecretKind<'_>,
        key: Secret,
    ) -> Result<KeyState, ApiError> {
        let account = account(&owner, host, kind);
        let last4 = last4(key.expose());
        if self.state == KeychainState::Unavailable {
            self.memory.lock().insert(account, key);
            return Ok(KeyState::ThisRun { last4 });
        }
        blocking(KEYCHAIN_TIMEOUT, move || entry(&account)?.set_password(key.expose()))
            .await
            .map(|()| KeyState::Stored { last4 })
            .map_err(|error| ApiError::new("key.not_saved").detail(error))
    }

    /// Returns the owner's secret saved for a host, or `None`.
    pub async fn load(
        &self,
        owner: impl Display,
        host: &str,
        kind: SecretKind<'_>,
    ) -> Result<Option<SecretString>, ApiError> {
        let account = account(&owner, host, kind);
        let cached = self.memory.lock().get(&account).cloned();
        if let Some(key) = cached {
            return Ok(Some(SecretString::from(key.expose().to_owned())));
        }
        if self.state == KeychainState::Unavailable {
            return Ok(None);
        }
        let read = blocking(KEYCHAIN_TIMEOUT, move || match entry(&account)?.get_password() {
            Ok(key) => Ok(Some(SecretString::from(key))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        });
        read.await.map_err(|error| ApiError::new("key.not_read").detail(error))
    }

    /// Forgets the owner's secret saved for a host. A missing secret is not an error.
    pub async fn forget(
        &self,
        owner: impl Display,
        host: &str,
        kind: SecretKind<'_>,
    ) -> Result<(), ApiError> {
        let account = account(&owner, host, kind);
        self.memory.lock().remove(&account);
        if self.state == KeychainState::Unavailable {
            return Ok(());
        }
        let removal = blocking(KEYCHAIN_TIMEOUT, move || match entry(&account)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(error),
        });
        removal.await.map_err(|error| ApiError::new("key.not_removed").detail(error))
    }
}

/// Returns a unique account name: hosts, owners and names of headers contain no space.
fn account(owner: &impl Display, host: &str, kind: SecretKind<'_>) -> String {
    match kind {
        SecretKind::Key => format!("{host} {owner}"),
        SecretKind::Header(name) => format!("{host} {owner} {name}"),
    }
}

fn entry(account: &str) -> keyring::Result<Entry> {
    Entry::new(SERVICE, account)
}

/// Returns the last four characters, or fewer if the key is so short that four would give it away.
fn last4(key: &str) -> String {
    let count = key.chars().count();
    let visible = 4.min(count / 4);
    key.chars().skip(count - visible).collect()
}

#[derive(Debug, thiserror::Error)]
enum KeychainError {
    #[error("{0}")]
    Keychain(keyring::Error),
    #[error("the keychain did not answer in time")]
    TimedOut,
    #[error("the keychain's thread ended")]
    ThreadEnded,
}

/// Runs work of the keychain on a thread that may block, for at most `timeout`.
async fn blocking<T: Send + 'static>(
    timeout: Duration,
    work: impl FnOnce() -> keyring::Result<T> + Send + 'static,
) -> Result<T, KeychainError> {
    match tokio::time::timeout(timeout, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(result)) => result.map_err(KeychainError::Keychain),
        Ok(Err(_)) => Err(KeychainError::ThreadEnded),
        Err(_) => Err(KeychainError::TimedOut),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::ModelId;

    #[tokio::test]
    async fn a_key_is_found_only_for_its_host() {
        let ring = KeyRing::open(KeyStorage::Memory).await;
        let model = ModelId::new();
        let state = ring
            .save(model, "https://a.example", SecretKind::Key, Secret::new("sk-1234567890abcdef"))
            .await
            .unwrap();
        assert_eq!(state, KeyState::ThisRun { last4: "cdef".into() });
        assert!(ring.load(model, "https://a.example", SecretKind::Key).await.unwrap().is_some());
        assert!(ring.load(model, "https://b.example", SecretKind::Key).await.unwrap().is_none());
        assert!(ring.load(ModelId::new(), "https://a.example", SecretKind::Key).await.unwrap().is_none());
        let header = SecretKind::Header("x-a");
        assert!(ring.load(model, "https://a.example", header).await.unwrap().is_none());
        ring.save(model, "https://a.example", header, Secret::new("another secret")).await.unwrap();
        ring.forget(model, "https://a.example", SecretKind::Key).await.unwrap();
        assert!(ring.load(model, "https://a.example", SecretKind::Key).await.unwrap().is_none());
        assert!(ring.holds(model, "https://a.example", header), "a header's value is a secret of its own");
    }

    #[test]
    fn a_short_key_is_not_given_away_by_its_last_characters() {
        assert_eq!(last4("abc"), "");
        assert_eq!(last4("abcdefgh"), "gh");
        assert_eq!(last4("sk-1234567890"), "890");
        assert_eq!(last4("sk-12345678901234"), "1234");
    }

    /// Under other names the keys that people saved would not be found.
    #[tokio::test]
    async fn the_account_names_in_the_keychain_are_frozen() {
        assert_eq!(SERVICE, "octo");
        let ring = KeyRing::open(KeyStorage::Memory).await;
        let model: ModelId = "01a2006a99bc75c38d7f63aaf76189c2".parse().unwrap();
        let key = || Secret::new("sk-1234567890abcdef");
        ring.save(model, "https://a.example", SecretKind::Key, key()).await.unwrap();
        ring.save(model, "https://a.example", SecretKind::Header("x-tenant"), key()).await.unwrap();
        for (owner, host) in [
            ("search", "https://api.tavily.com"),
            ("telegram", "https://api.telegram.org"),
            ("secret nest", "https://marsh.example"),
        ] {
            ring.save(owner, host, SecretKind::Key, key()).await.unwrap();
        }
        let mut accounts: Vec<String> = ring.memory.lock().keys().cloned().collect();
        accounts.sort();
        assert_eq!(
            accounts,
            [
                "https://a.example 01a2006a99bc75c38d7f63aaf76189c2",
                "https://a.example 01a2006a99bc75c38d7f63aaf76189c2 x-tenant",
                "https://api.tavily.com search",
                "https://api.telegram.org telegram",
                "https://marsh.example secret nest",
            ]
        );
    }
}
