//! Requests for access. Anyone who finds a bot can write to it; Octo answers them only with a code, and ignores
//! their messages until the person at the computer has typed that code. Typing the code, as opposed to picking
//! it from a list, is essential: an impostor with a known name still has a different code.

use octo_protocol::Millis;
use octo_store::PairingCodeRow;

/// The alphabet of codes, without characters that are easily confused.
const CODE_ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Length of a code: 40 bits, against at most five open codes.
const CODE_LENGTH: usize = 8;
/// Lifetime of a code, in milliseconds: one hour.
const CODE_LIFETIME: Millis = 60 * 60 * 1_000;
/// Minimum time between two replies to a person who is not admitted, in milliseconds.
const REPLY_INTERVAL: Millis = 60 * 1_000;
/// Maximum number of open requests: strangers must not be able to keep Octo busy.
const MAX_OPEN_CODES: usize = 5;

/// A person who asks for access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stranger {
    /// The account they write to.
    pub account: String,
    /// Their id at the service.
    pub person: String,
    /// Their display name.
    pub name: String,
}

/// The open codes, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairing(pub(crate) Vec<PairingCodeRow>);

impl Pairing {
    /// Returns the code for a person; `None` if they received it a moment ago or too many people ask. `random`
    /// is unpredictable random data.
    pub(crate) fn request_code(
        &mut self,
        stranger: Stranger,
        now: Millis,
        random: [u8; CODE_LENGTH],
    ) -> Option<String> {
        self.remove_expired(now);
        let is_theirs = |offer: &&mut PairingCodeRow| {
            offer.person == stranger.person && offer.account == stranger.account
        };
        if let Some(offer) = self.0.iter_mut().find(is_theirs) {
            if (0..REPLY_INTERVAL).contains(&now.saturating_sub(offer.sent_at)) {
                return None;
            }
            offer.sent_at = now;
            return Some(offer.code.clone());
        }
        if self.0.len() >= MAX_OPEN_CODES {
            return None;
        }
        let code: String =
            random.iter().map(|byte| char::from(CODE_ALPHABET[usize::from(byte & 31)])).collect();
        let (head, tail) = code.split_at(CODE_LENGTH / 2);
        let code = format!("{head}-{tail}");
        let Stranger { account, person, name } = stranger;
        self.0.push(PairingCodeRow {
            account,
            person,
            name,
            code: code.clone(),
            expires_at: now + CODE_LIFETIME,
            sent_at: now,
        });
        Some(code)
    }

    /// Removes and returns the person with this code, ignoring how it was typed. A code is valid once.
    pub(crate) fn redeem(&mut self, code: &str, now: Millis) -> Option<Stranger> {
        self.remove_expired(now);
        let index = self.0.iter().position(|offer| normalise(&offer.code) == normalise(code))?;
        let PairingCodeRow { account, person, name, .. } = self.0.remove(index);
        Some(Stranger { account, person, name })
    }

    /// A code from a clock that was ahead is treated like an old one.
    fn remove_expired(&mut self, now: Millis) {
        self.0.retain(|offer| (1..=CODE_LIFETIME).contains(&offer.expires_at.saturating_sub(now)));
    }
}

fn normalise(code: &str) -> String {
    code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger(person: &str) -> Stranger {
        Stranger { account: "bot".into(), person: person.into(), name: "Ada".into() }
    }

    #[test]
    fn a_code_is_good_once_for_an_hour_and_however_it_is_typed() {
        let mut pairing = Pairing::default();
        let code = pairing.request_code(stranger("1"), 0, [0, 1, 2, 3, 255, 254, 40, 41]).unwrap();
        assert_eq!(code, "ABCD-98JK");
        assert_eq!(pairing.redeem("ABCD98J", 1), None);
        assert_eq!(pairing.redeem("", 1), None);
        assert_eq!(pairing.redeem(" abcd 98jk ", 1), Some(stranger("1")));
        assert_eq!(pairing.redeem(&code, 1), None);
        let code = pairing.request_code(stranger("1"), 0, [7; CODE_LENGTH]).unwrap();
        assert_eq!(pairing.redeem(&code, CODE_LIFETIME), None);
    }

    #[test]
    fn strangers_cannot_make_octo_talk() {
        let mut pairing = Pairing::default();
        let code = pairing.request_code(stranger("1"), 0, [1; CODE_LENGTH]).unwrap();
        assert_eq!(pairing.request_code(stranger("1"), REPLY_INTERVAL - 1, [2; CODE_LENGTH]), None);
        assert_eq!(
            pairing.request_code(stranger("1"), REPLY_INTERVAL, [2; CODE_LENGTH]),
            Some(code),
            "the code stays"
        );
        for person in ["2", "3", "4", "5"] {
            let random = [person.as_bytes()[0]; CODE_LENGTH];
            assert!(pairing.request_code(stranger(person), 0, random).is_some());
        }
        assert_eq!(pairing.request_code(stranger("6"), 1, [9; CODE_LENGTH]), None);
        assert!(pairing.request_code(stranger("6"), CODE_LIFETIME, [9; CODE_LENGTH]).is_some());
    }
}
