//! The paths a confined program may access, and their enforcement through Landlock.

#[cfg(target_os = "linux")]
use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus,
};
use std::{collections::BTreeSet, path::PathBuf};
#[cfg(target_os = "linux")]
use std::{io, path::Path, sync::LazyLock};

/// The granted paths. Folders include everything below them. Everything else is inaccessible, but its name can
/// be listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathGrants {
    /// All rights.
    pub write: BTreeSet<PathBuf>,
    /// Creating, replacing and removing entries, without reading them.
    pub enter: BTreeSet<PathBuf>,
    /// Reading and executing.
    pub read: BTreeSet<PathBuf>,
    /// Reading and writing devices.
    pub devices: BTreeSet<PathBuf>,
}

/// The requested rights, those of Linux 6.10. An older kernel enforces the rights it knows.
#[cfg(target_os = "linux")]
const RIGHTS: ABI = ABI::V5;

/// Whether the kernel has Landlock, at least its first version (Linux 5.13).
#[cfg(target_os = "linux")]
pub static CONFINES: LazyLock<bool> = LazyLock::new(|| {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
});

/// Confines the calling thread and every process it starts from now on. This cannot be undone. Without Landlock
/// it does nothing; see [`CONFINES`].
///
/// # Errors
///
/// If the kernel has Landlock but refuses. The caller must then start nothing.
#[cfg(target_os = "linux")]
pub fn confine_thread(grants: &PathGrants) -> io::Result<()> {
    match ruleset(grants)? {
        Some(ruleset) => restrict(ruleset),
        None => Ok(()),
    }
}

/// Returns the rules to enforce, or `None` without Landlock.
#[cfg(target_os = "linux")]
pub(crate) fn ruleset(grants: &PathGrants) -> io::Result<Option<RulesetCreated>> {
    if !*CONFINES {
        return Ok(None);
    }
    let all_rights = AccessFs::from_all(RIGHTS);
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
    let ruleset =
        Ruleset::default().handle_access(all_rights).and_then(Ruleset::create).map_err(io::Error::other)?;
    // Folders may be listed everywhere, although files may not be read: otherwise a home could not be listed.
    let mut ruleset = grant(ruleset, Path::new("/"), AccessFs::ReadDir.into())?;
    for path in &grants.read {
        ruleset = grant(ruleset, path, read)?;
    }
    for path in &grants.devices {
        ruleset = grant(ruleset, path, device)?;
    }
    let enter = AccessFs::from_write(RIGHTS) & !AccessFs::IoctlDev;
    for path in &grants.enter {
        ruleset = grant(ruleset, path, enter)?;
    }
    for path in &grants.write {
        ruleset = grant(ruleset, path, all_rights)?;
    }
    Ok(Some(ruleset))
}

/// Enforces rules on the calling thread.
#[cfg(target_os = "linux")]
pub(crate) fn restrict(ruleset: RulesetCreated) -> io::Result<()> {
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err(io::Error::other("the kernel did not take the rules")),
    }
}

/// Grants rights on a path and everything below. A path that is missing or cannot be opened is inaccessible
/// anyway.
#[cfg(target_os = "linux")]
fn grant(ruleset: RulesetCreated, path: &Path, rights: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let Ok(open) = PathFd::new(path) else { return Ok(ruleset) };
    let rights = if path.is_dir() { rights } else { rights & AccessFs::from_file(RIGHTS) };
    ruleset.add_rule(PathBeneath::new(open, rights)).map_err(io::Error::other)
}
