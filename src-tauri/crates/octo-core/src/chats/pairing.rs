//! Who asks to be let in. Anybody who finds a bot can write to it; Octo answers them with a code and nothing else, and
//! hears them once the person at the computer typed that code. That the code is typed, not picked from a list, is the
//! point: whoever calls themselves by a known name still has another code.

use octo_protocol::Millis;
use octo_store::OfferRow;

/// What codes are made of: nothing that is mistaken for something else.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// How long a code is: 40 bits, against five that are open at a time.
const LENGTH: usize = 8;
/// How long a code is good for, in milliseconds: one hour.
const LIFE: Millis = 60 * 60 * 1_000;
/// The shortest between two answers to somebody who is not let in, in milliseconds.
const BETWEEN: Millis = 60 * 1_000;
/// The most who are answered at a time: strangers must not be able to make Octo busy.
const MOST: usize = 5;

/// Somebody who asks to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stranger {
    /// The account they write to.
    pub account: String,
    /// The service's id of them.
    pub person: String,
    /// What they call themselves.
    pub name: String,
}

/// The codes that are open, as the store has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairing(pub(crate) Vec<OfferRow>);

impl Pairing {
    /// The code to tell somebody; none where they were told a moment ago, and where too many ask. `chance` are bytes
    /// nobody can guess.
    pub(crate) fn ask(&mut self, stranger: Stranger, now: Millis, chance: [u8; LENGTH]) -> Option<String> {
        self.forget_old(now);
        let is_theirs =
            |offer: &&mut OfferRow| offer.person == stranger.person && offer.account == stranger.account;
        if let Some(offer) = self.0.iter_mut().find(is_theirs) {
            if (0..BETWEEN).contains(&now.saturating_sub(offer.said_at)) {
                return None;
            }
            offer.said_at = now;
            return Some(offer.code.clone());
        }
        if self.0.len() >= MOST {
            return None;
        }
        let code: String = chance.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)])).collect();
        let (first, last) = code.split_at(LENGTH / 2);
        let code = format!("{first}-{last}");
        let Stranger { account, person, name } = stranger;
        self.0.push(OfferRow { account, person, name, code: code.clone(), until: now + LIFE, said_at: now });
        Some(code)
    }

    /// Whoever was told this code, however it was typed. It is good once.
    pub(crate) fn take(&mut self, typed: &str, now: Millis) -> Option<Stranger> {
        self.forget_old(now);
        let place = self.0.iter().position(|offer| plain(&offer.code) == plain(typed))?;
        let OfferRow { account, person, name, .. } = self.0.remove(place);
        Some(Stranger { account, person, name })
    }

    /// One of a clock that was ahead is no better than an old one.
    fn forget_old(&mut self, now: Millis) {
        self.0.retain(|offer| (1..=LIFE).contains(&offer.until.saturating_sub(now)));
    }
}

fn plain(code: &str) -> String {
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
        let code = pairing.ask(stranger("1"), 0, [0, 1, 2, 3, 255, 254, 40, 41]).unwrap();
        assert_eq!(code, "ABCD-98JK");
        assert_eq!(pairing.take("ABCD98J", 1), None);
        assert_eq!(pairing.take("", 1), None);
        assert_eq!(pairing.take(" abcd 98jk ", 1), Some(stranger("1")));
        assert_eq!(pairing.take(&code, 1), None);
        let code = pairing.ask(stranger("1"), 0, [7; LENGTH]).unwrap();
        assert_eq!(pairing.take(&code, LIFE), None);
    }

    #[test]
    fn strangers_cannot_make_octo_talk() {
        let mut pairing = Pairing::default();
        let code = pairing.ask(stranger("1"), 0, [1; LENGTH]).unwrap();
        assert_eq!(pairing.ask(stranger("1"), BETWEEN - 1, [2; LENGTH]), None);
        assert_eq!(pairing.ask(stranger("1"), BETWEEN, [2; LENGTH]), Some(code), "the code stays");
        for person in ["2", "3", "4", "5"] {
            let chance = [person.as_bytes()[0]; LENGTH];
            assert!(pairing.ask(stranger(person), 0, chance).is_some());
        }
        assert_eq!(pairing.ask(stranger("6"), 1, [9; LENGTH]), None);
        assert!(pairing.ask(stranger("6"), LIFE, [9; LENGTH]).is_some());
    }
}
