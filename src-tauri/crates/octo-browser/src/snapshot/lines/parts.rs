//! The parts of a printed snapshot.

/// A line of a snapshot.
#[derive(Clone, Debug)]
pub(in crate::snapshot) struct SnapshotLine {
    pub depth: u8,
    pub kind: LineKind,
    pub text: String,
    /// Only its targets; empty if it has none.
    pub targets: String,
    pub refs: Vec<u32>,
    /// The first node of the line.
    pub node: u32,
    pub on_screen: bool,
    /// Its index in a run of similar items.
    pub member: u32,
    pub tokens: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::snapshot) enum LineKind {
    Heading(u8),
    /// A container whose children are indented.
    Container,
    Plain,
}

/// A member of a run of similar siblings.
#[derive(Clone, Debug)]
pub(in crate::snapshot) struct RunMember {
    pub run: u32,
    pub ordinal: u32,
    /// The enclosing member.
    pub outer: u32,
}

/// Consecutive similar siblings.
#[derive(Clone, Debug)]
pub(in crate::snapshot) struct SiblingRun {
    pub size: u32,
    /// The first member on the screen.
    pub first_on_screen: u32,
    /// The container to read for seeing all of them, if it has a ref.
    pub container: Option<u32>,
}

/// The complete printable content of a snapshot.
#[derive(Clone, Debug, Default)]
pub(in crate::snapshot) struct SnapshotLines {
    pub lines: Vec<SnapshotLine>,
    pub members: Vec<RunMember>,
    pub runs: Vec<SiblingRun>,
    pub targets: Vec<LineTarget>,
    /// The headings' texts; the first entry is empty.
    pub headings: Vec<String>,
    /// Number of texts left out because a person cannot see them.
    pub hidden: usize,
}

/// An element with a ref.
#[derive(Clone, Debug)]
pub(in crate::snapshot) struct LineTarget {
    pub number: u32,
    pub kind_word: String,
    pub name: String,
    pub origin: String,
    /// The preceding heading, as an index into the list.
    pub heading: u32,
    /// The line that contains it.
    pub line: u32,
}
