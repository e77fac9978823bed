//! Effects of a call that no undo reverts: over the network, in the browser, outside the session's folder. They
//! are noted in the turn's step before the call runs, like the files it changes.
//!
//! For commands, the known facts are their words and their confinement. A confined command writes only to the
//! folder, to its temporary folder and caches, and to additional allowed paths, which are listed; an unconfined
//! command whose words do not reveal everything is listed itself. Reading, fetching and looking are not listed,
//! nor are changes of file tools outside the folder, because those are recorded.

use super::workspace::Workspace;
use crate::permission::{CommandFacts, KnownExtent};
use octo_policy::{LastingPart, LineContext, typed};
use octo_protocol::{CallId, LastingEffect, LastingKind};
use octo_runtime::now;
use octo_shell::{Confinement, Shell};
use octo_tools::{BrowserAction, BrowserEffect, CommandEffect, Effects, PageInteraction};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Maximum length of a recorded command, in characters.
const MAX_COMMAND_CHARS: usize = 120;

/// Whether the system confines a command to its grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConfinementStatus {
    /// It is confined.
    Yes,
    /// It is not: the system cannot, must not, or the command could not work that way.
    No,
}

/// A call that is about to run.
pub(super) struct LastingCall {
    call: CallId,
    /// The session's folder, whose changes are recorded.
    folder: PathBuf,
    /// The session's own folders outside it, which are deleted with it.
    own: Vec<PathBuf>,
    shell: Shell,
    line_context: LineContext,
    confinement: ConfinementStatus,
}

impl LastingCall {
    /// Creates the description of a call in this workspace, with its confinement if the system provides one.
    pub(super) fn new(
        call: CallId,
        workspace: &Workspace,
        around: LineContext,
        confinement: Option<&Confinement>,
    ) -> Self {
        Self {
            call,
            folder: workspace.folder().to_owned(),
            own: workspace.writable(),
            shell: workspace.shell().clone(),
            line_context: around,
            confinement: if confinement.is_some() { ConfinementStatus::Yes } else { ConfinementStatus::No },
        }
    }

    /// Returns the lasting effects.
    pub(super) async fn lasting_effects(
        &self,
        effects: &Effects,
        facts: &CommandFacts,
    ) -> Vec<LastingEffect> {
        let effects_found = match (&effects.command, &effects.browser) {
            (Some(CommandEffect::Start { line, .. }), _) => {
                let mut inside: Vec<&Path> = self.own.iter().map(PathBuf::as_path).collect();
                inside.push(&self.folder);
                command_effects(line, facts, self.confinement, &inside)
            }
            (Some(CommandEffect::Input { handle, input }), _) => self.input_effects(handle, input).await,
            (_, Some(effect)) => browser_effects(effect).into_iter().collect(),
            (Some(CommandEffect::Control) | None, _) => BTreeSet::new(),
        };
        let to_effect =
            |(kind, subject)| LastingEffect { kind, what: subject, times: 1, call: self.call, at: now() };
        effects_found.into_iter().map(to_effect).collect()
    }

    /// Returns the effects of typed input, which depend on the program that receives it. The input itself is
    /// not recorded.
    async fn input_effects(&self, handle: &str, input: &str) -> BTreeSet<(LastingKind, String)> {
        let Some((line, cwd)) = self.shell.command_of(handle) else { return BTreeSet::new() };
        let line_context = LineContext { folder: cwd, ..self.line_context.clone() };
        let (short_line, input, confinement) = (shorten(&line), input.to_owned(), self.confinement);
        // Off the async threads: parsing a long paste takes time.
        let kinds = tokio::task::spawn_blocking(move || {
            let mut kinds = typed(&input, &line_context);
            // A program that works elsewhere continues to do so.
            kinds.extend(typed(&line, &line_context));
            kinds
        });
        let mut kinds: BTreeSet<LastingKind> = kinds.await.unwrap_or_default().into_iter().collect();
        if confinement == ConfinementStatus::No {
            kinds.insert(LastingKind::Unheld);
        }
        kinds.into_iter().map(|kind| (kind, short_line.clone())).collect()
    }
}

fn command_effects(
    line: &str,
    facts: &CommandFacts,
    confinement: ConfinementStatus,
    recorded: &[&Path],
) -> BTreeSet<(LastingKind, String)> {
    let mut effects: BTreeSet<_> =
        facts.lasting.iter().map(|LastingPart { kind, part }| (*kind, shorten(part))).collect();
    let unrecorded =
        facts.writes.iter().filter(|path| !recorded.iter().any(|folder| path.starts_with(folder)));
    effects.extend(unrecorded.map(|path| (LastingKind::Outside, path.display().to_string())));
    // A line that is exactly one such command is already listed by it.
    let is_listed = facts.lasting.iter().any(|lasts| lasts.part.trim() == line.trim());
    if confinement == ConfinementStatus::No && facts.extent == KnownExtent::Part && !is_listed {
        effects.insert((LastingKind::Unheld, shorten(line)));
    }
    effects
}

