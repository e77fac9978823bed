//! Searches through whole folders: paths they would encounter without naming them.
//!
//! The options of a search are parsed exactly as the command itself does ([`Options`]): a word that only looks
//! like an option narrows nothing.

use crate::{
    grammar::Options,
    plain::{Form, Simple, Word},
    programs,
};
use octo_workspace::PathRestriction;
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// Entries of folders looked at before a search asks.
const MAX_ENTRIES: usize = 100_000;

/// Secrets told to the caller; one is enough to ask.
const MAX_SECRETS: usize = 3;

/// A callback that returns the restriction of a real path.
pub(crate) type RestrictionLookup<'a> = &'a dyn Fn(&Path) -> PathRestriction;

/// A search through whole folders.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Search {
    hidden: Hidden,
    links: Links,
    /// Patterns; a file's name must match one of them. Empty for all files.
    include: Vec<String>,
    /// Names of folders left out.
    exclude: Vec<String>,
}

/// Whether hidden files are searched too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    Searched,
    Skipped,
}

/// Whether a link in a folder is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    Followed,
    Passed,
}

impl Search {
    const EVERYTHING: Self =
        Self { hidden: Hidden::Searched, links: Links::Followed, include: Vec::new(), exclude: Vec::new() };

    /// The search a line's commands make together; none when none of them reads the content of whole folders.
    /// `is_folder` says whether an operand may be a folder.
    pub(crate) fn of<'a>(
        commands: impl IntoIterator<Item = &'a Simple>,
        is_folder: &dyn Fn(&Word) -> bool,
    ) -> Option<Self> {
        let mut searches = commands.into_iter().filter_map(|command| Self::of_one(command, is_folder));
        let first = searches.next()?;
        // With several their filters cannot be told apart here.
        Some(searches.fold(first, |one, other| Self {
            hidden: if one.hidden == other.hidden { one.hidden } else { Hidden::Searched },
            links: if one.links == other.links { one.links } else { Links::Followed },
            include: Vec::new(),
            exclude: Vec::new(),
        }))
    }

    fn of_one(command: &Simple, is_folder: &dyn Fn(&Word) -> bool) -> Option<Self> {
        let (name, words) = command.words.split_first()?;
        let kind = Kind::of(&name.text)?;
        let words: Vec<&Word> = words.iter().collect();
        let read = programs::find_program(&name.text).and_then(|program| program.options(&words));
        // A rule lets it run with options the table does not know.
        let Some(options) = read else { return Some(Self::EVERYTHING) };
        match kind {
            Kind::Grep => Self::grep(&options),
            Kind::Ripgrep => Some(Self::ripgrep(&options)),
            Kind::Diff => Self::diff(&options, is_folder),
        }
    }

    fn grep(options: &Options<'_>) -> Option<Self> {
        // GNU accepts `rec` for `recurse`; a value that is not certainly another one counts as `recurse`.
        let recurses = options.of(&["d", "directories"]).any(|value| value != "read" && value != "skip");
        if !recurses && !options.has(&["r", "recursive"]) {
            return None;
        }
        // If the first filter excludes, files that no filter matches are searched. Escapes and brackets are not
        // interpreted here.
        let names = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        let include: Vec<String> = options.of(&["include"]).map(str::to_owned).collect();
        let narrows = !options.has(&["exclude"])
            && include.iter().all(|pattern| names(&pattern.replace(['*', '?'], "")));
        Some(Self {
            links: Links::Passed,
            include: if narrows { include } else { Vec::new() },
            exclude: options.of(&["exclude-dir"]).filter(|name| names(name)).map(str::to_owned).collect(),
            ..Self::EVERYTHING
        })
    }

    fn ripgrep(options: &Options<'_>) -> Self {
        // A kind of file is searched for hidden or not, as a pattern is.
        let chosen = options.has(&["g", "t", "glob", "type"]);
        let all = options.has(&["u", ".", "hidden", "unrestricted", "iglob"]);
        let hidden = if all || chosen { Hidden::Searched } else { Hidden::Skipped };
        let globs =
            options.of(&["g", "glob"]).map(|glob| is_name_pattern(glob).then(|| vec![glob.to_owned()]));
        let kinds = options.of(&["t", "type"]).map(names_of_kind);
        let include: Option<Vec<Vec<String>>> = globs.chain(kinds).collect();
        let include = if all { None } else { include };
        Self {
            hidden,
            links: Links::Passed,
            include: include.unwrap_or_default().into_iter().flatten().collect(),
            ..Self::EVERYTHING
        }
    }

    /// Two folders are compared file by file, with `-r` those below them too.
    fn diff(options: &Options<'_>, is_folder: &dyn Fn(&Word) -> bool) -> Option<Self> {
        let recurses = options.has(&["r", "recursive"]);
        if !recurses && !options.operands.iter().any(|word| is_folder(word)) {
            return None;
        }
        let links = if options.has(&["no-dereference"]) { Links::Passed } else { Links::Followed };
        Some(Self { links, ..Self::EVERYTHING })
    }

    /// Returns the closed paths the search would encounter below `roots`, as real paths: a few of the secrets,
    /// and denied paths. `None` if there are too many entries to check, or a link it would follow.
    pub(crate) fn find_closed(
        &self,
        roots: &[PathBuf],
        restriction: RestrictionLookup<'_>,
    ) -> Option<Vec<PathBuf>> {
        let mut folders: Vec<PathBuf> =
            roots.iter().map(|root| octo_workspace::resolve_links(root)).collect::<Result<_, _>>().ok()?;
        let mut hidden = self.hidden;
        if hidden == Hidden::Skipped && folders.iter().flat_map(|root| root.ancestors()).any(reincludes) {
            hidden = Hidden::Searched;
        }
        let mut met = Vec::new();
        let mut budget = MAX_ENTRIES;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            if hidden == Hidden::Skipped && reincludes(&folder) {
                hidden = Hidden::Searched;
            }
            for entry in entries.flatten() {
                budget = budget.checked_sub(1)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                if hidden == Hidden::Skipped && name.starts_with('.') {
                    continue;
                }
                if kind.is_dir() {
                    if !self.exclude.contains(&name) {
                        folders.push(entry.path());
                    }
                } else if kind.is_symlink() {
                    if self.links == Links::Followed {
                        return None;
                    }
                } else if kind.is_file() && self.includes(&name) {
                    match restriction(&entry.path()) {
                        // Nothing is stricter.
                        PathRestriction::Denied => {
                            met.push(entry.path());
                            return Some(met);
                        }
                        PathRestriction::Secret if met.len() < MAX_SECRETS => met.push(entry.path()),
                        PathRestriction::Secret | PathRestriction::No => {}
                    }
                }
            }
        }
        Some(met)
    }

    fn includes(&self, name: &str) -> bool {
        self.include.is_empty() || self.include.iter().any(|pattern| crate::folder::matches(pattern, name))
    }
}

