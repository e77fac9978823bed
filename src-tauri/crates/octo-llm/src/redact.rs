//! What must not leave with an error.

use crate::Endpoint;
use secrecy::{ExposeSecret, SecretString};

/// The shortest text that is taken out of messages as a secret.
const SHORTEST: usize = 6;

/// Secrets, and the words that stand for each.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// Longest first, so that no part of one is left over by another.
    known: Vec<(SecretString, &'static str)>,
}

impl Secrets {
    /// All an endpoint holds.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let mut secrets = Self::default();
        if let Some(key) = &endpoint.key {
            secrets.learn(key, "[key]");
        }
        endpoint.network.secrets(&mut secrets);
        secrets
    }

    /// Learns a secret. One too short to be one is passed over.
    pub(crate) fn learn(&mut self, secret: &SecretString, stands: &'static str) {
        let length = secret.expose_secret().len();
        if length >= SHORTEST {
            let place =
                self.known.iter().take_while(|(known, _)| known.expose_secret().len() > length).count();
            self.known.insert(place, (secret.clone(), stands));
        }
    }

    /// The text without them.
    pub(crate) fn hide(&self, mut text: String) -> String {
        for (secret, stands) in &self.known {
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
    fn nothing_of_a_secret_is_left_over_by_a_shorter_one() {
        let mut secrets = Secrets::default();
        for (secret, stands) in [("abcdef", "[1]"), ("abcdefghi", "[2]"), ("short", "[3]"), ("xyzxyz", "[4]")]
        {
            secrets.learn(&SecretString::from(secret), stands);
        }
        let text = "abcdefghi abcdef short xyzxyz";
        assert_eq!(secrets.hide(text.to_owned()), "[2] [1] short [4]");
        assert!(!format!("{secrets:?}").contains("abc"));
    }
}
