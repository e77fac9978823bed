//! Searches through whole folders, and the closed paths that a search would encounter without naming them.
//!
//! The options of a search are parsed exactly as the program parses them ([`Options`]), so a word that only looks like
//! an option narrows nothing.

use crate::{
    grammar::Options,
    names,
    plain::{Form, Simple, Word},
    programs,
};
use octo_workspace::PathRestriction;
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// Maximum number of entries inspected for a search. A line with more asks.
const MAX_ENTRIES: usize = 100_000;

/// Maximum number of secrets that are returned. One is enough to ask.
const MAX_SECRETS: usize = 3;

/// A callback that returns the restriction of a real path.
pub(crate) type RestrictionLookup<'a> = &'a dyn Fn(&Path) -> PathRestriction;

/// A search through whole folders.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Search {
    hidden: Hidden,
    links: Links,
    /// The patterns of which a file's name must match one; empty for all files.
    include: Vec<String>,
    /// The names of folders that are not searched.
    exclude: Vec<String>,
}

/// Whether hidden files are searched too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    Searched,
    Skipped,
}

/// Whether links in a folder are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    Followed,
    Passed,
}

impl Search {
    const EVERYTHING: Self =
        Self { hidden: Hidden::Searched, links: Links::Followed, include: Vec::new(), exclude: Vec::new() };

    /// Returns the search that a line's commands make together; `None` if no command reads the content of whole
    /// folders. `is_folder` returns whether an operand may be a folder.
    pub(crate) fn of<'a>(
        commands: impl IntoIterator<Item = &'a Simple>,
        is_folder: &dyn Fn(&Word) -> bool,
    ) -> Option<Self> {
        let mut searches = commands.into_iter().filter_map(|command| Self::of_command(command, is_folder));
        let first = searches.next()?;
        // The filters of several searches are not kept apart, so none applies.
        Some(searches.fold(first, |one, other| Self {
            hidden: if one.hidden == other.hidden { one.hidden } else { Hidden::Searched },
            links: if one.links == other.links { one.links } else { Links::Followed },
            include: Vec::new(),
            exclude: Vec::new(),
        }))
    }

    fn of_command(command: &Simple, is_folder: &dyn Fn(&Word) -> bool) -> Option<Self> {
        let (name, words) = command.words.split_first()?;
        let search_program = SearchProgram::of(&name.text)?;
        let words: Vec<&Word> = words.iter().collect();
        let parsed = programs::find_program(&name.text).and_then(|program| program.options(&words));
        // A rule may cover options that the table does not have.
        let Some(options) = parsed else { return Some(Self::EVERYTHING) };
        match search_program {
            SearchProgram::Grep => Self::grep(&options),
            SearchProgram::Ripgrep => Some(Self::ripgrep(&options)),
            SearchProgram::Diff => Self::diff(&options, is_folder),
        }
    }

    fn grep(options: &Options<'_>) -> Option<Self> {
        // GNU accepts abbreviations such as `rec`, so every value other than these two counts as `recurse`.
        let recurses =
            options.values_of(&["d", "directories"]).any(|value| value != "read" && value != "skip");
        if !recurses && !options.has(&["r", "recursive"]) {
            return None;
        }
        // If the first filter excludes, `grep` searches the files that no filter matches. Escapes and brackets are not
        // interpreted here.
        let is_plain_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        let include: Vec<String> = options.values_of(&["include"]).map(str::to_owned).collect();
        let narrows = !options.has(&["exclude"])
            && include.iter().all(|pattern| is_plain_name(&pattern.replace(['*', '?'], "")));
        Some(Self {
            links: Links::Passed,
            include: if narrows { include } else { Vec::new() },
            exclude: options
                .values_of(&["exclude-dir"])
                .filter(|name| is_plain_name(name))
                .map(str::to_owned)
                .collect(),
            ..Self::EVERYTHING
        })
    }

    fn ripgrep(options: &Options<'_>) -> Self {
        // With a type or a pattern, `rg` searches hidden files too.
        let chosen = options.has(&["g", "t", "glob", "type"]);
        let all = options.has(&["u", ".", "hidden", "unrestricted", "iglob"]);
        let hidden = if all || chosen { Hidden::Searched } else { Hidden::Skipped };
        let globs = options
            .values_of(&["g", "glob"])
            .map(|glob| is_name_pattern(glob).then(|| vec![glob.to_owned()]));
        let kinds = options.values_of(&["t", "type"]).map(names_of_type);
        let include: Option<Vec<Vec<String>>> = globs.chain(kinds).collect();
        let include = if all { None } else { include };
        Self {
            hidden,
            links: Links::Passed,
            include: include.unwrap_or_default().into_iter().flatten().collect(),
            ..Self::EVERYTHING
        }
    }

    /// Returns the search of a `diff`, which compares two folders file by file, and with `-r` those below them too.
    fn diff(options: &Options<'_>, is_folder: &dyn Fn(&Word) -> bool) -> Option<Self> {
        let recurses = options.has(&["r", "recursive"]);
        if !recurses && !options.operands.iter().any(|word| is_folder(word)) {
            return None;
        }
        let links = if options.has(&["no-dereference"]) { Links::Passed } else { Links::Followed };
        Some(Self { links, ..Self::EVERYTHING })
    }

    /// Returns some of the closed paths the search would encounter below `roots`, with links resolved: a few secrets,
    /// and a denied path. `None` if there are too many entries, or a link that the search would follow.
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
        let mut closed = Vec::new();
        let mut entries_left = MAX_ENTRIES;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            if hidden == Hidden::Skipped && reincludes(&folder) {
                hidden = Hidden::Searched;
            }
            for entry in entries.flatten() {
                entries_left = entries_left.checked_sub(1)?;
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                if hidden == Hidden::Skipped && name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let name = names::text_of(&name)?;
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
                        // No restriction is stricter, so the search can end.
                        PathRestriction::Denied => {
                            closed.push(entry.path());
                            return Some(closed);
                        }
                        PathRestriction::Secret if closed.len() < MAX_SECRETS => closed.push(entry.path()),
                        PathRestriction::Secret | PathRestriction::No => {}
                    }
                }
            }
        }
        Some(closed)
    }

    fn includes(&self, name: &str) -> bool {
        self.include.is_empty() || self.include.iter().any(|pattern| crate::folder::matches(pattern, name))
    }
}