fn browser_effects(effect: &BrowserEffect) -> Option<(LastingKind, String)> {
    let kind = match &effect.request.action {
        BrowserAction::Open { .. } | BrowserAction::Navigate { .. } | BrowserAction::Back => {
            LastingKind::Visited
        }
        BrowserAction::Page(PageInteraction::Upload(..)) => LastingKind::Uploaded,
        BrowserAction::Page(
            PageInteraction::Hover(_) | PageInteraction::Scroll(_) | PageInteraction::Wait(_),
        ) => return None,
        BrowserAction::Page(
            PageInteraction::Click(_)
            | PageInteraction::DoubleClick(_)
            | PageInteraction::Type(..)
            | PageInteraction::Fill(..)
            | PageInteraction::Press(..)
            | PageInteraction::Drag(..)
            | PageInteraction::Select(..)
            | PageInteraction::ClickAt(..),
        )
        | BrowserAction::Dialog(_)
        | BrowserAction::Evaluate { .. } => LastingKind::Acted,
        BrowserAction::Download { .. } => LastingKind::Downloaded,
        BrowserAction::Status
        | BrowserAction::Tabs
        | BrowserAction::Focus
        | BrowserAction::Close
        | BrowserAction::Snapshot { .. }
        | BrowserAction::Find { .. }
        | BrowserAction::Read { .. }
        | BrowserAction::Screenshot { .. } => return None,
    };
    let site = effect.assessment.as_ref()?.location.as_ref()?.site.clone();
    Some((kind, shorten(&site)))
}

/// Returns the beginning of a command, on one line.
fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = line.chars();
    let mut beginning: String = chars.by_ref().take(MAX_COMMAND_CHARS).collect();
    if chars.next().is_some() {
        beginning.push('…');
    }
    beginning
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_tools::{BrowserAssessment, BrowserLocation, BrowserRequest};

    fn lasts(kind: LastingKind, part: &str) -> LastingPart {
        LastingPart { kind, part: part.to_owned() }
    }

    #[test]
    fn a_command_is_listed_for_what_nothing_held_it_from() {
        let (folder, scratch) = (Path::new("/work"), Path::new("/octo/scratch"));
        let push = lasts(LastingKind::Pushed, "git push");
        let writes = ["/work/a", "/octo/scratch/b", "/etc/c"].map(PathBuf::from).to_vec();
        let facts = CommandFacts { extent: KnownExtent::All, writes, ..CommandFacts::default() };
        let pushes = CommandFacts { lasting: vec![push], ..CommandFacts::default() };
        for (line, facts, confinement, expected) in [
            ("cp a /etc/c", &facts, ConfinementStatus::No, vec![(LastingKind::Outside, "/etc/c")]),
            ("cp a /etc/c", &facts, ConfinementStatus::Yes, vec![(LastingKind::Outside, "/etc/c")]),
            ("./build.sh", &CommandFacts::default(), ConfinementStatus::Yes, vec![]),
            (
                "./build.sh",
                &CommandFacts::default(),
                ConfinementStatus::No,
                vec![(LastingKind::Unheld, "./build.sh")],
            ),
            ("git push", &pushes, ConfinementStatus::No, vec![(LastingKind::Pushed, "git push")]),
            ("./a && git push", &pushes, ConfinementStatus::Yes, vec![(LastingKind::Pushed, "git push")]),
            (
                "./a &&\n  git push",
                &pushes,
                ConfinementStatus::No,
                vec![(LastingKind::Pushed, "git push"), (LastingKind::Unheld, "./a && git push")],
            ),
        ] {
            let effects = command_effects(line, facts, confinement, &[folder, scratch]);
            let pairs: Vec<_> = effects.iter().map(|(kind, subject)| (*kind, subject.as_str())).collect();
            assert_eq!(pairs, expected, "{line} {confinement:?}");
        }
    }

    #[test]
    fn what_changes_a_page_is_listed_with_its_site_and_reading_is_not() {
        let browser_effect = |action| {
            let location = BrowserLocation {
                site: "https://shop.example".to_owned(),
                access: octo_tools::LocationAccess::Open,
            };
            let assessment = BrowserAssessment { location: Some(location), ..BrowserAssessment::default() };
            browser_effects(&BrowserEffect {
                request: BrowserRequest { tab: None, action },
                assessment: Some(assessment),
            })
        };
        let url = || "https://shop.example/?token=secret".to_owned();
        for (action, expected) in [
            (BrowserAction::Open { url: url() }, Some(LastingKind::Visited)),
            (BrowserAction::Navigate { url: url() }, Some(LastingKind::Visited)),
            (BrowserAction::Page(PageInteraction::Click(1)), Some(LastingKind::Acted)),
            (BrowserAction::Page(PageInteraction::Fill(1, "secret".to_owned())), Some(LastingKind::Acted)),
            (BrowserAction::Page(PageInteraction::Upload(1, Vec::new())), Some(LastingKind::Uploaded)),
            (BrowserAction::Download { target: 1 }, Some(LastingKind::Downloaded)),
            (BrowserAction::Evaluate { script: "secret".to_owned() }, Some(LastingKind::Acted)),
            (BrowserAction::Page(PageInteraction::Hover(1)), None),
            (BrowserAction::Snapshot { lines: octo_tools::PageLines::All, part: 1 }, None),
            (BrowserAction::Read { target: None, part: 1 }, None),
            (BrowserAction::Tabs, None),
        ] {
            let expected = expected.map(|kind| (kind, "https://shop.example".to_owned()));
            assert_eq!(browser_effect(action.clone()), expected, "{action:?}");
        }
    }
}
