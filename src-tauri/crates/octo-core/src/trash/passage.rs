//! How time went by, as far as that is known. A computer's clock may be a year off for a day, and what is deleted for
//! its age is gone: so the clock is believed only once time went by on it as it should, from look to look. Pure, but
//! for [`Passage::read`] and [`Passage::keep`].

use super::keep::DAY;
use octo_protocol::Millis;
use serde::{Deserialize, Serialize};
use std::{fs, io, path::Path};

/// So much between two looks is believed. More may be a long pause or a clock that is wrong: of that, this much counts.
const BELIEVED: Millis = 7 * DAY;
/// After so long in which time went by as it should the clock is believed again: two daily looks, and a little less.
const PROVEN: Millis = 20 * 60 * 60 * 1_000;

/// What is known of how time went by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Passage {
    /// The last look.
    at: Millis,
    /// Since when time has gone by as it should.
    since: Millis,
    /// Where the clock went on by more than is believed, in their order. They do not overlap.
    leaps: Vec<Leap>,
}

/// A stretch nobody saw go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Leap {
    from: Millis,
    to: Millis,
}

/// What the clock is to whoever looked at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It is believed.
    Believed,
    /// Time has not gone by for long enough since it was doubted.
    Doubted,
    /// It went on, or back, as no clock should: it is doubted from now on.
    Leapt,
}

impl Passage {
    /// A look at this moment: what is known after it, up to when things may have had their time (none where that is not
    /// known), and whether the clock is believed.
    pub(super) fn look(before: Option<&Self>, now: Millis) -> (Self, Option<Millis>, Trust) {
        let doubted = |leaps| Self { at: now, since: now, leaps };
        let Some(before) = before else {
            // How long anything has been there is not known.
            return (doubted(vec![Leap { from: 0, to: now }]), None, Trust::Doubted);
        };
        let mut leaps = before.leaps.clone();
        if now < before.at {
            // What lies ahead never was.
            leaps.iter_mut().for_each(|leap| leap.to = leap.to.min(now));
            leaps.retain(|leap| leap.to.saturating_sub(leap.from) > BELIEVED);
            return (doubted(leaps), None, Trust::Leapt);
        }
        if now.saturating_sub(before.at) > BELIEVED {
            leaps.push(Leap { from: before.at, to: now });
            // The last look is past by any clock.
            return (doubted(leaps), Some(before.at), Trust::Leapt);
        }
        let is_proven = now.saturating_sub(before.since) >= PROVEN;
        let trust = if is_proven { Trust::Believed } else { Trust::Doubted };
        (Self { at: now, since: before.since, leaps }, is_proven.then_some(now), trust)
    }

    /// From when on the age counts that something deleted at a moment has at another: what nobody saw go by makes
    /// nothing old.
    pub(super) fn counted(&self, at: Millis, until: Millis) -> Millis {
        let unseen = self.leaps.iter().map(|leap| {
            let passed = leap.to.min(until).saturating_sub(leap.from.max(at));
            passed.saturating_sub(BELIEVED).max(0)
        });
        at.saturating_add(unseen.sum::<Millis>())
    }

