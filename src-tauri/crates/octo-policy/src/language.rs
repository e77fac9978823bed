//! The language of command lines.

/// The language of a command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// Bash.
    #[default]
    Bash,
    /// PowerShell: no line of it is ever known to be read-only.
    PowerShell,
}
