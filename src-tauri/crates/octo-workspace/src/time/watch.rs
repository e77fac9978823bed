//! What the system says of changes below a folder, so that a picture need not look at everything again.
//!
//! On Linux every folder of the picture is watched by `inotify`, asked directly and by no library or thread of its own:
//! the kernel queues an event before the call that made the change returns, so a queue that is emptied after a command
//! ended holds everything the command did, without any waiting. Elsewhere (where the system reports late, or joins
//! events) nothing is watched, and every picture looks at everything.
//!
//! Nothing is believed that may be wrong. A queue that overflowed, a limit of the system, a folder on another file
//! system or on one that others write to (a network's), a folder that is reached twice: each means that everything is
//! looked at. Files with several names are looked at every time, since a change by another name is not told. What is
//! left are changes by mapped memory after the file was closed, and by a second name that was made meanwhile; a look at
//! everything when the task ends finds those.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;

#[cfg(target_os = "linux")]
pub(crate) use linux::Watch;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::Watch;

use super::picture::Relative;
use std::collections::BTreeMap;

/// What was seen to change: names, by the folder they are in.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) folders: BTreeMap<Relative, BTreeMap<Box<[u8]>, Depth>>,
}

/// How much of a name has to be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// Itself.
    Name,
    /// Itself and everything below it: a folder came, went or moved.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux watches folders"))]
    Below,
}
