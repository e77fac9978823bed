//! The parts of a printed snapshot.

/// A line of a snapshot.
#[derive(Clone, Debug)]
pub(in crate::snapshot) struct SnapshotLine {
    pub depth: u8,
    pub kind: LineKind,
    pub text: String,
    /// The text of its targets alone; empty if it has none.
    pub targets: String,
    pub refs: Vec<u32>,
    /// Index in the tree of the line's first node, or `NONE`.
    pub node: u32,
    pub on_screen: bool,
    /// Index in [`SnapshotLines::members`] of the run member that it belongs to, or `NONE`.
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
    /// Index of the enclosing member, or `NONE`.
    pub outer: u32,
}

/// Consecutive similar siblings.
#[derive(Clone, Debug)]
pub(in crate::snapshot) struct SiblingRun {
    pub size: u32,
    /// The first member on the screen.
    pub first_on_screen: u32,
    /// Ref of the container, by which all members can be read; `None` if it has no ref.
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
    pub hidden_texts: usize,
}

/// An element with a ref.
#[derive(Clone, Debug)]
pub(in crate::snapshot) struct LineTarget {
    pub number: u32,
    pub kind_word: String,
    pub name: String,
    pub origin: String,
    /// Index in [`SnapshotLines::headings`] of the preceding heading.
    pub heading: u32,
    /// Index in [`SnapshotLines::lines`] of the line that contains it, or `NONE`.
    pub line: u32,
}
