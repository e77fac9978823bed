//! Effects of a call, known before it runs. The permission decision is based on this and nothing else.

use crate::{BrowserAssessment, BrowserControl, BrowserPermission, BrowserRequest, Http, Site, ToolError};
use octo_policy::Footprint;
use octo_protocol::LibraryChange;
use std::path::PathBuf;

/// Effects of a call. There is no default: every tool must declare them.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// Files and folders it reads, resolved (see [`octo_workspace::resolve`]).
    pub reads: Vec<PathBuf>,
    /// Files it changes, resolved.
    pub writes: Vec<PathBuf>,
    /// The command it runs.
    pub command: Option<CommandEffect>,
    /// Network locations that the model chose. A request changes nothing here, so it runs without a question
    /// like reading, unless a location is on a private network: see [`Site::distance`].
    pub sites: Vec<Site>,
    /// Whether it may run in parallel with other calls: only calls that change nothing at all.
    pub order: CallConcurrency,
    /// Whether it asks the person a question and waits.
    pub asks_person: AsksPerson,
    /// Minimum age in days of the trash entries it permanently deletes; `None` if it deletes none.
    pub empties_trash: Option<u32>,
    /// Its effect in the person's browser.
    pub browser: Option<BrowserEffect>,
    /// Its effect as a builtin command.
    pub builtin: Option<BuiltinCommandEffect>,
    /// The names it changes under concurrent calls. Those of a command follow from its line.
    pub footprint: Footprint,
}

/// Effect of a builtin command, for the permission decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltinCommandEffect {
    /// It only reads.
    Reads,
    /// It makes this change. No rule covers it, and some changes need approval in every mode.
    Changes(LibraryChange),
}

/// A browser call, for the permission decision.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserEffect {
    /// The action the model requests.
    pub request: BrowserRequest,
    /// Its effects on the live page; `None` before the assessment, and nothing is allowed then.
    pub assessment: Option<BrowserAssessment>,
}

/// A shell command, for the permission decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEffect {
    /// A new command line.
    Start {
        /// The command line, exactly as it will run.
        line: String,
        /// Its folder; `None` for the current folder of the session's shell (`octo_shell::Shell::current_dir`).
        cwd: Option<PathBuf>,
        /// Extra variables, by name; a variable can turn a harmless command into a harmful one.
        env: Vec<(String, String)>,
    },
    /// Input to a running command. Judged like a new command: typed text may run anything.
    Input {
        /// Handle of the process.
        handle: String,
        /// The typed text.
        input: String,
    },
    /// Looking at or killing one of the session's own commands.
    Control,
}

/// Whether a call may run in parallel with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallConcurrency {
    /// It changes nothing: it may run in parallel.
    Parallel,
    /// It runs alone, in order.
    Alone,
}

/// Whether a call waits for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsksPerson {
    /// It does not wait.
    No,
    /// It waits; the batch stops at it.
    Yes,
}

impl Effects {
    /// Returns the effects of a call that touches nothing outside Octo's own state.
    pub fn none() -> Self {
        Self {
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
            sites: Vec::new(),
            order: CallConcurrency::Alone,
            asks_person: AsksPerson::No,
            empties_trash: None,
            browser: None,
            builtin: None,
            footprint: Footprint::default(),
        }
    }

    /// Returns the effects of a browser call. Pages change at any time, so it runs alone.
    pub fn in_browser(request: BrowserRequest) -> Self {
        Self { browser: Some(BrowserEffect { request, assessment: None }), ..Self::none() }
    }

    /// Assesses the browser call on the live page, if the page is granted, and returns the completed effects.
    ///
    /// # Errors
    ///
    /// Returns the obstacle, in words for the model: no browser, no such element.
    pub async fn assessed(
        mut self,
        browser: &dyn BrowserControl,
        permission: &BrowserPermission,
    ) -> Result<Self, ToolError> {
        if let Some(effect) = &mut self.browser {
            effect.assessment = Some(browser.assess(&effect.request, permission).await?);
        }
        Ok(self)
    }

    /// Resolves the names of its sites, so their network distance is known.
    pub async fn with_resolved_sites(mut self, http: &Http) -> Self {
        let sites = std::mem::take(&mut self.sites);
        self.sites = futures::future::join_all(sites.into_iter().map(|site| http.resolve_site(site))).await;
        self
    }

    /// Returns the effects of a call that only reads these paths.
    pub fn reads(paths: Vec<PathBuf>) -> Self {
        Self { reads: paths, order: CallConcurrency::Parallel, ..Self::none() }
    }

    /// Returns the effects of a call that brings back earlier states of these paths, links included.
    pub fn restores(paths: Vec<PathBuf>) -> Self {
        Self { footprint: Footprint::RESTORES, ..Self::writes(paths) }
    }

    /// Returns the effects of a call that changes these paths.
    pub fn writes(paths: Vec<PathBuf>) -> Self {
        Self { writes: paths, footprint: Footprint::FILE_WRITES, ..Self::none() }
    }
}
