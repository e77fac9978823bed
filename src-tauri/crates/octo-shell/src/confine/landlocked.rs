//! Enforces grants through Landlock.

use super::{Enforcement, grants::PathGrants};
use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus,
};
use std::{io, path::Path, sync::LazyLock};

/// The rights that are requested, those of Linux 6.10; an older kernel enforces the ones it knows.
const RIGHTS: ABI = ABI::V5;

/// Whether the kernel has Landlock, at least its first version (Linux 5.13).
pub(super) static AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
});

pub(super) fn enforce(grants: &PathGrants) -> io::Result<Enforcement> {
    if !*AVAILABLE {
        return Ok(Enforcement::Unavailable);
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
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(Enforcement::Yes),
        RulesetStatus::NotEnforced => Err(io::Error::other("the kernel did not take the rules")),
    }
}

/// Grants rights on a path and everything below. A path that is missing or cannot be opened is inaccessible
/// anyway.
fn grant(ruleset: RulesetCreated, path: &Path, rights: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let Ok(open) = PathFd::new(path) else { return Ok(ruleset) };
    let rights = if path.is_dir() { rights } else { rights & AccessFs::from_file(RIGHTS) };
    ruleset.add_rule(PathBeneath::new(open, rights)).map_err(io::Error::other)
}
