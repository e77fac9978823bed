//! Installs skills from a folder, a zip file or a cloned repository.
//!
//! An inspection reads the source once and keeps the content, so the installed files are exactly those the
//! person saw: the source is not read again. Nothing is written before [`install`], which never replaces
//! anything without consent.

mod archive;
mod error;
mod folder;
mod source_files;
mod write;

use crate::{
    Catalogue, Fields, Invocation, InvokedFrom, Trust, Warning,
    discovery::SKILL_FILE,
    expand::expand_body,
    format::{self, SkillDocument},
    name::{is_name, public_name},
};
pub use error::InstallError;
use octo_protocol::SkillOrigin;
use source_files::{SourceContent, SourceFile};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};
pub use write::{InstalledSkill, OnConflict, install, remove_unfinished};

/// Source of skills. The caller fetches it: this module reads from disk.
#[derive(Clone, Copy, Debug)]
pub enum InstallSource<'a> {
    /// A folder, possibly of a cloned repository.
    Folder(&'a Path),
    /// A zip file.
    Zip(&'a Path),
}

/// Content of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Its skills, ordered by path; at least one.
    pub skills: Vec<Candidate>,
    /// Problems of the source.
    pub warnings: Vec<Warning>,
}

/// An installable skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Name it would get.
    pub name: String,
    /// Its folder in the source, empty for the source itself.
    pub path: String,
    /// Its fields, including the tools it requests.
    pub fields: Fields,
    /// Its instructions.
    pub body: String,
    /// Its files, by path.
    pub files: Vec<CandidateFile>,
    /// Commands that its instructions run on use.
    pub commands: Vec<String>,
    /// Notes on repaired, omitted and ignored parts.
    pub warnings: Vec<Warning>,
    /// Reason why it cannot be installed.
    pub error: Option<Warning>,
    /// Existing skills and folders with its name.
    pub conflicts: Vec<InstallConflict>,
    contents: Vec<SourceFile>,
    document: SkillDocument,
}

/// A file of an installable skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateFile {
    /// Path in the skill's folder, with `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether it can be executed.
    pub kind: CandidateKind,
}

/// Whether a file can be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateKind {
    /// Not executable.
    Plain,
    /// A script: text that a program executes.
    Script,
    /// A binary program, which a person cannot review.
    Program,
}

/// A skill of the same name, or a folder at its destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallConflict {
    /// Its source; `None` if the folder contains no skill of that name.
    pub source: Option<SkillOrigin>,
    /// Its folder.
    pub folder: PathBuf,
}

impl Candidate {
    /// Returns the total bytes of its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns the text of one of its files, for review before installation; `None` if the file does not exist
    /// or is not text.
    pub fn text(&self, path: &str) -> Option<&str> {
        let file = self.contents.iter().find(|file| file.path == path)?;
        std::str::from_utf8(&file.content).ok()
    }
}

/// Inspects a source: everything that would be installed in `target_folder`, and the conflicts.
///
/// # Errors
/// Returns an [`InstallError`]: the source cannot be read, is too large, contains no skill, or was crafted to
/// write elsewhere.
pub fn inspect(
    source: InstallSource<'_>,
    target_folder: &Path,
    catalogue: &Catalogue,
) -> Result<Inspection, InstallError> {
    let found = match source {
        InstallSource::Folder(folder) => folder::read_folder(folder)?,
        InstallSource::Zip(file) => archive::read_archive(file)?,
    };
    let SourceContent { mut files, warnings, name } = found;
    let roots = roots(&files);
    if roots.is_empty() {
        return Err(InstallError::NoSkill);
    }
    let mut skills = Vec::new();
    let mut names = HashSet::new();
    for root in roots {
        let (in_root, outside_root): (Vec<SourceFile>, Vec<SourceFile>) =
            files.into_iter().partition(|file| relative_to(&root, &file.path).is_some());
        files = outside_root;
        let folder = if root.is_empty() { name.as_str() } else { root.rsplit('/').next().unwrap_or(&root) };
        let mut candidate = candidate(&root, folder, in_root);
        if !names.insert(candidate.name.clone()) && candidate.error.is_none() {
            candidate.error = Some(Warning::new("skills.error.twice_in_source").arg("name", &candidate.name));
        }
        candidate.conflicts = conflicts(&candidate.name, target_folder, catalogue);
        skills.push(candidate);
    }
    Ok(Inspection { skills, warnings })
}

fn is_skill_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(SKILL_FILE))
}

