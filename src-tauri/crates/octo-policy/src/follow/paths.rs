//! The paths a line touches.

use super::{Follower, State, Step, names::is_shown, stop_at_line};
use crate::{
    changes::Touch,
    context::UNKNOWN,
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
        let text = match &touch {
            Touch::Read(text)
            | Touch::Write(text)
            | Touch::Remove(text)
            | Touch::Place(text)
            | Touch::Whole(text)
            | Touch::Merge(text)
            | Touch::Repository(text, _) => text.clone(),
        };
        if text.contains(UNKNOWN) || text.is_empty() {
            return Err(stop_at_line());
        }
        // A home is a place of its own; so is a word that only looks like one, to be on the safe side.
        let seen = if text.starts_with('~') {
            vec![text]
        } else {
            seen_from(here, &[text]).ok_or_else(stop_at_line)?
        };
        self.found.touched.extend(seen.into_iter().map(|text| match &touch {
            Touch::Read(_) => Touch::Read(text),
            Touch::Write(_) => Touch::Write(text),
            Touch::Remove(_) => Touch::Remove(text),
            Touch::Place(_) => Touch::Place(text),
            Touch::Whole(_) => Touch::Whole(text),
            Touch::Merge(_) => Touch::Merge(text),
            Touch::Repository(_, hooks) => Touch::Repository(text, *hooks),
        }));
        Ok(())
    }

    pub(super) fn redirects(&mut self, redirects: &[Redirect], state: &State, here: &[String]) -> Step {
        for redirect in redirects {
            self.inner(&redirect.target, state)?;
            match redirect.kind {
                RedirectKind::Read | RedirectKind::Write => {
                    for word in self.one(&redirect.target, state)? {
                        if word.form != Form::Literal {
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
