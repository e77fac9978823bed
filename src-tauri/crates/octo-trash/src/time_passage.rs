//! The time that is known to have passed. A computer's clock may be a year off for a day, and deletion because of
//! age is permanent. The clock is therefore trusted only after it has advanced as expected from check to check; a
//! check searches the trash for expired entries. Only [`TimePassage::read`] and [`TimePassage::write`] have side
//! effects.

use crate::expiry::DAY;
use octo_protocol::Millis;
use serde::{Deserialize, Serialize};
use std::{fs, io, path::Path};

/// Maximum trusted time between two checks. A longer time may be a pause or a wrong clock; only this part of it
/// counts.
const MAX_TRUSTED: Millis = 7 * DAY;
/// Time for which the clock must advance as expected until it is trusted again: the distance of two daily
/// checks, minus a margin.
const TRUST_AFTER: Millis = 20 * 60 * 60 * 1_000;

/// The known passage of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimePassage {
    /// The time of the last check.
    at: Millis,
    /// The time since which the clock has advanced as expected.
    since: Millis,
    /// The periods in which the clock advanced by more than the trusted time, in order. They do not overlap.
    #[serde(rename = "leaps")]
    jumps: Vec<ClockJump>,
}

/// A period between two checks that is longer than the trusted time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ClockJump {
    from: Millis,
    to: Millis,
}

/// The trust in the clock at a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockTrust {
    /// It is trusted.
    Trusted,
    /// It has not advanced as expected for long enough.
    Untrusted,
    /// It jumped forward or back, so it is not trusted from now on.
    Jumped,
}

impl TimePassage {
    /// Evaluates a check at this moment. Returns the resulting knowledge, the time up to which entries may
    /// expire (`None` if unknown), and whether the clock is trusted.
    pub(crate) fn evaluate(previous: Option<&Self>, now: Millis) -> (Self, Option<Millis>, ClockTrust) {
        let untrusted = |jumps| Self { at: now, since: now, jumps };
        let Some(previous) = previous else {
            // The age of every entry is unknown.
            return (untrusted(vec![ClockJump { from: 0, to: now }]), None, ClockTrust::Untrusted);
        };
        let mut jumps = previous.jumps.clone();
        if now < previous.at {
            // Time after `now` has not passed.
            jumps.iter_mut().for_each(|jump| jump.to = jump.to.min(now));
            jumps.retain(|jump| jump.to.saturating_sub(jump.from) > MAX_TRUSTED);
            return (untrusted(jumps), None, ClockTrust::Jumped);
        }
        if now.saturating_sub(previous.at) > MAX_TRUSTED {
            jumps.push(ClockJump { from: previous.at, to: now });
            // Whichever clock is right, the last check is in the past.
            return (untrusted(jumps), Some(previous.at), ClockTrust::Jumped);
        }
        let is_proven = now.saturating_sub(previous.since) >= TRUST_AFTER;
        let trust = if is_proven { ClockTrust::Trusted } else { ClockTrust::Untrusted };
        (Self { at: now, since: previous.since, jumps }, is_proven.then_some(now), trust)
    }

    /// Returns the moment from which the age at `trusted_until` of something deleted at `time` counts: `time` plus
    /// the untrusted time.
    pub(crate) fn effective_time(&self, time: Millis, trusted_until: Millis) -> Millis {
        let untrusted_times = self.jumps.iter().map(|jump| {
            let elapsed = jump.to.min(trusted_until).saturating_sub(jump.from.max(time));
            elapsed.saturating_sub(MAX_TRUSTED).max(0)
        });
        time.saturating_add(untrusted_times.sum::<Millis>())
    }

