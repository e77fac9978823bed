//! Removes secrets from error messages.

use crate::Endpoint;
use secrecy::{ExposeSecret, SecretString};

/// Length of the shortest text that is redacted as a secret.
const MIN_SECRET: usize = 6;

/// Secrets, and the words that replace each.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// Longest first, so replacing one leaves no part of another.
    values: Vec<(SecretString, &'static str)>,
}

impl Secrets {
    /// Collects all secrets of an endpoint.
    pub(crate) fn from_endpoint(endpoint: &Endpoint) -> Self {
        let mut secrets = Self::default();
        if let Some(key) = &endpoint.key {
            secrets.add(key, "[key]");
        }
        endpoint.network.collect_secrets(&mut secrets);
        secrets
    }

    /// Adds a secret. Ignores text that is too short to be one.
    pub(crate) fn add(&mut self, secret: &SecretString, stands: &'static str) {
        let length = secret.expose_secret().len();
        if length >= MIN_SECRET {
            let position =
                self.values.iter().take_while(|(other, _)| other.expose_secret().len() > length).count();
            self.values.insert(position, (secret.clone(), stands));
        }
    }

    /// Returns the text with the secrets replaced.
    pub(crate) fn redact(&self, mut text: String) -> String {
        for (secret, stands) in &self.values {
            if text.contains(secret.expose_secret()) {
                text = text.replace(secret.expose_secret(), stands);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_secrets_are_redacted_before_shorter_ones() {
        let mut secrets = Secrets::default();
        for (secret, stands) in [("abcdef", "[1]"), ("abcdefghi", "[2]"), ("short", "[3]"), ("xyzxyz", "[4]")]
        {
            secrets.add(&SecretString::from(secret), stands);
        }
        let text = "abcdefghi abcdef short xyzxyz";
        assert_eq!(secrets.redact(text.to_owned()), "[2] [1] short [4]");
        assert!(!format!("{secrets:?}").contains("abc"));
    }
}
