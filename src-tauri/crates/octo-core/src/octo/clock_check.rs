//! A clock that is behind earlier work in this home or far ahead of it. It is reported at the start, because
//! nothing else explains why lists and plans look different.

use jiff::{Timestamp, tz::TimeZone};
use octo_protocol::{ApiError, Millis};
use octo_store::Store;

/// How far behind a clock may be before it is reported: travellers and manually set clocks are off by hours.
const MAX_BEHIND: Millis = 24 * 60 * 60 * 1_000;

/// How far ahead a clock may be before it is reported: Octo is seldom left alone for so long, and a clock that
/// lost power or was set manually is off by whole years.
const MAX_AHEAD: Millis = 300 * MAX_BEHIND;

/// Returns the remark on a clock that may be wrong now, or was when the newest session was stored.
pub(super) async fn clock_remark(store: &Store) -> Result<Option<ApiError>, ApiError> {
    let newest = store.read(|reader| reader.newest_change()).await?;
    Ok(newest.and_then(|newest| remark_for(newest, Timestamp::now().as_millisecond(), &TimeZone::system())))
}

fn remark_for(newest: Millis, now: Millis, zone: &TimeZone) -> Option<ApiError> {
    let key = match newest.saturating_sub(now) {
        MAX_BEHIND.. => "start.clock_behind",
        difference if difference <= -MAX_AHEAD => "start.clock_ahead",
        _ => return None,
    };
    let date =
        |time| Timestamp::from_millisecond(time).map(|time| time.to_zoned(zone.clone()).date().to_string());
    let (newest, now) = (date(newest).ok()?, date(now).ok()?);
    tracing::warn!(newest, now, key, "the clock is not what was stored would have it be");
    Some(ApiError::new(key).arg("newest", newest).arg("now", now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_doubted_from_a_day_behind_and_three_hundred_ahead_on() {
        const NOON: Millis = 1_900_000_000_000;
        for (newest, expected) in [
            (0, Some(("start.clock_ahead", "1970-01-01", "2030-03-17"))),
            (NOON - 365 * MAX_BEHIND, Some(("start.clock_ahead", "2029-03-17", "2030-03-17"))),
            (NOON - MAX_AHEAD + 1, None),
            (NOON, None),
            (NOON + MAX_BEHIND - 1, None),
            (NOON + MAX_BEHIND, Some(("start.clock_behind", "2030-03-18", "2030-03-17"))),
            (NOON + 365 * MAX_BEHIND, Some(("start.clock_behind", "2031-03-17", "2030-03-17"))),
            (Millis::MAX, None),
            (Millis::MIN, None),
        ] {
            let remark = remark_for(newest, NOON, &TimeZone::UTC);
            let remark = remark.as_ref().map(|remark| {
                (remark.key.as_str(), remark.args["newest"].as_str(), remark.args["now"].as_str())
            });
            assert_eq!(remark, expected, "{newest}");
        }
    }
}