    /// Reads the stored state; `None` if there is no usable one.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(%error, "the time of the last check of the trash cannot be read");
                return None;
            }
        };
        serde_json::from_slice(&text)
            .inspect_err(
                |error| tracing::warn!(%error, "the stored time of the last check of the trash is invalid"),
            )
            .ok()
    }

    /// Stores it for the next check.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            octo_workspace::private_folder(folder)?;
        }
        octo_workspace::write_private(path, &serde_json::to_vec(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Millis = DAY / 24;
    const YEAR: Millis = 365 * DAY;
    /// An arbitrary day.
    const T: Millis = 20_000 * DAY;

    /// Makes checks at these moments. Returns the last result, and the time up to which entries may expire.
    fn run_checks(moments: impl IntoIterator<Item = Millis>) -> (TimePassage, Option<Millis>) {
        let mut previous = None;
        let mut trusted_until = None;
        for now in moments {
            let (passage, until, _) = TimePassage::evaluate(previous.as_ref(), now);
            (previous, trusted_until) = (Some(passage), until);
        }
        (previous.unwrap(), trusted_until)
    }

    /// Returns the counted age in days of something deleted at `time`, or `None` if nothing counts.
    fn age(moments: &[Millis], time: Millis) -> Option<Millis> {
        let (passage, trusted_until) = run_checks(moments.iter().copied());
        trusted_until.map(|trusted_until| {
            (trusted_until - passage.effective_time(time, trusted_until)).div_euclid(DAY)
        })
    }

    #[test]
    fn time_that_passes_day_by_day_counts() {
        let daily: Vec<Millis> = (0..40).map(|day| T + day * DAY).collect();
        assert_eq!(age(&daily[..1], T), None, "the first check knows nothing");
        for day in 1..40_i64 {
            assert_eq!(age(&daily[..=usize::try_from(day).unwrap()], T), Some(day));
        }
        let weekly: Vec<Millis> = (0..6).map(|week| T + 7 * week * DAY).collect();
        assert_eq!(age(&weekly, T), Some(35));
    }

    #[test]
    fn a_clock_a_year_ahead_ages_nothing_and_its_correction_changes_nothing() {
        let ahead = [T, T + DAY, T + YEAR];
        assert_eq!(age(&ahead, T), Some(1), "as of the last check");
        let moments = [T, T + DAY, T + YEAR, T + YEAR + HOUR];
        assert_eq!(age(&moments, T), None, "the clock is still untrusted");
        let a_day_on = [T, T + DAY, T + YEAR, T + YEAR + DAY];
        assert_eq!(age(&a_day_on, T), Some(9), "a clock that stays wrong costs a week");
        // A clock corrected by a second is still a year ahead.
        let corrected = [T, T + DAY, T + YEAR, T + YEAR - 1, T + YEAR + DAY];
        assert_eq!(age(&corrected, T), Some(9));
        let mut right = vec![T, T + DAY, T + YEAR, T + 2 * DAY];
        assert_eq!(age(&right, T), None);
        right.push(T + 3 * DAY);
        assert_eq!(age(&right, T), Some(3));
        assert_eq!(age(&right, T + YEAR), Some(3 - 365), "an entry deleted while the clock was wrong stays");
    }

    #[test]
    fn entries_deleted_while_the_clock_was_behind_age_from_the_correction() {
        let a_year_behind = T - YEAR;
        for first_moments in [vec![], vec![T, T + DAY]] {
            let mut moments = first_moments;
            moments.extend([a_year_behind, a_year_behind + DAY, T + 3 * DAY]);
            let deleted = a_year_behind + DAY + HOUR;
            assert!(age(&moments, deleted).is_none_or(|age| age < 0), "{moments:?}");
            moments.push(T + 4 * DAY);
            assert_eq!(age(&moments, deleted), Some(8), "{moments:?}");
            moments.push(T + 11 * DAY);
            assert_eq!(age(&moments, deleted), Some(15), "{moments:?}");
        }
        // In a home without an earlier check.
        assert_eq!(age(&[T, T + DAY], T - YEAR), Some(8));
    }

    #[test]
    fn a_long_pause_only_delays() {
        assert_eq!(age(&[T, T + DAY, T + 22 * DAY], T), Some(1), "as of the last check");
        let moments = [T, T + DAY, T + 22 * DAY, T + 23 * DAY];
        assert_eq!(age(&moments, T), Some(1 + 7 + 1));
        // A person who opens Octo once a month: expiry takes longer, but still happens.
        let monthly: Vec<Millis> = (0..7).map(|month| T + 30 * month * DAY).collect();
        assert!(age(&monthly, T).is_some_and(|age| age >= 30), "{:?}", age(&monthly, T));
    }
}
