//! Decides when to check for updates automatically.

use octo_protocol::{Millis, Switch, UpdateSettings};
use std::time::Duration;

/// Minimum interval between checks of the update server, in milliseconds.
const CHECK_INTERVAL: Millis = 24 * 60 * 60 * 1_000;

/// Returns the time until the next check; `None` if the person did not agree to checks.
///
/// A clock that was set back delays the next check by a day at most.
#[must_use]
pub fn until_check(settings: &UpdateSettings, now: Millis) -> Option<Duration> {
    match (settings.by_itself, settings.checked_at) {
        (Switch::Off, _) => None,
        (Switch::On, None) => Some(Duration::ZERO),
        (Switch::On, Some(checked_at)) => {
            let remaining =
                checked_at.saturating_add(CHECK_INTERVAL).saturating_sub(now).clamp(0, CHECK_INTERVAL);
            Some(Duration::from_millis(remaining.unsigned_abs()))
        }
    }
}

/// Returns whether to notify the person of a version: once for each.
#[must_use]
pub fn is_news(settings: &UpdateSettings, version: &str) -> bool {
    settings.announced.as_deref() != Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_790_000_000_000;
    const HOUR: Millis = 60 * 60 * 1_000;

    #[test]
    fn updates_are_looked_for_once_a_day_and_only_where_the_person_agreed() {
        for (by_itself, checked_at, hours) in [
            (Switch::Off, None, None),
            (Switch::Off, Some(NOW - 100 * CHECK_INTERVAL), None),
            (Switch::On, None, Some(0)),
            (Switch::On, Some(NOW - 100 * CHECK_INTERVAL), Some(0)),
            (Switch::On, Some(NOW - CHECK_INTERVAL), Some(0)),
            (Switch::On, Some(NOW - 23 * HOUR), Some(1)),
            (Switch::On, Some(NOW), Some(24)),
            (Switch::On, Some(NOW + 400 * CHECK_INTERVAL), Some(24)),
        ] {
            let settings = UpdateSettings { by_itself, checked_at, announced: None };
            let expected = hours.map(|hours: u64| Duration::from_secs(hours * 60 * 60));
            assert_eq!(until_check(&settings, NOW), expected, "{settings:?}");
        }
        assert_eq!(until_check(&UpdateSettings::default(), NOW), None, "off as Octo comes");
    }

    #[test]
    fn a_version_is_announced_once() {
        let mut settings = UpdateSettings::default();
        assert!(is_news(&settings, "1.2.0"));
        settings.announced = Some("1.2.0".to_owned());
        assert!(!is_news(&settings, "1.2.0") && is_news(&settings, "1.2.1"));
    }
}
