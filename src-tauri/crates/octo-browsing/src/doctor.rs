//! The browser doctor: checks everything needed to work in a browser, one line each, and suggests repairs.

use crate::{HomeBrowser, home_browser::is_open, state};
use octo_browser::{
    BrowserEnvironment, BrowserProduct, CAN_LAUNCH, Probe, ProbedBrowser, ReleaseChannel, candidates,
    executables,
};
use octo_protocol::{
    ApiError, AttachMethod, BrowserAccess, BrowserCheck, BrowserCheckKind, BrowserCheckResult, BrowserChoice,
    BrowserRepair, BrowserState, FoundBrowser, FoundBrowsers,
};

/// The first version that asks its person.
const ASKS_SINCE: u32 = 144;

impl HomeBrowser {
    /// Returns the browsers of this machine that were used or that answer, with their probe results. Asks the
    /// person nothing.
    pub async fn find(&self) -> FoundBrowsers {
        let found = octo_browser::find(self.environment(), None).await;
        let named = match self.named_folder() {
            Some(folder) => octo_browser::find(self.environment(), Some(&folder)).await,
            None => Vec::new(),
        };
        let door = |found: &ProbedBrowser| match found.probe {
            Probe::Flag { .. } => BrowserAccess::Open,
            Probe::Approval { .. } => BrowserAccess::Asks,
            Probe::OtherProgram | Probe::Off => BrowserAccess::Closed,
        };
        let mut browsers: Vec<FoundBrowser> = Vec::new();
        let known = candidates(self.environment(), None).into_iter().filter(|one| one.folder.is_dir());
        let answering = named.iter().chain(&found);
        for candidate in answering.clone().map(|found| found.candidate.clone()).chain(known) {
            let folder = candidate.folder.display().to_string();
            if browsers.iter().any(|browser| browser.folder == folder) {
                continue;
            }
            let heard = answering.clone().find(|found| found.candidate.folder == candidate.folder);
            browsers.push(FoundBrowser {
                id: state::id_of(candidate.product),
                name: candidate.product.name().to_owned(),
                folder,
                access: heard.map_or(BrowserAccess::Closed, door),
                allow_address: candidate.product.switch_page().to_owned(),
            });
        }
        FoundBrowsers { browsers, own: CAN_LAUNCH }
    }

    /// Runs the checks in dependency order. Asks the person nothing and attaches to nothing.
    pub async fn examine(&self) -> Vec<BrowserCheck> {
        let choice = self.choice();
        let installed = executables(self.environment());
        let found = if choice == BrowserChoice::Own { Vec::new() } else { self.found().await };
        let state = self.state();
        let mut checks = vec![self.installed(installed.first().map(|(product, _)| product.name()), &choice)];
        if choice != BrowserChoice::Own {
            checks.push(version(&state, &found, OwnProfileSupport::HERE));
            checks.push(listens(&state, &found, &installed, OwnProfileSupport::HERE));
        }
        checks.push(attached(&state));
        checks.push(self.works(&state).await);
        checks.push(private(&state, &found, &known(self.environment()), OwnProfileSupport::HERE));
        checks
    }

    fn installed(&self, name: Option<&str>, choice: &BrowserChoice) -> BrowserCheck {
        let about = BrowserCheckKind::Installed;
        match (choice, name) {
            (BrowserChoice::Off, _) => BrowserCheck {
                repair: Some(OwnProfileSupport::HERE.repair()),
                ..check(about, BrowserCheckResult::Broken, ApiError::new("browser.off"))
            },
            (_, Some(name)) => {
                let note = ApiError::new("browser.check.installed").arg("browser", name);
                check(about, BrowserCheckResult::Fine, note)
            }
            // A browser in a folder that the person named may be installed anywhere.
            (BrowserChoice::Folder { path }, None) => {
                let note = ApiError::new("browser.check.folder").arg("folder", path);
                check(about, BrowserCheckResult::Notice, note)
            }
            (_, None) => BrowserCheck {
                repair: Some(BrowserRepair::ChooseFolder),
                ..check(about, BrowserCheckResult::Broken, ApiError::new("browser.none_installed"))
            },
        }
    }

    /// Opens, reads and closes an empty page of Octo's own.
    async fn works(&self, state: &BrowserState) -> BrowserCheck {
        let about = BrowserCheckKind::Works;
        let Some(connected) = self.connected() else {
            let why = match state {
                BrowserState::WaitingForAllow { .. } => "browser.check.once_allowed",
                BrowserState::Apart
                | BrowserState::Looking
                | BrowserState::Attached { .. }
                | BrowserState::Lost { .. } => "browser.check.not_attached",
            };
            return check(about, BrowserCheckResult::Skipped, ApiError::new(why));
        };
        let tried = async {
            let tab = connected.tabs.open_behind("about:blank").await.map_err(|error| error.to_string())?;
            let page = octo_browser::Page::attach(&connected.link, &tab.target).await;
            let read = match &page {
                Ok(page) => page.frames().await.map(|_| ()).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            drop(page);
            let closed = connected.tabs.close(&tab, octo_browser::CloseScope::OwnTabs).await;
            read.and(closed.map_err(|error| error.to_string()))
        };
        match tried.await {
            Ok(()) => check(about, BrowserCheckResult::Fine, ApiError::new("browser.check.works")),
            Err(why) => BrowserCheck {
                repair: Some(BrowserRepair::Attach),
                ..check(about, BrowserCheckResult::Broken, ApiError::new("browser.unreachable").detail(why))
            },
        }
    }
}

/// Whether a browser with Octo's own profile can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnProfileSupport {
    /// It can be started.
    Starts,
    /// Not on this system.
    CannotStart,
}

