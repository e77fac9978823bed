//! Reports changes below a folder, which spares a snapshot from checking everything again.
//!
//! On Linux, `inotify` watches every folder of the snapshot, without a library or thread of its own: the kernel
//! queues an event before the call that made the change returns, so a queue drained after a command ended
//! contains all of its changes, without waiting. On other systems (which report late, or merge events) nothing
//! is watched, and every snapshot checks everything.
//!
//! Octo trusts no report that may be wrong. A queue overflow, a system limit, a folder on another file system
//! or on a network file system, a folder reached twice: each leads to a complete check. Files with several
//! names are checked every time, because a change through another name is not reported. The remaining gaps are
//! changes through mapped memory after the file was closed, and through a second name created meanwhile; the
//! complete check at the end of a step finds those.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;

#[cfg(target_os = "linux")]
pub(crate) use linux::FolderWatch;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::FolderWatch;

use super::snapshot::RelativePath;
use std::collections::BTreeMap;

/// The reported changes: names, by their folder.
#[derive(Debug, Default)]
pub(crate) struct ReportedChanges {
    pub(crate) folders: BTreeMap<RelativePath, BTreeMap<Box<[u8]>, RecheckDepth>>,
}

/// How deep a name must be checked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecheckDepth {
    /// Only the name itself.
    Name,
    /// The name and everything below it: a folder appeared, vanished or moved.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux watches folders"))]
    Below,
}
