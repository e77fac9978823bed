//! Expiry of entries. Only the methods of [`HomeTrash`] have side effects.

use crate::{
    HomeTrash,
    time_passage::{ClockTrust, TimePassage},
};
use octo_protocol::{ApiError, Millis, TrashChoice, TrashId, TrashLimits};
use octo_runtime::blocking;
use octo_store::TrashAge;
use std::path::PathBuf;

/// A day in milliseconds.
pub(crate) const DAY: Millis = 24 * 60 * 60 * 1_000;

impl HomeTrash {
    /// Permanently deletes entries older or larger than the limits allow, to the extent that the clock is
    /// trusted.
    pub async fn expire(&self, limits: TrashLimits) -> Result<(), ApiError> {
        let (path, now) = (self.passage_path(), self.clock.now());
        let previous = self.read_passage().await?;
        let ages = self.store.read(|reader| reader.trash_ages()).await?;
        if previous.is_none() && ages.is_empty() {
            // Nothing can expire. The clock is observed from the first check that finds an entry.
            return Ok(());
        }
        let (passage, trusted_until, trust) = TimePassage::evaluate(previous.as_ref(), now);
        if trust == ClockTrust::Jumped {
            tracing::warn!(
                "the clock jumped since the last check: no entry expires by age until the clock has advanced \
                 normally for a day"
            );
        }
        let ids = expired_by_passage(&ages, limits, &passage, trusted_until);
        let deleted = self.delete_expired(ids).await;
        // Last, so that an interrupted check has no effect.
        blocking(move || {
            if let Err(error) = passage.write(&path) {
                tracing::warn!(%error, "the time of this check of the trash was not stored");
            }
            Ok(())
        })
        .await?;
        deleted
    }

    /// Returns the moment from which the age of something deleted at `time` counts.
    pub async fn effective_deletion_time(&self, time: Millis) -> Result<Millis, ApiError> {
        Ok(self.read_passage().await?.map_or(time, |passage| passage.effective_time(time, Millis::MAX)))
    }

    async fn read_passage(&self) -> Result<Option<TimePassage>, ApiError> {
        let path = self.passage_path();
        blocking(move || Ok(TimePassage::read(&path))).await
    }

    /// Returns the path of the file with the passage of time. It is among the entries, none of which has this
    /// name.
    fn passage_path(&self) -> PathBuf {
        self.home.join("trash").join("looked.json")
    }

    /// Permanently deletes expired entries.
    async fn delete_expired(&self, ids: Vec<TrashId>) -> Result<(), ApiError> {
        if ids.is_empty() {
            return Ok(());
        }
        let report = self.empty(TrashChoice::These { ids }).await?;
        tracing::info!(
            things = report.removed.things,
            bytes = report.removed.bytes,
            kept = report.kept,
            "expired entries were deleted"
        );
        Ok(())
    }
}

/// Returns the expired entries, given the passage of time. If the trusted time is unknown, only reproducible
/// entries expire, and only because of their size.
fn expired_by_passage(
    ages: &[TrashAge],
    limits: TrashLimits,
    passage: &TimePassage,
    trusted_until: Option<Millis>,
) -> Vec<TrashId> {
    let Some(trusted_until) = trusted_until else {
        return expired(ages, TrashLimits { days: None, ..limits }, Millis::MIN);
    };
    let effective_ages: Vec<TrashAge> = ages
        .iter()
        .map(|age| TrashAge { at: passage.effective_time(age.at, trusted_until), ..*age })
        .collect();
    expired(&effective_ages, limits, trusted_until)
}