/// Whether a folder's ignore file re-includes a path, which is then searched although it is hidden.
fn reincludes(folder: &Path) -> bool {
    let lists = [".ignore", ".rgignore", ".gitignore", ".git/info/exclude"];
    lists.iter().any(|list| {
        let text = fs::read(folder.join(list)).unwrap_or_default();
        text.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"!"))
    })
}

/// Whether a pattern is one of names alone, without signs that are not interpreted here.
fn is_name_pattern(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.chars().all(|c| c.is_ascii_alphanumeric() || "._-*?".contains(c))
}

/// The names of the files of a kind, as `rg` knows it; `None` for a kind that is not listed here.
fn names_of_kind(kind: &str) -> Option<Vec<String>> {
    let names: &[&str] = match kind {
        "c" => &["*.c", "*.h", "*.cats", "*.H"],
        "cpp" => &[
            "*.cpp", "*.hpp", "*.cc", "*.hh", "*.cxx", "*.hxx", "*.C", "*.H", "*.h", "*.inl", "*.hpp.in",
            "*.cpp.in",
        ],
        "css" => &["*.css", "*.scss"],
        "go" => &["*.go"],
        "html" => &["*.htm", "*.html", "*.ejs"],
        "java" => &["*.java", "*.jsp", "*.jspx", "*.properties"],
        "js" => &["*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"],
        "md" | "markdown" => &["*.md", "*.markdown", "*.mdown", "*.mdwn", "*.mkd", "*.mkdn", "*.mdx"],
        "py" | "python" => &["*.py", "*.pyi"],
        "rust" => &["*.rs"],
        "ts" | "typescript" => &["*.ts", "*.tsx", "*.cts", "*.mts"],
        _ => return None,
    };
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

/// Which program searches.
#[derive(Clone, Copy)]
enum Kind {
    Grep,
    Ripgrep,
    Diff,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        match name {
            "grep" | "egrep" | "fgrep" => Some(Self::Grep),
            "rg" => Some(Self::Ripgrep),
            "diff" => Some(Self::Diff),
            _ => None,
        }
    }
}

/// Whether an operand may be one of these folders, which the line names.
pub(crate) fn is_one_of(word: &Word, folders: &[PathBuf]) -> bool {
    // The line's directory at that point is part of the folder's name and not of the word.
    let named: PathBuf =
        Path::new(&word.text).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    if word.form == Form::Pipe {
        return false;
    }
    word.form != Form::Literal || folders.iter().any(|folder| folder.ends_with(&named))
}
