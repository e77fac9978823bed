//! A clock that is behind what was done here before: said at the start, for nothing else shows why lists and plans are
//! not what they were.

use jiff::{Timestamp, tz::TimeZone};
use octo_protocol::{ApiError, Millis};
use octo_store::Store;

/// How far behind a clock may be before it is said: travellers and machines that are set by hand are off by hours.
const OFF: Millis = 24 * 60 * 60 * 1_000;

/// What is to be said of a clock that is wrong now, or was when the newest of the sessions was stored.
pub(super) async fn behind(store: &Store) -> Result<Option<ApiError>, ApiError> {
    let newest = store.read(|reader| reader.newest_change()).await.map_err(ApiError::from)?;
    Ok(newest.and_then(|newest| said(newest, Timestamp::now().as_millisecond(), &TimeZone::system())))
}

fn said(newest: Millis, now: Millis, zone: &TimeZone) -> Option<ApiError> {
    if newest.saturating_sub(now) < OFF {
        return None;
    }
    let day = |at| Timestamp::from_millisecond(at).map(|at| at.to_zoned(zone.clone()).date().to_string());
    let (newest, now) = (day(newest).ok()?, day(now).ok()?);
    tracing::warn!(newest, now, "the clock is behind what was stored");
    Some(ApiError::new("start.clock_behind").arg("newest", newest).arg("now", now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_said_to_be_behind_from_a_day_on() {
        const NOON: Millis = 1_900_000_000_000;
        for (newest, expected) in [
            (NOON - 400 * OFF, None),
            (NOON, None),
            (NOON + OFF - 1, None),
            (NOON + OFF, Some(("2030-03-18", "2030-03-17"))),
            (NOON + 365 * OFF, Some(("2031-03-17", "2030-03-17"))),
            (Millis::MAX, None),
        ] {
            let told = said(newest, NOON, &TimeZone::UTC);
            let told = told.as_ref().map(|told| (told.args["newest"].as_str(), told.args["now"].as_str()));
            assert_eq!(told, expected, "{newest}");
        }
    }
}
