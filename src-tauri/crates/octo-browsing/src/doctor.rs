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

/// First major version of Chrome that asks the person whether a program may attach.
const FIRST_ASKING_VERSION: u32 = 144;

impl HomeBrowser {
    /// Returns the browsers of this machine that were used or that answer, with their probe results. Asks the
    /// person nothing.
    pub async fn find(&self) -> FoundBrowsers {
        let found = octo_browser::find(self.environment(), None).await;
        let configured = match self.configured_folder() {
            Some(folder) => octo_browser::find(self.environment(), Some(&folder)).await,
            None => Vec::new(),
        };
        let access = |found: &ProbedBrowser| match found.probe {
            Probe::Flag { .. } => BrowserAccess::Open,
            Probe::Approval { .. } => BrowserAccess::Asks,
            Probe::OtherProgram | Probe::Off => BrowserAccess::Closed,
        };
        let mut browsers: Vec<FoundBrowser> = Vec::new();
        let installed =
            candidates(self.environment(), None).into_iter().filter(|candidate| candidate.folder.is_dir());
        let answering = configured.iter().chain(&found);
        for candidate in answering.clone().map(|found| found.candidate.clone()).chain(installed) {
            let folder = candidate.folder.display().to_string();
            if browsers.iter().any(|browser| browser.folder == folder) {
                continue;
            }
            let answer = answering.clone().find(|found| found.candidate.folder == candidate.folder);
            browsers.push(FoundBrowser {
                id: state::id_of(candidate.product),
                name: candidate.product.name().to_owned(),
                folder,
                access: answer.map_or(BrowserAccess::Closed, access),
                allow_address: candidate.product.remote_debugging_page().to_owned(),
            });
        }
        FoundBrowsers { browsers, own: CAN_LAUNCH }
    }

    /// Runs the checks in dependency order. Asks the person nothing and attaches to nothing.
    pub async fn examine(&self) -> Vec<BrowserCheck> {
        let choice = self.choice();
        let installed = executables(self.environment());
        let found = if choice == BrowserChoice::Own { Vec::new() } else { self.running_browsers().await };
        let state = self.state();
        let mut checks =
            vec![self.check_installed(installed.first().map(|(product, _)| product.name()), &choice)];
        if choice != BrowserChoice::Own {
            checks.push(check_version(&state, &found, OwnProfileSupport::CURRENT));
            checks.push(check_listening(&state, &found, &installed, OwnProfileSupport::CURRENT));
        }
        checks.push(check_attached(&state));
        checks.push(self.check_page(&state).await);
        checks.push(check_access(
            &state,
            &found,
            &known_products(self.environment()),
            OwnProfileSupport::CURRENT,
        ));
        checks
    }

    fn check_installed(&self, name: Option<&str>, choice: &BrowserChoice) -> BrowserCheck {
        let kind = BrowserCheckKind::Installed;
        match (choice, name) {
            (BrowserChoice::Off, _) => BrowserCheck {
                repair: Some(OwnProfileSupport::CURRENT.repair()),
                ..check(kind, BrowserCheckResult::Broken, ApiError::new("browser.off"))
            },
            (_, Some(name)) => {
                let explanation = ApiError::new("browser.check.installed").arg("browser", name);
                check(kind, BrowserCheckResult::Fine, explanation)
            }
            // A browser in a folder that the person named may be installed anywhere.
            (BrowserChoice::Folder { path }, None) => {
                let explanation = ApiError::new("browser.check.folder").arg("folder", path);
                check(kind, BrowserCheckResult::Notice, explanation)
            }
            (_, None) => BrowserCheck {
                repair: Some(BrowserRepair::ChooseFolder),
                ..check(kind, BrowserCheckResult::Broken, ApiError::new("browser.none_installed"))
            },
        }
    }

    /// Opens, reads and closes an empty page of Octo's own.
    async fn check_page(&self, state: &BrowserState) -> BrowserCheck {
        let kind = BrowserCheckKind::Works;
        let Some(connection) = self.current_connection() else {
            let cause = match state {
                BrowserState::WaitingForAllow { .. } => "browser.check.once_allowed",
                BrowserState::Apart
                | BrowserState::Looking
                | BrowserState::Attached { .. }
                | BrowserState::Lost { .. } => "browser.check.not_attached",
            };
            return check(kind, BrowserCheckResult::Skipped, ApiError::new(cause));
        };
        let attempt = async {
            let tab = connection.tabs.open_behind("about:blank").await.map_err(|error| error.to_string())?;
            let page = octo_browser::Page::attach(&connection.link, &tab.target).await;
            let read = match &page {
                Ok(page) => page.frames().await.map(|_| ()).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            drop(page);
            let closed = connection.tabs.close(&tab, octo_browser::CloseScope::OwnTabs).await;
            read.and(closed.map_err(|error| error.to_string()))
        };
        match attempt.await {
            Ok(()) => check(kind, BrowserCheckResult::Fine, ApiError::new("browser.check.works")),
            Err(cause) => BrowserCheck {
                repair: Some(BrowserRepair::Attach),
                ..check(kind, BrowserCheckResult::Broken, ApiError::new("browser.unreachable").detail(cause))
            },
        }
    }
}

/// Support for a browser with Octo's own profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnProfileSupport {
    /// It can be started.
    Starts,
    /// Not on this system.
    CannotStart,
}