/// Returns the expired entries: all that are older than the limit in days; then, while the total is larger than
/// the limit in bytes, reproducible entries, then the oldest ones. Entries of the last day that are not
/// reproducible stay, whatever their size.
pub(crate) fn expired(ages: &[TrashAge], limits: TrashLimits, now: Millis) -> Vec<TrashId> {
    // A limit of zero days still leaves a day to notice a mistake.
    let days = limits.days.map(|days| Millis::from(days.max(1)) * DAY);
    let is_past = |age: &TrashAge| days.is_some_and(|days| age.at < now.saturating_sub(days));
    let (expired_by_age, remaining): (Vec<&TrashAge>, Vec<&TrashAge>) =
        ages.iter().partition(|age| is_past(age));
    let mut expired_ids: Vec<TrashId> = expired_by_age.iter().map(|age| age.id).collect();
    let Some(max_bytes) = limits.bytes else { return expired_ids };
    let mut bytes: u64 = remaining.iter().map(|age| age.size).sum();
    let mut oldest_first = remaining;
    oldest_first.sort_by_key(|age| age.at);
    let (reproducible, irreplaceable): (Vec<&TrashAge>, Vec<&TrashAge>) =
        oldest_first.into_iter().partition(|age| age.is_reproducible);
    let deletable = irreplaceable.into_iter().filter(|age| age.at < now.saturating_sub(DAY));
    for age in reproducible.into_iter().chain(deletable) {
        if bytes <= max_bytes {
            break;
        }
        bytes -= age.size;
        expired_ids.push(age.id);
    }
    expired_ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn age(days: i64, size: u64, is_reproducible: bool) -> TrashAge {
        TrashAge { id: TrashId::new(), at: -days * DAY, size, is_reproducible }
    }

    fn expired_indices(ages: &[TrashAge], days: Option<u32>, bytes: Option<u64>) -> Vec<usize> {
        let expired_ids = expired(ages, TrashLimits { days, bytes }, 0);
        expired_ids.iter().map(|id| ages.iter().position(|age| age.id == *id).unwrap()).collect()
    }

    #[test]
    fn expired_then_reproducible_then_oldest_entries_are_deleted() {
        let ages =
            [age(40, 10, false), age(20, 10, false), age(10, 10, false), age(0, 10, true), age(0, 10, false)];
        assert_eq!(expired_indices(&ages, None, None), Vec::<usize>::new());
        assert_eq!(expired_indices(&ages, Some(30), None), [0]);
        assert_eq!(expired_indices(&ages, Some(30), Some(40)), [0]);
        assert_eq!(expired_indices(&ages, Some(30), Some(30)), [0, 3]);
        assert_eq!(expired_indices(&ages, Some(30), Some(20)), [0, 3, 1]);
        assert_eq!(expired_indices(&ages, None, Some(0)), [3, 0, 1, 2], "entries of the last day stay");
        assert_eq!(expired_indices(&ages, Some(0), None), [0, 1, 2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_more_is_deleted_than_necessary(
            things in proptest::collection::vec((0..60i64, 0..1000u64, any::<bool>()), 0..40),
            days in proptest::option::of(0..50u32),
            bytes in proptest::option::of(0..20_000u64),
        ) {
            let ages: Vec<TrashAge> = things.iter().map(|(days, size, is_reproducible)| age(*days, *size, *is_reproducible)).collect();
            let expired_ids = expired(&ages, TrashLimits { days, bytes }, 0);
            let remaining: Vec<&TrashAge> = ages.iter().filter(|age| !expired_ids.contains(&age.id)).collect();
            for age in &ages {
                let recent = age.at > -DAY && !age.is_reproducible;
                prop_assert!(!(recent && expired_ids.contains(&age.id)), "entries of the last day stay");
            }
            let total: u64 = remaining.iter().map(|age| age.size).sum();
            if let Some(max_bytes) = bytes.filter(|max_bytes| total > *max_bytes) {
                prop_assert!(remaining.iter().all(|age| age.at >= -DAY && !age.is_reproducible), "{total} > {max_bytes}");
            }
            if bytes.is_none() && days.is_none() {
                prop_assert!(expired_ids.is_empty());
            }
        }
    }
}
