//! Allowed dependencies between the modules of `octo-core`.

#![expect(clippy::string_slice, reason = "every index comes from a match in the same text")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The top modules of `octo-core`, lowest layer first. A module may name only modules of lower layers, never of
/// its own or a higher one, so dependencies cannot become circular.
const FLOORS: &[&[&str]] = &[
    &[
        "compaction",
        "config",
        "diagnostics",
        "hooks",
        "idle",
        "live",
        "logging",
        "naming",
        "pairing",
        "permission",
        "prompt",
        "reply",
        "skills",
        "slash",
        "suggestion",
        "turn",
        "updates",
    ],
    &["base", "ledger", "troubles"],
    &["attachments", "chats", "models", "rules", "searching"],
    &["activity", "library", "schedule"],
    &["services"],
    &["builtin", "export"],
    &["session"],
    &["settings"],
    &["sessions"],
    &["chat_bridge", "scheduler", "topics"],
    &["subscription"],
    &["octo"],
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/octo-core/src")
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// Collects all files of production code below a folder, as paths relative to the crate's root file.
fn files(folder: &Path, relative: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let entry = entry.expect("an entry");
        let path = relative.join(entry.file_name());
        if entry.file_type().expect("its type").is_dir() {
            if !path.ends_with("tests") {
                files(&entry.path(), &path, found);
            }
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// Returns the top module a file belongs to.
fn module_of(file: &Path) -> String {
    let first_part = file.iter().next().expect("a name").to_str().expect("a plain name");
    first_part.trim_end_matches(".rs").to_owned()
}

/// Returns the names a text uses directly from the crate's root: by `crate::`, or by as many `super::` as lead
/// there from `depth` modules below it. Comments and unit tests do not count.
fn named_in_root(text: &str, depth: usize) -> BTreeSet<String> {
    let code: String =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut names = BTreeSet::new();
    for (index, word) in words(code) {
        let path = &code[index..];
        let remaining = match word {
            "crate" => path.strip_prefix("crate::"),
            "super" if !code[..index].ends_with("::") => {
                let mut remaining = path;
                let mut count = 0;
                while let Some(next) = remaining.strip_prefix("super::") {
                    (remaining, count) = (next, count + 1);
                }
                (count >= depth).then_some(remaining)
            }
            _ => None,
        };
        let Some(remaining) = remaining else { continue };
        match remaining.strip_prefix('{') {
            Some(group) => names.extend(first_words(group)),
            None => names.extend(leading_word(remaining).map(str::to_owned)),
        }
    }
    names
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the words of a text, each with its position.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut begins = text.char_indices().scan(false, |in_word, (index, c)| {
        let starts = is_part_of_word(c) && !*in_word;
        *in_word = is_part_of_word(c);
        Some(starts.then_some(index))
    });
    std::iter::from_fn(move || begins.by_ref().flatten().next())
        .filter_map(|index| leading_word(&text[index..]).map(|word| (index, word)))
}

fn leading_word(text: &str) -> Option<&str> {
    let end = text.find(|c| !is_part_of_word(c)).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// Returns the first word of each item of a group such as `a::{b, c}, d}`, up to its closing brace.
fn first_words(group: &str) -> Vec<String> {
    let (mut depth, mut item, mut items) = (0_usize, String::new(), Vec::new());
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => items.push(std::mem::take(&mut item)),
            c => item.push(c),
        }
    }
    items.push(item);
    items.iter().filter_map(|item| leading_word(item.trim()).map(str::to_owned)).collect()
}

/// Returns the modules each module names.
fn arrows() -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let mut found = Vec::new();
    files(&source(), Path::new(""), &mut found);
    let mut arrows: BTreeMap<String, BTreeMap<String, PathBuf>> = BTreeMap::new();
    for file in found.into_iter().filter(|file| file != Path::new("lib.rs")) {
        let text = fs::read_to_string(source().join(&file)).expect("a source file");
        let module = module_of(&file);
        let targets = arrows.entry(module.clone()).or_default();
        for target in named_in_root(&text, file.iter().count()) {
            if target != module && target != "self" {
                targets.entry(target).or_insert_with(|| file.clone());
            }
        }
    }
    arrows
}

#[test]
fn every_module_of_the_core_has_a_floor() {
    let modules: BTreeSet<String> = arrows().into_keys().collect();
    let floors: BTreeSet<String> = FLOORS.iter().copied().flatten().map(|name| (*name).to_owned()).collect();
    assert_eq!(modules, floors, "each top module stands on one floor of FLOORS");
    assert_eq!(floors.len(), FLOORS.iter().map(|floor| floor.len()).sum::<usize>(), "and on one only");
}

#[test]
fn modules_of_the_core_point_down() {
    let mut count = 0;
    for (module, targets) in arrows() {
        for (target, file) in targets {
            let Some(floor_to) = floor(&target) else {
                panic!("{}: name `{target}` by its module, not by the crate's root", file.display())
            };
            assert!(
                Some(floor_to) < floor(&module),
                "{}: {module} must not know {target}: arrows point down, see FLOORS",
                file.display()
            );
            count += 1;
        }
    }
    assert!(count >= 80, "the arrows were found");
}

#[test]
fn references_to_the_root_are_found_however_they_are_written() {
    let text = "
        //! [`crate::octo`] is only mentioned.
        use crate::{base::Base, session::{self, Via}, turn};
        use super::{near, far::Far};
        use super::super::{chats::Chats, keys};
        pub(in crate::library) fn all() { crate::clock::now(); super::super::naming::given() } // crate::demo
        #[cfg(test)]
mod tests {
            use crate::hooks;
        }";
    let text = text.replace("        #[cfg(test)]", "#[cfg(test)]");
    let expected = ["base", "chats", "clock", "keys", "library", "naming", "session", "turn"];
    assert_eq!(named_in_root(&text, 2), expected.map(str::to_owned).into());
    let near = ["base", "clock", "far", "library", "naming", "near", "session", "turn"];
    let from_the_top = named_in_root(&text, 1);
    assert!(near.iter().all(|name| from_the_top.contains(*name)), "{from_the_top:?}");
}
