//! The effects that lines have on each other while they run at the same time.
//!
//! The policy judges a line before it runs. The verdict holds while no other line moves the names on which the line
//! relies: `sleep 3; cat notes.txt` reads whatever a concurrent `git checkout` has made of `notes.txt`.

/// The names on which a line relies while it runs, and those it may change under another line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The names on which it relies.
    pub relies_on: Reliance,
    /// The names it may change.
    pub changes: NameChange,
}

/// The names on which a running line relies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reliance {
    /// Nothing in a folder.
    #[default]
    Nothing,
    /// The paths it names lead where they led when it was judged.
    Paths,
    /// The names in a folder are those that were there when it was judged, too.
    Names,
}

/// The change that a running line may make to the names in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameChange {
    /// Nothing.
    #[default]
    Nothing,
    /// Files and folders come and go, but a path that leads somewhere does not lead elsewhere.
    Entries,
    /// Links and folders are placed, moved and replaced.
    Links,
}

impl Footprint {
    /// The footprint of a call that writes files whose paths were checked.
    pub const FILE_WRITES: Self = Self { relies_on: Reliance::Nothing, changes: NameChange::Entries };

    /// The footprint of a call that brings back earlier states of files, links included.
    pub const RESTORES: Self = Self { relies_on: Reliance::Nothing, changes: NameChange::Links };

    /// Whether one of the two may make the other touch a path that the policy did not judge.
    pub fn conflicts_with(self, other: Self) -> bool {
        self.redirects(other) || other.redirects(self)
    }

    fn redirects(self, other: Self) -> bool {
        match self.changes {
            NameChange::Nothing => false,
            NameChange::Entries => other.relies_on == Reliance::Names,
            NameChange::Links => other.relies_on >= Reliance::Paths,
        }
    }

    pub(crate) fn add(&mut self, relies_on: Reliance, changes: NameChange) {
        self.relies_on = self.relies_on.max(relies_on);
        self.changes = self.changes.max(changes);
    }
}
