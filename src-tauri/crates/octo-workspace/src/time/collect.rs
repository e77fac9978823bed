//! Space: the time machine's disk use, and the removal of unreferenced content.
//!
//! A blob stays while anything refers to it: any text of any table of the database (attachments, drafts,
//! recorded states, or later additions), a snapshot, or a journal. Over the budget, the oldest steps lose their
//! content first: their states then count as not kept, never as absent, and a restore leaves such files alone
//! and reports that. The database changes before a blob is removed: a process killed in between leaves
//! unreferenced content, which the next collection finds.

use super::{TimeError, TimeMachine, TimeMachineInner};
use octo_protocol::{BlobHash, FileImage, TimeCleanup, TimeSpace};
use octo_store::StateMoment;
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

impl TimeMachine {
    /// Returns the size of all stored content, including attachments. `budget` is only passed on.
    ///
    /// # Errors
    ///
    /// Disk errors.
    pub fn space(&self, budget: u64) -> Result<TimeSpace, TimeError> {
        let totals = self.inner.blobs.for_each(|_, _, _| {})?;
        Ok(TimeSpace { bytes: totals.bytes, blobs: totals.blobs, budget })
    }

    /// Removes unreferenced content, except content stored within the last hour; then, while the total exceeds
    /// `budget` bytes, removes the content of the oldest ended steps. Slow: it reads the whole database.
    ///
    /// # Errors
    ///
    /// Errors of the store and the disk. No referenced content is lost.
    pub fn collect(&self, budget: u64) -> Result<TimeCleanup, TimeError> {
        let inner = &self.inner;
        let mut collected = TimeCleanup::default();
        let sizes = inner.sweep(&mut collected)?;
        let total: u64 = sizes.values().sum();
        collected.kept_bytes = total;
        if total <= budget {
            return Ok(collected);
        }
        let excess = total - budget;
        if inner.drop_oldest_content(&sizes, excess, &mut collected)? {
            let sizes = inner.sweep(&mut collected)?;
            collected.kept_bytes = sizes.values().sum();
        }
        Ok(collected)
    }
}

impl TimeMachineInner {
    /// Removes unreferenced content. Returns the remaining blobs with their sizes.
    fn sweep(&self, collected: &mut TimeCleanup) -> Result<HashMap<BlobHash, u64>, TimeError> {
        let mut sizes = HashMap::new();
        let mut unused = HashSet::new();
        self.blobs.for_each(|hash, len, age: Duration| {
            if age >= crate::blobs::GRACE {
                unused.insert(hash.clone());
            }
            sizes.insert(hash, len);
        })?;
        // In this order: recorded states come from snapshots, and reach the disk through journals.
        self.for_each_snapshot_blob(|hash| {
            unused.remove(&hash);
        });
        let journals = self.journals.texts().map_err(TimeError::Journal)?;
        unused.retain(|hash| !journals.iter().any(|text| text.contains(&hash.0)));
        self.store.read_blocking(|reader| reader.retain_unmentioned(&mut unused))?;
        let swept = self.blobs.sweep(&unused)?;
        collected.freed_blobs += swept.blobs;
        collected.freed_bytes += swept.bytes;
        for hash in &unused {
            if !self.blobs.path(hash)?.exists() {
                sizes.remove(hash);
            }
        }
        Ok(sizes)
    }

    /// Removes the content of the oldest steps until this many bytes can be freed, or no steps are left.
    /// Returns whether any lost its content.
    fn drop_oldest_content(
        &self,
        sizes: &HashMap<BlobHash, u64>,
        mut excess: u64,
        collected: &mut TimeCleanup,
    ) -> Result<bool, TimeError> {
        let tasks = self.store.read_blocking(|reader| reader.time_steps_by_age())?;
        let mut recorded = Vec::new();
        let mut uses: HashMap<BlobHash, u32> = HashMap::new();
        for (session, number) in tasks {
            let states = self.store.read_blocking(|reader| {
                let mut states = Vec::new();
                for moment in StateMoment::ALL {
                    states.extend(reader.time_states_at(session, number, moment)?);
                }
                Ok(states)
            })?;
            let blobs: HashSet<BlobHash> = states
                .into_iter()
                .filter_map(|state| match state.image {
                    FileImage::File { blob, .. } => Some(blob),
                    _ => None,
                })
                .collect();
            if blobs.is_empty() {
                continue;
            }
            for blob in &blobs {
                *uses.entry(blob.clone()).or_default() += 1;
            }
            recorded.push((session, number, blobs));
        }
        let mut removed_any = false;
        for (session, number, blobs) in recorded {
            if excess == 0 {
                break;
            }
            self.store.write_blocking(move |tx| tx.forget_time_states(session, number))?;
            removed_any = true;
            collected.forgotten_tasks += 1;
            for blob in blobs {
                let remaining = uses.entry(blob.clone()).and_modify(|remaining| *remaining -= 1).or_default();
                if *remaining == 0 {
                    excess = excess.saturating_sub(sizes.get(&blob).copied().unwrap_or(0));
                }
            }
        }
        Ok(removed_any)
    }
}