impl OwnProfileSupport {
    const CURRENT: Self = if CAN_LAUNCH { Self::Starts } else { Self::CannotStart };

    /// Returns the repair if the chosen browser does not work: Octo's own browser, or another one if it cannot
    /// be started.
    fn repair(self) -> BrowserRepair {
        match self {
            Self::Starts => BrowserRepair::UseOwn,
            Self::CannotStart => BrowserRepair::ChooseFolder,
        }
    }
}

fn check(kind: BrowserCheckKind, result: BrowserCheckResult, message: ApiError) -> BrowserCheck {
    BrowserCheck { about: kind, result, note: message, repair: None }
}

/// Checks the version, if known. A browser that asks the person reveals it only after approval, but only recent
/// ones ask.
fn check_version(state: &BrowserState, found: &[ProbedBrowser], support: OwnProfileSupport) -> BrowserCheck {
    let kind = BrowserCheckKind::Version;
    let browser_version = match state {
        BrowserState::Attached { version, .. } => Some(version.clone()),
        _ => found.iter().find_map(|found| match &found.probe {
            Probe::Flag { version, .. } => Some(version.clone()),
            Probe::Approval { .. } | Probe::OtherProgram | Probe::Off => None,
        }),
    };
    let major = browser_version.as_deref().and_then(major_of);
    let asks = found.iter().any(|found| matches!(found.probe, Probe::Approval { .. }));
    match (major, browser_version) {
        (Some(major), Some(browser_version)) if major < FIRST_ASKING_VERSION => {
            let message = ApiError::new("browser.check.old")
                .arg("version", browser_version)
                .arg("needed", FIRST_ASKING_VERSION);
            // A browser with its own profile asks no question, whatever its version.
            BrowserCheck {
                repair: Some(support.repair()),
                ..check(kind, BrowserCheckResult::Notice, message)
            }
        }
        (_, Some(browser_version)) => {
            let message = ApiError::new("browser.check.version").arg("version", browser_version);
            check(kind, BrowserCheckResult::Fine, message)
        }
        (_, None) if asks => check(kind, BrowserCheckResult::Fine, ApiError::new("browser.check.asks")),
        (_, None) => check(kind, BrowserCheckResult::Skipped, ApiError::new("browser.check.no_version")),
    }
}

fn major_of(version: &str) -> Option<u32> {
    version.rsplit('/').next()?.split('.').next()?.parse().ok()
}