/// Returns the folders with a SKILL.md, sorted, without those inside another one.
fn roots(files: &[SourceFile]) -> Vec<String> {
    let mut skill_roots: Vec<String> = files
        .iter()
        .filter(|file| is_skill_file(&file.path))
        .map(|file| file.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned())
        .collect();
    skill_roots.sort();
    skill_roots.dedup();
    let mut roots: Vec<String> = Vec::new();
    for root in skill_roots {
        if !roots.iter().any(|outer| relative_to(outer, &root).is_some()) {
            roots.push(root);
        }
    }
    roots
}

/// Returns the path relative to a folder; `None` if it is not below it.
fn relative_to<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

fn candidate(root: &str, folder: &str, files_inside: Vec<SourceFile>) -> Candidate {
    let mut left_out = 0_usize;
    let mut contents: Vec<SourceFile> = Vec::new();
    for file in files_inside {
        let Some(path) = relative_to(root, &file.path).map(str::to_owned) else { continue };
        if path.split('/').any(|part| part.starts_with('.') || part == "__MACOSX") {
            left_out += 1;
        } else {
            let is_main = path.eq_ignore_ascii_case(SKILL_FILE);
            let path = if is_main { SKILL_FILE.to_owned() } else { path };
            contents.push(SourceFile { path, ..file });
        }
    }
    contents.sort_by(|a, b| a.path.cmp(&b.path));
    let main = contents.iter().find(|file| file.path == SKILL_FILE);
    let folder = if is_name(folder) { folder.to_owned() } else { public_name(folder) };
    let document = format::read(main.map_or(&[][..], |file| file.content.as_slice()), &folder);
    let mut warnings = document.warnings.clone();
    if left_out > 0 {
        warnings.push(Warning::new("skills.warning.hidden_left_out").arg("count", left_out));
    }
    let files = contents
        .iter()
        .map(|file| CandidateFile {
            path: file.path.clone(),
            bytes: file.content.len() as u64,
            kind: kind(file),
        })
        .collect();
    Candidate {
        name: document.name.clone(),
        path: root.to_owned(),
        commands: commands(&document),
        fields: document.fields.clone(),
        body: document.body.clone(),
        files,
        warnings,
        error: document.error.clone(),
        conflicts: Vec::new(),
        contents,
        document,
    }
}

/// Returns the commands in the instructions, as written.
fn commands(document: &SkillDocument) -> Vec<String> {
    let empty = Invocation { arguments: "", session: "", from: InvokedFrom::Tool, home: None, values: &[] };
    let fields = Fields::default();
    expand_body(&document.body, &fields, Path::new(""), Trust::Trusted, &empty)
        .placeholders()
        .iter()
        .map(|placeholder| placeholder.command.clone())
        .collect()
}

/// File name extensions of scripts.
const SCRIPT_EXTENSIONS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "fish",
    "py",
    "rb",
    "pl",
    "php",
    "lua",
    "js",
    "mjs",
    "cjs",
    "ts",
    "ps1",
    "psm1",
    "bat",
    "cmd",
    "vbs",
    "applescript",
    "scpt",
    "awk",
    "r",
    "jl",
];
/// File name extensions of programs and their libraries.
const PROGRAM_EXTENSIONS: &[&str] = &[
    "exe", "dll", "so", "dylib", "com", "msi", "scr", "jar", "class", "pyc", "wasm", "app", "bin", "deb",
    "rpm", "pkg",
];
/// Magic numbers of programs: ELF, Windows, and the four of macOS.
const MAGIC: &[&[u8]] =
    &[b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe"];

fn kind(file: &SourceFile) -> CandidateKind {
    let end = file.path.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    if MAGIC.iter().any(|magic| file.content.starts_with(magic)) || PROGRAM_EXTENSIONS.contains(&end.as_str())
    {
        CandidateKind::Program
    } else if file.content.starts_with(b"#!") || SCRIPT_EXTENSIONS.contains(&end.as_str()) {
        CandidateKind::Script
    } else if file.executable {
        if std::str::from_utf8(&file.content).is_ok() {
            CandidateKind::Script
        } else {
            CandidateKind::Program
        }
    } else {
        CandidateKind::Plain
    }
}

fn conflicts(name: &str, folder: &Path, catalogue: &Catalogue) -> Vec<InstallConflict> {
    let mut conflicts: Vec<InstallConflict> = catalogue
        .skills()
        .iter()
        .chain(catalogue.shadowed())
        .filter(|skill| skill.name == name)
        .map(|skill| InstallConflict { source: Some(skill.source), folder: skill.folder.clone() })
        .collect();
    let path = folder.join(name);
    let resolved = path.canonicalize().unwrap_or_else(|_| path.clone());
    if path.symlink_metadata().is_ok() && !conflicts.iter().any(|conflict| conflict.folder == resolved) {
        conflicts.push(InstallConflict { source: None, folder: path });
    }
    conflicts
}
