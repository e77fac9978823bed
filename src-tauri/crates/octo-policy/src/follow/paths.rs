//! Records the paths that a line touches.

use super::{Follower, State, Step, variables::may_show, whole_line_stop};
use crate::{
    changes::Touch,
    context::UNKNOWN,
    found::FOUND,
    grammar::Reads,
    judge::paths_from_start,
    plain::Form,
    script::{Part, Redirect, RedirectKind},
};

impl Follower<'_> {
    pub(super) fn read(&mut self, directories: &[String], text: &str) -> Step {
        self.touch(directories, Touch::Read(text.to_owned()))
    }

    /// Records a touch in each of these directories.
    pub(super) fn touch(&mut self, directories: &[String], touch: Touch) -> Step {
        for text in touch.paths() {
            if text.contains([UNKNOWN]) || text.contains(FOUND) || text.is_empty() {
                return Err(whole_line_stop());
            }
        }
        for directory in directories {
            let directory = std::slice::from_ref(directory);
            let mapped = touch.clone().map_paths(&|text| paths_from_start(directory, &[text])?.pop());
            self.effects.touched.push(mapped.ok_or_else(whole_line_stop)?);
        }
        Ok(())
    }

    pub(super) fn redirects(
        &mut self,
        redirects: &[Redirect],
        state: &State,
        directories: &[String],
    ) -> Step {
        for redirect in redirects {
            self.substitutions(&redirect.target, state)?;
            match redirect.kind {
                RedirectKind::Read | RedirectKind::Write => {
                    for word in self.single_words(&redirect.target, state)? {
                        if word.form == Form::Pipe && redirect.kind == RedirectKind::Read {
                            continue;
                        }
                        // A pattern that matches one file names it; if it matches several, bash fails.
                        if word.form != Form::Literal
                            && (word.form != Form::Pattern || redirect.kind != RedirectKind::Read)
                        {
                            return Err(whole_line_stop());
                        }
                        if matches!(
                            word.text.as_str(),
                            "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin"
                        ) {
                            continue;
                        }
                        let touch =
                            if redirect.kind == RedirectKind::Read { Touch::Read } else { Touch::Write };
                        self.touch(directories, touch(word.text))?;
                    }
                }
                RedirectKind::Document(index) => {
                    let parts = self.documents.get(index).map(|document| document.parts.as_slice());
                    let is_harmless = |part: &Part| match part {
                        Part::Text(..) | Part::Number => true,
                        Part::Variable(name, _) | Part::Derived(name, _) => may_show(name, state),
                        _ => false,
                    };
                    if !parts.unwrap_or_default().iter().all(is_harmless) {
                        return Err(whole_line_stop());
                    }
                }
                RedirectKind::Duplicate | RedirectKind::Text => {}
            }
        }
        Ok(())
    }
}

/// Returns the directories that a `cd` leads to from these directories. Bash resolves `..` by the names of folders and
/// not by links. `None` if a target is unknown or above the line's folder.
pub(super) fn cd_targets(directories: &[String], folder: &Reads) -> Option<Vec<String>> {
    let [folder] = folder.as_slice() else { return None };
    if folder.contains(UNKNOWN) || folder.contains(FOUND) {
        return None;
    }
    directories.iter().map(|directory| joined(directory, folder)).collect()
}

fn joined(directory: &str, folder: &str) -> Option<String> {
    let (root, start) = if folder.starts_with('/') {
        ("/", "")
    } else if directory.starts_with('/') {
        ("/", directory)
    } else {
        ("", directory)
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in start.split('/').chain(folder.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let path = format!("{root}{}", parts.join("/"));
    Some(if path.is_empty() { ".".to_owned() } else { path })
}
