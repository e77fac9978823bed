//! The paths a line touches.

use super::{Follower, State, Step, names::is_shown, stop_at_line};
use crate::{
    changes::Touch,
    context::UNKNOWN,
    found::FOUND,
    grammar::Reads,
    judge::seen_from,
    plain::Form,
    script::{Part, Redirect, RedirectKind},
};

impl Follower<'_> {
    pub(super) fn read(&mut self, here: &[String], text: &str) -> Step {
        self.touch(here, Touch::Read(text.to_owned()))
    }

    /// Notes a touch, seen from where the line begins.
    pub(super) fn touch(&mut self, here: &[String], touch: Touch) -> Step {
        for text in touch.paths() {
            if text.contains([UNKNOWN]) || text.contains(FOUND) || text.is_empty() {
                return Err(stop_at_line());
            }
        }
        for place in here {
            let place = std::slice::from_ref(place);
            let mapped = touch.clone().map_paths(&|text| seen_from(place, &[text])?.pop());
            self.effects.touched.push(mapped.ok_or_else(stop_at_line)?);
        }
        Ok(())
    }

    pub(super) fn redirects(&mut self, redirects: &[Redirect], state: &State, here: &[String]) -> Step {
        for redirect in redirects {
            self.inner(&redirect.target, state)?;
            match redirect.kind {
                RedirectKind::Read | RedirectKind::Write => {
                    for word in self.one(&redirect.target, state)? {
                        if word.form == Form::Pipe && redirect.kind == RedirectKind::Read {
                            continue;
                        }
                        // A pattern that matches one file names it; several make an error.
                        if word.form != Form::Literal
                            && (word.form != Form::Pattern || redirect.kind != RedirectKind::Read)
                        {
                            return Err(stop_at_line());
                        }
                        if matches!(
                            word.text.as_str(),
                            "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin"
                        ) {
                            continue;
                        }
                        let touch =
                            if redirect.kind == RedirectKind::Read { Touch::Read } else { Touch::Write };
                        self.touch(here, touch(word.text))?;
                    }
                }
                RedirectKind::Document(index) => {
                    let parts = self.documents.get(index).map(|document| document.parts.as_slice());
                    let harmless = |part: &Part| match part {
                        Part::Text(..) | Part::Number => true,
                        Part::Variable(name, _) | Part::Derived(name, _) => is_shown(name, state),
                        _ => false,
                    };
                    if !parts.unwrap_or_default().iter().all(harmless) {
                        return Err(stop_at_line());
                    }
                }
                RedirectKind::Duplicate | RedirectKind::Text => {}
            }
        }
        Ok(())
    }
}

/// Where `cd` leads, from each of these places. Bash takes `..` off the name it came by, so no link misleads it; above
/// the line's own folder the name is not known.
pub(super) fn arrival(here: &[String], folder: &Reads) -> Option<Vec<String>> {
    let [folder] = folder.as_slice() else { return None };
    if folder.contains(UNKNOWN) || folder.contains(FOUND) {
        return None;
    }
    here.iter().map(|place| joined(place, folder)).collect()
}

fn joined(place: &str, folder: &str) -> Option<String> {
    let (root, start) = if folder.starts_with('/') {
        ("/", "")
    } else if place.starts_with('/') {
        ("/", place)
    } else {
        ("", place)
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