fn check_listening(
    state: &BrowserState,
    found: &[ProbedBrowser],
    installed: &[(&'static octo_browser::BrowserProduct, std::path::PathBuf)],
    support: OwnProfileSupport,
) -> BrowserCheck {
    let kind = BrowserCheckKind::Listens;
    if let BrowserState::Attached { browser, .. } = state {
        let message = ApiError::new("browser.check.listens").arg("browser", browser);
        return check(kind, BrowserCheckResult::Fine, message);
    }
    let answers = |found: &&ProbedBrowser| matches!(found.probe, Probe::Flag { .. } | Probe::Approval { .. });
    if let Some(found) = found.iter().find(answers) {
        let message = ApiError::new("browser.check.listens").arg("browser", found.candidate.product.name());
        return check(kind, BrowserCheckResult::Fine, message);
    }
    if let Some(other_program) = found.iter().find(|found| found.probe == Probe::OtherProgram) {
        let message = ApiError::new("browser.port_taken").arg("port", other_program.port);
        return BrowserCheck {
            repair: Some(support.repair()),
            ..check(kind, BrowserCheckResult::Broken, message)
        };
    }
    let address = installed
        .iter()
        .find(|(product, _)| product.channel == ReleaseChannel::Stable)
        .or(installed.first())
        .map(|(product, _)| product.remote_debugging_page().to_owned());
    BrowserCheck {
        repair: Some(
            address.map_or_else(|| support.repair(), |address| BrowserRepair::CopyAddress { address }),
        ),
        ..check(kind, BrowserCheckResult::Broken, ApiError::new("browser.none_listens"))
    }
}

fn check_attached(state: &BrowserState) -> BrowserCheck {
    let kind = BrowserCheckKind::Attached;
    let attach = Some(BrowserRepair::Attach);
    match state {
        BrowserState::Attached { browser, .. } => {
            let message = ApiError::new("browser.check.attached").arg("browser", browser);
            check(kind, BrowserCheckResult::Fine, message)
        }
        BrowserState::Apart | BrowserState::Looking => BrowserCheck {
            repair: attach,
            ..check(kind, BrowserCheckResult::Notice, ApiError::new("browser.check.not_attached"))
        },
        BrowserState::WaitingForAllow { browser, .. } => {
            let message = ApiError::new("browser.check.waiting").arg("browser", browser);
            // Only the person can press Allow, so the note tells them where; the button can only end the
            // waiting.
            BrowserCheck {
                repair: Some(BrowserRepair::StopWaiting),
                ..check(kind, BrowserCheckResult::Notice, message)
            }
        }
        BrowserState::Lost { error } => {
            BrowserCheck { repair: attach, ..check(kind, BrowserCheckResult::Broken, error.clone()) }
        }
    }
}

/// Returns each known browser brand once.
fn known_products(environment: &BrowserEnvironment) -> Vec<&'static BrowserProduct> {
    candidates(environment, None).into_iter().map(|candidate| candidate.product).collect()
}

fn check_access(
    state: &BrowserState,
    found: &[ProbedBrowser],
    products: &[&'static BrowserProduct],
    support: OwnProfileSupport,
) -> BrowserCheck {
    let kind = BrowserCheckKind::Private;
    let notice = |message, repair| BrowserCheck {
        repair: Some(repair),
        ..check(kind, BrowserCheckResult::Notice, message)
    };
    let copy_address = |product: &BrowserProduct| BrowserRepair::CopyAddress {
        address: product.remote_debugging_page().to_owned(),
    };
    match (found.iter().find(|found| is_open(found)), state) {
        (Some(open), _) => notice(
            ApiError::new("browser.check.switch").arg("port", open.port),
            copy_address(open.candidate.product),
        ),
        // The browser admitted Octo without asking, but its port was not among those probed: its port file may be
        // missing.
        (None, BrowserState::Attached { browser, way: AttachMethod::Switch, .. }) => notice(
            ApiError::new("browser.check.switch_unseen").arg("browser", browser),
            products
                .iter()
                .find(|product| product.name() == browser)
                .map_or_else(|| support.repair(), |product| copy_address(product)),
        ),
        (None, _) => check(kind, BrowserCheckResult::Fine, ApiError::new("browser.check.private")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::{Language, words};

    #[test]
    fn the_version_of_every_browser_name_parses() {
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
    fn a_waiting_check_says_where_to_answer_and_can_be_cancelled() {
        let waiting = BrowserState::WaitingForAllow { browser: "Chrome".to_owned(), since: 0 };
        let check = check_attached(&waiting);
        assert_eq!(
            (check.result, check.repair),
            (BrowserCheckResult::Notice, Some(BrowserRepair::StopWaiting))
        );
        let message = words::explain(Language::En, &check.note);
        assert!(message.contains("Chrome") && message.contains("press Allow"), "{message}");
    }

    #[test]
    fn octos_own_profile_is_recommended_only_where_it_is_supported() {
        let repair_of = |support| check_listening(&BrowserState::Apart, &[], &[], support).repair;
        assert_eq!(repair_of(OwnProfileSupport::Starts), Some(BrowserRepair::UseOwn));
        assert_eq!(repair_of(OwnProfileSupport::CannotStart), Some(BrowserRepair::ChooseFolder));
        let outdated = BrowserState::Attached {
            browser: "Chromium".to_owned(),
            version: "Chrome/120.0".to_owned(),
            way: AttachMethod::Switch,
        };
        let repair = |support| check_version(&outdated, &[], support).repair;
        assert_eq!(repair(OwnProfileSupport::Starts), Some(BrowserRepair::UseOwn));
        assert_eq!(repair(OwnProfileSupport::CannotStart), Some(BrowserRepair::ChooseFolder));
    }
    #[test]
    fn the_private_check_explains_a_debugging_switch_at_any_port() {
        let attached = |browser: &str| BrowserState::Attached {
            browser: browser.to_owned(),
            version: "Chrome/156.0".to_owned(),
            way: AttachMethod::Switch,
        };
        let products = known_products(&BrowserEnvironment::from_process());
        let check = check_access(&attached("Chromium"), &[], &products, OwnProfileSupport::Starts);
        let address = "chrome://inspect/#remote-debugging".to_owned();
        assert_eq!(check.result, BrowserCheckResult::Notice);
        assert_eq!(check.repair, Some(BrowserRepair::CopyAddress { address }));
        for language in [Language::En, Language::Zh] {
            let message = words::explain(language, &check.note);
            assert!(message.contains("Chromium") && !message.contains(['?', '{']), "{message}");
        }
        // An unknown browser has no settings page to open.
        let repair = check_access(&attached("Other"), &[], &products, OwnProfileSupport::Starts).repair;
        assert_eq!(repair, Some(BrowserRepair::UseOwn));
    }
}