    /// What was kept; none where there is nothing that can be used.
    pub(super) fn read(place: &Path) -> Option<Self> {
        let text = match fs::read(place) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(%error, "when the trash was last looked through cannot be read");
                return None;
            }
        };
        serde_json::from_slice(&text)
            .inspect_err(
                |error| tracing::warn!(%error, "when the trash was last looked through is not known"),
            )
            .ok()
    }

    /// Keeps it for the next look.
    pub(super) fn keep(&self, place: &Path) -> io::Result<()> {
        if let Some(folder) = place.parent() {
            octo_workspace::private_folder(folder)?;
        }
        octo_workspace::write_private(place, &serde_json::to_vec(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Millis = DAY / 24;
    const YEAR: Millis = 365 * DAY;
    /// Some day.
    const T: Millis = 20_000 * DAY;

    /// Looks at these moments; what is known after the last, and up to when things may have had their time.
    fn looks(moments: impl IntoIterator<Item = Millis>) -> (Passage, Option<Millis>) {
        let mut known = None;
        let mut until = None;
        for now in moments {
            let (passage, had, _) = Passage::look(known.as_ref(), now);
            (known, until) = (Some(passage), had);
        }
        (known.unwrap(), until)
    }

    /// How old something is that was deleted at a moment, in days, as far as it counts; none where nothing counts.
    fn age(moments: &[Millis], at: Millis) -> Option<Millis> {
        let (passage, until) = looks(moments.iter().copied());
        until.map(|until| (until - passage.counted(at, until)).div_euclid(DAY))
    }

    #[test]
    fn time_that_goes_by_day_by_day_counts() {
        let daily: Vec<Millis> = (0..40).map(|day| T + day * DAY).collect();
        assert_eq!(age(&daily[..1], T), None, "the first look knows nothing");
        for day in 1..40_i64 {
            assert_eq!(age(&daily[..=usize::try_from(day).unwrap()], T), Some(day));
        }
        let weekly: Vec<Millis> = (0..6).map(|week| T + 7 * week * DAY).collect();
        assert_eq!(age(&weekly, T), Some(35));
    }

    #[test]
    fn a_clock_a_year_ahead_makes_nothing_a_year_old_and_set_right_it_counts_as_before() {
        let ahead = [T, T + DAY, T + YEAR];
        assert_eq!(age(&ahead, T), Some(1), "as of the last look");
        let again = [T, T + DAY, T + YEAR, T + YEAR + HOUR];
        assert_eq!(age(&again, T), None, "started again, it is as wrong as before");
        let a_day_on = [T, T + DAY, T + YEAR, T + YEAR + DAY];
        assert_eq!(age(&a_day_on, T), Some(9), "a clock that stays wrong costs a week");
        // A clock that is corrected by a second is still a year ahead.
        let corrected = [T, T + DAY, T + YEAR, T + YEAR - 1, T + YEAR + DAY];
        assert_eq!(age(&corrected, T), Some(9));
        let mut right = vec![T, T + DAY, T + YEAR, T + 2 * DAY];
        assert_eq!(age(&right, T), None);
        right.push(T + 3 * DAY);
        assert_eq!(age(&right, T), Some(3));
        assert_eq!(age(&right, T + YEAR), Some(3 - 365), "what was deleted by the wrong clock stays");
    }

    #[test]
    fn what_was_deleted_while_the_clock_was_a_year_behind_has_its_time_from_then_on() {
        let behind = T - YEAR;
        for begun in [vec![], vec![T, T + DAY]] {
            let mut moments = begun;
            moments.extend([behind, behind + DAY, T + 3 * DAY]);
            let deleted = behind + DAY + HOUR;
            assert!(age(&moments, deleted).is_none_or(|age| age < 0), "{moments:?}");
            moments.push(T + 4 * DAY);
            assert_eq!(age(&moments, deleted), Some(8), "{moments:?}");
            moments.push(T + 11 * DAY);
            assert_eq!(age(&moments, deleted), Some(15), "{moments:?}");
        }
        // In a home that had never looked.
        assert_eq!(age(&[T, T + DAY], T - YEAR), Some(8));
    }

    #[test]
    fn a_long_pause_only_delays() {
        assert_eq!(age(&[T, T + DAY, T + 22 * DAY], T), Some(1), "as of the last look");
        let back = [T, T + DAY, T + 22 * DAY, T + 23 * DAY];
        assert_eq!(age(&back, T), Some(1 + 7 + 1));
        // Somebody who comes once a month: it takes longer, and comes to its end.
        let monthly: Vec<Millis> = (0..7).map(|month| T + 30 * month * DAY).collect();
        assert!(age(&monthly, T).is_some_and(|age| age >= 30), "{:?}", age(&monthly, T));
    }
}