impl OwnProfileSupport {
    const HERE: Self = if CAN_LAUNCH { Self::Starts } else { Self::CannotStart };

    /// Returns the repair if the chosen browser does not work: Octo's own browser, or another one if it cannot
    /// be started.
    fn repair(self) -> BrowserRepair {
        match self {
            Self::Starts => BrowserRepair::UseOwn,
            Self::CannotStart => BrowserRepair::ChooseFolder,
        }
    }
}

fn check(about: BrowserCheckKind, result: BrowserCheckResult, note: ApiError) -> BrowserCheck {
    BrowserCheck { about, result, note, repair: None }
}

/// Checks the version, if known. A browser that asks its person reveals it only after approval, but only recent
/// ones ask.
fn version(state: &BrowserState, found: &[ProbedBrowser], own: OwnProfileSupport) -> BrowserCheck {
    let about = BrowserCheckKind::Version;
    let told = match state {
        BrowserState::Attached { version, .. } => Some(version.clone()),
        _ => found.iter().find_map(|found| match &found.probe {
            Probe::Flag { version, .. } => Some(version.clone()),
            Probe::Approval { .. } | Probe::OtherProgram | Probe::Off => None,
        }),
    };
    let major = told.as_deref().and_then(major_of);
    let asks = found.iter().any(|found| matches!(found.probe, Probe::Approval { .. }));
    match (major, told) {
        (Some(major), Some(told)) if major < ASKS_SINCE => {
            let note = ApiError::new("browser.check.old").arg("version", told).arg("needed", ASKS_SINCE);
            // A browser with its own profile asks no question, whatever its version.
            BrowserCheck { repair: Some(own.repair()), ..check(about, BrowserCheckResult::Notice, note) }
        }
        (_, Some(told)) => {
            let note = ApiError::new("browser.check.version").arg("version", told);
            check(about, BrowserCheckResult::Fine, note)
        }
        (_, None) if asks => check(about, BrowserCheckResult::Fine, ApiError::new("browser.check.asks")),
        (_, None) => check(about, BrowserCheckResult::Skipped, ApiError::new("browser.check.no_version")),
    }
}

fn major_of(version: &str) -> Option<u32> {
    version.rsplit('/').next()?.split('.').next()?.parse().ok()
}