/// Returns whether an ignore file of a folder re-includes paths. `rg` then searches these even if they are hidden.
fn reincludes(folder: &Path) -> bool {
    let lists = [".ignore", ".rgignore", ".gitignore", ".git/info/exclude"];
    lists.iter().any(|list| {
        let text = fs::read(folder.join(list)).unwrap_or_default();
        text.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"!"))
    })
}

/// Returns whether a pattern matches names alone and has only characters that are interpreted here.
fn is_name_pattern(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.chars().all(|c| c.is_ascii_alphanumeric() || "._-*?".contains(c))
}

/// Returns the patterns of a file type of `rg`; `None` for a type that is not listed here.
fn names_of_type(file_type: &str) -> Option<Vec<String>> {
    let names: &[&str] = match file_type {
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

/// A program that searches.
#[derive(Clone, Copy)]
enum SearchProgram {
    Grep,
    Ripgrep,
    Diff,
}

impl SearchProgram {
    fn of(name: &str) -> Option<Self> {
        match name {
            "grep" | "egrep" | "fgrep" => Some(Self::Grep),
            "rg" => Some(Self::Ripgrep),
            "diff" => Some(Self::Diff),
            _ => None,
        }
    }
}

/// Returns whether an operand may be one of these folders, which the line names.
pub(crate) fn is_one_of(word: &Word, folders: &[PathBuf]) -> bool {
    // The folder's path includes the line's directory, and the word does not.
    let named: PathBuf =
        Path::new(&word.text).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    if word.form == Form::Pipe {
        return false;
    }
    word.form != Form::Literal || folders.iter().any(|folder| folder.ends_with(&named))
}
