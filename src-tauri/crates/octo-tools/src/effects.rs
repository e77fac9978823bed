//! What a call would touch, known before it runs. Permission is decided on this and nothing else.

use crate::{BrowserLeave, BrowserWish, Browsing, Http, Site, ToolError, Weight};
use octo_protocol::LibraryChange;
use std::path::PathBuf;

/// What a call would touch. There is no default: a tool that cannot say is not a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// Files and folders it reads, resolved (see [`octo_workspace::resolve`]).
    pub reads: Vec<PathBuf>,
    /// Files it changes, resolved.
    pub writes: Vec<PathBuf>,
    /// The command it runs.
    pub command: Option<CommandEffect>,
    /// Places of the network the model chose to go to. Going out changes nothing here, so it runs unasked like
    /// reading, unless a place is near: see [`crate::Reach`].
    pub sites: Vec<Site>,
    /// Whether it may run beside other calls: only calls that change nothing at all.
    pub order: Order,
    /// Whether it asks the person something and waits.
    pub asks_person: AsksPerson,
    /// Set when it deletes things in the trash for good: how old they are at least, in days.
    pub empties_trash: Option<u32>,
    /// What it does in the person's browser.
    pub browser: Option<BrowserEffect>,
    /// What it asks for at Octo's own desk.
    pub desk: Option<DeskEffect>,
}

/// A command Octo answers itself as permission sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeskEffect {
    /// It looks at what there is.
    Looks,
    /// It changes this. No rule covers it, and some of it asks in every mode.
    Changes(LibraryChange),
}

/// A call in the browser as permission sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserEffect {
    /// What the model wants.
    pub wish: BrowserWish,
    /// What that is at the live page; none before it was looked at, and then nothing is allowed.
    pub weight: Option<Weight>,
}

/// A command as permission sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEffect {
    /// A new command line.
    Start {
        /// The command line, exactly as it will run.
        line: String,
        /// Where it will run; none for where the session's commands stand (`octo_shell::Shell::current_dir`).
        cwd: Option<PathBuf>,
        /// Extra variables, by name; a variable can turn a harmless command into another one.
        env: Vec<(String, String)>,
    },
    /// Input to a command that runs already. Judged like a new command: what is typed may run anything.
    Input {
        /// The handle.
        handle: String,
        /// What is typed.
        input: String,
    },
    /// Looking at or killing one of the session's own commands.
    Control,
}

/// Whether a call may run beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It changes nothing: it may run beside its neighbours.
    Parallel,
    /// It runs alone, in its place.
    Alone,
}

/// Whether a call waits for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsksPerson {
    /// It does not.
    No,
    /// It does; the batch stops at it.
    Yes,
}

impl Effects {
    /// Touches nothing outside Octo's own state.
    pub fn none() -> Self {
        Self {
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
            sites: Vec::new(),
            order: Order::Alone,
            asks_person: AsksPerson::No,
            empties_trash: None,
            browser: None,
            desk: None,
        }
    }

    /// Does this in the browser. Pages do not hold still: it runs alone.
    pub fn in_browser(wish: BrowserWish) -> Self {
        Self { browser: Some(BrowserEffect { wish, weight: None }), ..Self::none() }
    }

    /// The same with what it does in the browser weighed against the live page, where that is granted.
    ///
    /// # Errors
    ///
    /// What stands in the way, in words for the model: no browser, no such element.
    pub async fn weighed(
        mut self,
        browser: &dyn Browsing,
        standing: &BrowserLeave,
    ) -> Result<Self, ToolError> {
        if let Some(effect) = &mut self.browser {
            effect.weight = Some(browser.weigh(&effect.wish, standing).await?);
        }
        Ok(self)
    }

    /// The same with the names of its places looked up, so that it is known how near they are.
    pub async fn looked_up(mut self, http: &Http) -> Self {
        let sites = std::mem::take(&mut self.sites);
        self.sites = futures::future::join_all(sites.into_iter().map(|site| http.look_up(site))).await;
        self
    }

    /// Only reads these.
    pub fn reads(paths: Vec<PathBuf>) -> Self {
        Self { reads: paths, order: Order::Parallel, ..Self::none() }
    }

    /// Changes these.
    pub fn writes(paths: Vec<PathBuf>) -> Self {
        Self { writes: paths, ..Self::none() }
    }
}