fn listens(
    state: &BrowserState,
    found: &[ProbedBrowser],
    installed: &[(&'static octo_browser::BrowserProduct, std::path::PathBuf)],
    own: OwnProfileSupport,
) -> BrowserCheck {
    let about = BrowserCheckKind::Listens;
    if let BrowserState::Attached { browser, .. } = state {
        let note = ApiError::new("browser.check.listens").arg("browser", browser);
        return check(about, BrowserCheckResult::Fine, note);
    }
    let answers = |found: &&ProbedBrowser| matches!(found.probe, Probe::Flag { .. } | Probe::Approval { .. });
    if let Some(found) = found.iter().find(answers) {
        let note = ApiError::new("browser.check.listens").arg("browser", found.candidate.product.name());
        return check(about, BrowserCheckResult::Fine, note);
    }
    if let Some(stranger) = found.iter().find(|found| found.probe == Probe::OtherProgram) {
        let note = ApiError::new("browser.port_taken").arg("port", stranger.port);
        return BrowserCheck { repair: Some(own.repair()), ..check(about, BrowserCheckResult::Broken, note) };
    }
    let address = installed
        .iter()
        .find(|(product, _)| product.channel == ReleaseChannel::Stable)
        .or(installed.first())
        .map(|(product, _)| product.switch_page().to_owned());
    BrowserCheck {
        repair: Some(address.map_or_else(|| own.repair(), |address| BrowserRepair::CopyAddress { address })),
        ..check(about, BrowserCheckResult::Broken, ApiError::new("browser.none_listens"))
    }
}

fn attached(state: &BrowserState) -> BrowserCheck {
    let about = BrowserCheckKind::Attached;
    let attach = Some(BrowserRepair::Attach);
    match state {
        BrowserState::Attached { browser, .. } => {
            let note = ApiError::new("browser.check.attached").arg("browser", browser);
            check(about, BrowserCheckResult::Fine, note)
        }
        BrowserState::Apart | BrowserState::Looking => BrowserCheck {
            repair: attach,
            ..check(about, BrowserCheckResult::Notice, ApiError::new("browser.check.not_attached"))
        },
        BrowserState::WaitingForAllow { browser, .. } => {
            let note = ApiError::new("browser.check.waiting").arg("browser", browser);
            // Only the person can press Allow, so the note tells them where; the button can only end the
            // waiting.
            BrowserCheck {
                repair: Some(BrowserRepair::StopWaiting),
                ..check(about, BrowserCheckResult::Notice, note)
            }
        }
        BrowserState::Lost { error } => {
            BrowserCheck { repair: attach, ..check(about, BrowserCheckResult::Broken, error.clone()) }
        }
    }
}

/// Returns each known browser brand once.
fn known(environment: &BrowserEnvironment) -> Vec<&'static BrowserProduct> {
    candidates(environment, None).into_iter().map(|candidate| candidate.product).collect()
}

fn private(
    state: &BrowserState,
    found: &[ProbedBrowser],
    known: &[&'static BrowserProduct],
    own: OwnProfileSupport,
) -> BrowserCheck {
    let about = BrowserCheckKind::Private;
    let notice = |note, repair| BrowserCheck {
        repair: Some(repair),
        ..check(about, BrowserCheckResult::Notice, note)
    };
    let where_to_switch =
        |product: &BrowserProduct| BrowserRepair::CopyAddress { address: product.switch_page().to_owned() };
    match (found.iter().find(|found| is_open(found)), state) {
        (Some(open), _) => notice(
            ApiError::new("browser.check.switch").arg("port", open.port),
            where_to_switch(open.candidate.product),
        ),
        // It admitted Octo without asking, and its port was not among those probed: its file may be missing.
        (None, BrowserState::Attached { browser, way: AttachMethod::Switch, .. }) => notice(
            ApiError::new("browser.check.switch_unseen").arg("browser", browser),
            known
                .iter()
                .find(|product| product.name() == browser)
                .map_or_else(|| own.repair(), |product| where_to_switch(product)),
        ),
        (None, _) => check(about, BrowserCheckResult::Fine, ApiError::new("browser.check.private")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::{Language, words};

    #[test]
    fn versions_are_read_however_a_browser_calls_itself() {
        for (version, major) in [
            ("Chrome/156.0.7340.0", Some(156)),
            ("HeadlessChrome/99.1", Some(99)),
            ("156.0", Some(156)),
            ("x", None),
        ] {
            assert_eq!(major_of(version), major, "{version}");
        }
    }

    #[test]
    fn while_the_browser_asks_its_line_says_where_to_answer_and_can_end_the_waiting() {
        let waiting = BrowserState::WaitingForAllow { browser: "Chrome".to_owned(), since: 0 };
        let line = attached(&waiting);
        assert_eq!(
            (line.result, line.repair),
            (BrowserCheckResult::Notice, Some(BrowserRepair::StopWaiting))
        );
        let words = words::explain(Language::En, &line.note);
        assert!(words.contains("Chrome") && words.contains("press Allow"), "{words}");
    }

    #[test]
    fn a_profile_of_its_own_is_recommended_only_where_it_can_be() {
        let none = |own| listens(&BrowserState::Apart, &[], &[], own).repair;
        assert_eq!(none(OwnProfileSupport::Starts), Some(BrowserRepair::UseOwn));
        assert_eq!(none(OwnProfileSupport::CannotStart), Some(BrowserRepair::ChooseFolder));
        let old = BrowserState::Attached {
            browser: "Chromium".to_owned(),
            version: "Chrome/120.0".to_owned(),
            way: AttachMethod::Switch,
        };
        let repair = |own| version(&old, &[], own).repair;
        assert_eq!(repair(OwnProfileSupport::Starts), Some(BrowserRepair::UseOwn));
        assert_eq!(repair(OwnProfileSupport::CannotStart), Some(BrowserRepair::ChooseFolder));
    }
    #[test]
    fn who_was_let_in_by_a_switch_hears_what_to_do_wherever_its_port_is() {
        let attached = |browser: &str| BrowserState::Attached {
            browser: browser.to_owned(),
            version: "Chrome/156.0".to_owned(),
            way: AttachMethod::Switch,
        };
        let known = known(&BrowserEnvironment::of_process());
        let line = private(&attached("Chromium"), &[], &known, OwnProfileSupport::Starts);
        let address = "chrome://inspect/#remote-debugging".to_owned();
        assert_eq!(line.result, BrowserCheckResult::Notice);
        assert_eq!(line.repair, Some(BrowserRepair::CopyAddress { address }));
        for language in [Language::En, Language::Zh] {
            let words = words::explain(language, &line.note);
            assert!(words.contains("Chromium") && !words.contains(['?', '{']), "{words}");
        }
        // An unknown browser has no settings page to open.
        let repair = private(&attached("Other"), &[], &known, OwnProfileSupport::Starts).repair;
        assert_eq!(repair, Some(BrowserRepair::UseOwn));
    }
}
