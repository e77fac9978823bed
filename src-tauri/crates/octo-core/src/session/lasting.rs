//! Effects of a call that no undo reverts: over the network, in the browser, outside the session's folder. They
//! are noted in the turn's step before the call runs, like the files it changes.
//!
//! For commands, the known facts are their words and their confinement. A confined command writes only to the
//! folder, to temporary folders and caches, and to additional allowed paths, which are listed; an unconfined
//! command whose words do not reveal everything is listed itself. Reading, fetching and looking are not listed,
//! nor are changes of file tools outside the folder, because those are recorded.

use super::workspace::Workspace;
use crate::clock::now;
use crate::permission::{Extent, Nature};
use octo_protocol::{CallId, LastingKind, LastingMark};
use octo_shell::{Around, Confinement, Lasts, Shell, typed};
use octo_tools::{BrowserEffect, CommandEffect, Effects, PageAct, WishedDeed};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Maximum length of a recorded command, in characters.
const SHOWN: usize = 120;

/// Whether the system confines a command to its grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// It is confined.
    Yes,
    /// It is not: the system cannot, must not, or the command could not work that way.
    No,
}

/// A call that is about to run.
pub(super) struct Deed {
    call: CallId,
    /// The session's folder, whose changes are recorded.
    folder: PathBuf,
    /// The session's own temporary folder, which is deleted with it.
    scratch: PathBuf,
    shell: Shell,
    around: Around,
    held: Held,
}

impl Deed {
    /// Of a call in this workspace, which the system holds to the confinement if there is one.
    pub(super) fn new(
        call: CallId,
        workspace: &Workspace,
        around: Around,
        confinement: Option<&Confinement>,
    ) -> Self {
        Self {
            call,
            folder: workspace.folder().to_owned(),
            scratch: workspace.scratch().to_owned(),
            shell: workspace.shell().clone(),
            around,
            held: if confinement.is_some() { Held::Yes } else { Held::No },
        }
    }

    /// Returns the lasting effects.
    pub(super) async fn lasting(&self, effects: &Effects, nature: &Nature) -> Vec<LastingMark> {
        let found = match (&effects.command, &effects.browser) {
            (Some(CommandEffect::Start { line, .. }), _) => {
                of_command(line, nature, self.held, &[&self.folder, &self.scratch])
            }
            (Some(CommandEffect::Input { handle, input }), _) => self.of_input(handle, input).await,
            (_, Some(effect)) => of_browser(effect).into_iter().collect(),
            (Some(CommandEffect::Control) | None, _) => BTreeSet::new(),
        };
        let mark = |(kind, what)| LastingMark { kind, what, times: 1, call: self.call, at: now() };
        found.into_iter().map(mark).collect()
    }

    /// Returns the effects of typed input, which depend on the program that receives it. The input itself is
    /// not recorded.
    async fn of_input(&self, handle: &str, input: &str) -> BTreeSet<(LastingKind, String)> {
        let Some((line, cwd)) = self.shell.command_of(handle) else { return BTreeSet::new() };
        let around = Around { folder: cwd, ..self.around.clone() };
        let (shown, input, held) = (short(&line), input.to_owned(), self.held);
        // Off the async threads: parsing a long paste takes time.
        let kinds = tokio::task::spawn_blocking(move || {
            let mut kinds = typed(&input, &around);
            // A program that works elsewhere continues to do so.
            kinds.extend(typed(&line, &around));
            kinds
        });
        let mut kinds: BTreeSet<LastingKind> = kinds.await.unwrap_or_default().into_iter().collect();
        if held == Held::No {
            kinds.insert(LastingKind::Unheld);
        }
        kinds.into_iter().map(|kind| (kind, shown.clone())).collect()
    }
}

fn of_command(
    line: &str,
    nature: &Nature,
    held: Held,
    recorded: &[&Path],
) -> BTreeSet<(LastingKind, String)> {
    let mut found: BTreeSet<_> =
        nature.lasting.iter().map(|Lasts { kind, part }| (*kind, short(part))).collect();
    let outside = nature.writes.iter().filter(|path| !recorded.iter().any(|folder| path.starts_with(folder)));
    found.extend(outside.map(|path| (LastingKind::Outside, path.display().to_string())));
    // A line that is exactly one such command is already listed by it.
    let named = nature.lasting.iter().any(|lasts| lasts.part.trim() == line.trim());
    if held == Held::No && nature.known == Extent::Part && !named {
        found.insert((LastingKind::Unheld, short(line)));
    }
    found
}

fn of_browser(effect: &BrowserEffect) -> Option<(LastingKind, String)> {
    let kind = match &effect.wish.deed {
        WishedDeed::Open { .. } | WishedDeed::Navigate { .. } | WishedDeed::Back => LastingKind::Visited,
        WishedDeed::Act(PageAct::Upload(..)) => LastingKind::Uploaded,
        WishedDeed::Act(PageAct::Hover(_) | PageAct::Scroll(_) | PageAct::Wait(_)) => return None,
        WishedDeed::Act(
            PageAct::Click(_)
            | PageAct::DoubleClick(_)
            | PageAct::Type(..)
            | PageAct::Fill(..)
            | PageAct::Press(..)
            | PageAct::Drag(..)
            | PageAct::Select(..)
            | PageAct::ClickAt(..),
        )
        | WishedDeed::Dialog(_)
        | WishedDeed::Evaluate { .. } => LastingKind::Acted,
        WishedDeed::Download { .. } => LastingKind::Downloaded,
        WishedDeed::Status
        | WishedDeed::Tabs
        | WishedDeed::Focus
        | WishedDeed::Close
        | WishedDeed::Snapshot { .. }
        | WishedDeed::Find { .. }
        | WishedDeed::Read { .. }
        | WishedDeed::Screenshot { .. } => return None,
    };
    let site = effect.weight.as_ref()?.place.as_ref()?.site.clone();
    Some((kind, short(&site)))
}

/// Returns the beginning of a command, on one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = line.chars();
    let mut cut: String = chars.by_ref().take(SHOWN).collect();
    if chars.next().is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_tools::{BrowserWish, Place, Weight};

    fn lasts(kind: LastingKind, part: &str) -> Lasts {
        Lasts { kind, part: part.to_owned() }
    }

    #[test]
    fn a_command_is_listed_for_what_nothing_held_it_from() {
        let (folder, scratch) = (Path::new("/work"), Path::new("/octo/scratch"));
        let push = lasts(LastingKind::Pushed, "git push");
        let writes = ["/work/a", "/octo/scratch/b", "/etc/c"].map(PathBuf::from).to_vec();
        let known = Nature { known: Extent::All, writes, ..Nature::default() };
        let pushes = Nature { lasting: vec![push], ..Nature::default() };
        for (line, nature, held, expected) in [
            ("cp a /etc/c", &known, Held::No, vec![(LastingKind::Outside, "/etc/c")]),
            ("cp a /etc/c", &known, Held::Yes, vec![(LastingKind::Outside, "/etc/c")]),
            ("./build.sh", &Nature::default(), Held::Yes, vec![]),
            ("./build.sh", &Nature::default(), Held::No, vec![(LastingKind::Unheld, "./build.sh")]),
            ("git push", &pushes, Held::No, vec![(LastingKind::Pushed, "git push")]),
            ("./a && git push", &pushes, Held::Yes, vec![(LastingKind::Pushed, "git push")]),
            (
                "./a &&\n  git push",
                &pushes,
                Held::No,
                vec![(LastingKind::Pushed, "git push"), (LastingKind::Unheld, "./a && git push")],
            ),
        ] {
            let found = of_command(line, nature, held, &[folder, scratch]);
            let found: Vec<_> = found.iter().map(|(kind, what)| (*kind, what.as_str())).collect();
            assert_eq!(found, expected, "{line} {held:?}");
        }
    }

    #[test]
    fn what_changes_a_page_is_listed_with_its_site_and_reading_is_not() {
        let done = |deed| {
            let place = Place { site: "https://shop.example".to_owned(), entry: octo_tools::Entry::Open };
            let weight = Weight { place: Some(place), ..Weight::default() };
            of_browser(&BrowserEffect { wish: BrowserWish { tab: None, deed }, weight: Some(weight) })
        };
        let url = || "https://shop.example/?token=secret".to_owned();
        for (deed, expected) in [
            (WishedDeed::Open { url: url() }, Some(LastingKind::Visited)),
            (WishedDeed::Navigate { url: url() }, Some(LastingKind::Visited)),
            (WishedDeed::Act(PageAct::Click(1)), Some(LastingKind::Acted)),
            (WishedDeed::Act(PageAct::Fill(1, "secret".to_owned())), Some(LastingKind::Acted)),
            (WishedDeed::Act(PageAct::Upload(1, Vec::new())), Some(LastingKind::Uploaded)),
            (WishedDeed::Download { target: 1 }, Some(LastingKind::Downloaded)),
            (WishedDeed::Evaluate { script: "secret".to_owned() }, Some(LastingKind::Acted)),
            (WishedDeed::Act(PageAct::Hover(1)), None),
            (WishedDeed::Snapshot { lines: octo_tools::PageLines::All, part: 1 }, None),
            (WishedDeed::Read { target: None, part: 1 }, None),
            (WishedDeed::Tabs, None),
        ] {
            let expected = expected.map(|kind| (kind, "https://shop.example".to_owned()));
            assert_eq!(done(deed.clone()), expected, "{deed:?}");
        }
    }
}
