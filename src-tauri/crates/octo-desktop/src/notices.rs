//! Which of the system's notices is due: one for each change the person does not see, none for what they look at.

use crate::{
    census::{Census, Work},
    runs::{RunNews, Runs, news},
};
use octo_protocol::{
    ActivityRow, NoticeSettings, RunId, SessionId, SessionInfo, SessionStatus, Source, Switch, TaskNews,
    TaskRun,
};
use std::collections::{BTreeMap, BTreeSet};

/// What the person has before their eyes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Whether they look at Octo's window.
    pub attention: Attention,
    /// The session the page shows.
    pub session: Option<SessionId>,
}

/// Where the person's attention is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attention {
    /// On Octo's window.
    Here,
    /// Elsewhere: the window is hidden, small or behind another.
    #[default]
    Elsewhere,
}

/// What a notice tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoticeKind {
    /// A question waits.
    Question,
    /// A turn ended.
    Finished,
    /// A turn failed, or a run of a task did not succeed.
    Failed,
}

/// What a notice is of. Of each there is one notice at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A session.
    Session(SessionId),
    /// A run of a task that has no session.
    Run(RunId),
}

/// What the person can do with a notice, without looking at Octo first. Nothing is allowed from one: what a question asks
/// about is not on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Look at the session.
    Open,
    /// End its turn.
    Stop,
    /// Let its turn go on from where it failed.
    TryAgain,
}

impl NoticeKind {
    /// What a notice of this kind offers; the first is also what a click on the notice itself does.
    #[must_use]
    pub fn deeds(self) -> &'static [Deed] {
        match self {
            Self::Question => &[Deed::Open, Deed::Stop],
            Self::Finished => &[Deed::Open],
            Self::Failed => &[Deed::Open, Deed::TryAgain],
        }
    }
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Show a notice, in place of one of the same subject. It holds the session's title or the task's name and nothing of
    /// what was said.
    Show {
        /// Of what.
        of: Subject,
        /// What it tells.
        kind: NoticeKind,
        /// The session's title, or the task's name.
        title: String,
        /// What the run says of it, where it is one's.
        run: Option<RunNews>,
    },
    /// Take the subject's notice away: what it told of was seen, is over, or is not to be told.
    Withdraw {
        /// Of what.
        of: Subject,
    },
}

impl Act {
    /// The same as the task of its subject has it, where that has one: an earlier notice does not stay in place of one that
    /// is not to be told.
    #[must_use]
    pub fn as_told(self, task: Option<TaskNews>) -> Self {
        match self {
            Self::Show { of, kind, .. } if task.is_some_and(|task| !kind.is_news_of(task)) => {
                Self::Withdraw { of }
            }
            told => told,
        }
    }
}

impl NoticeKind {
    /// Whether a task's own choice lets this be told; the person's choice for all sessions counts as well.
    #[must_use]
    pub fn is_news_of(self, task: TaskNews) -> bool {
        match task {
            TaskNews::All => true,
            TaskNews::Trouble => self != Self::Finished,
            TaskNews::Nothing => false,
        }
    }
}

/// Follows the list of sessions, the runs of tasks and the person's eyes.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    census: Census,
    /// Whether the list was heard once.
    begun: bool,
    runs: Runs,
    /// Sessions whose end a run tells: one goes on in them, or was over before the session's end was heard.
    led: BTreeSet<SessionId>,
    shown: BTreeMap<Subject, NoticeKind>,
    /// Sessions the person stopped without looking at them: their end is no news.
    stopped: BTreeSet<SessionId>,
    sight: Sight,
    wanted: NoticeSettings,
}

impl Notices {
    /// What the person wants to be told.
    pub fn want(&mut self, wanted: NoticeSettings) {
        self.wanted = wanted;
    }

    /// How much is going on.
    #[must_use]
    pub fn work(&self) -> Work {
        Work { asking: self.runs.asking(), ..self.census.work() }
    }

    /// Takes what runs.
    pub fn take_activity(&mut self, rows: &[ActivityRow]) {
        self.census.take_activity(rows);
    }

    /// The list as a whole. What is so already when Octo starts is no news; what changed while the list was not heard
    /// is told as if it had been.
    pub fn start_over(&mut self, list: &[SessionInfo]) -> Vec<Act> {
        if !std::mem::replace(&mut self.begun, true) {
            self.census.start_over(list);
            return Vec::new();
        }
        let gone = self.census.busy().into_iter().filter(|id| !list.iter().any(|info| info.id == *id));
        let mut acts: Vec<Act> =
            gone.collect::<Vec<_>>().into_iter().filter_map(|id| self.removed(id)).collect();
        acts.extend(list.iter().filter_map(|info| self.listed(info)));
        // An end that was not heard is not waited for.
        self.led.retain(|session| self.runs.is_open_in(*session) || self.census.is_busy(*session));
        acts
    }

    /// Whether this line may be the end of a run that was not heard of yet, so that the runs are to be heard first.
    #[must_use]
    pub fn may_end_run(&self, info: &SessionInfo) -> bool {
        info.source == Source::Task
            && matches!(info.status, SessionStatus::Idle | SessionStatus::Failed)
            && self.census.is_busy(info.id)
    }

    /// The newest runs of all tasks, newest first.
    pub fn runs(&mut self, list: &[TaskRun]) -> Vec<Act> {
        let further = self.runs.heard(list);
        self.led.extend(
            list.iter().filter_map(|run| run.session).filter(|session| self.runs.is_open_in(*session)),
        );
        further.into_iter().filter_map(|run| self.run(run)).collect()
    }

    /// A run is further than it was.
    fn run(&mut self, run: &TaskRun) -> Option<Act> {
        if let Some(session) = run.session
            && !self.runs.is_open_in(session)
        {
            if self.census.is_busy(session) {
                self.led.insert(session);
            } else {
                self.led.remove(&session);
            }
        }
        let of = run.session.map_or(Subject::Run(run.id), Subject::Session);
        match news(&run.status).filter(|(kind, _)| self.is_due(of, *kind)) {
            Some((kind, why)) => {
                let news = RunNews { task: run.task.clone(), why };
                Some(self.show(of, kind, run.name.clone(), Some(news)))
            }
            // A question in its session is its session's.
            None if run.session.is_some() => None,
            None => self.withdraw(of),
        }
    }

    /// A line of the list changed.
    pub fn listed(&mut self, info: &SessionInfo) -> Option<Act> {
        if info.source == Source::SubAgent {
            return None;
        }
        let before = self.census.note(info);
        let was_busy = before.is_some();
        let is_end = matches!(info.status, SessionStatus::Idle | SessionStatus::Failed);
        if is_end && was_busy && self.led.contains(&info.id) {
            return self.led_end(info.id);
        }
        let news = match info.status {
            status if before == Some(status) => return None,
            SessionStatus::Waiting => Some(NoticeKind::Question),
            SessionStatus::Idle if was_busy => Some(NoticeKind::Finished),
            SessionStatus::Failed if was_busy => Some(NoticeKind::Failed),
            SessionStatus::Running => {
                // A new turn: whatever ends from now on was not stopped before.
                self.stopped.remove(&info.id);
                None
            }
            // A title that changed, a pin.
            SessionStatus::Idle | SessionStatus::Failed => return None,
        };
        let stopped = is_end && self.stopped.remove(&info.id);
        // Whoever began it in a terminal, or by another program, is told there.
        let told_there = info.source == Source::Headless && !self.census.is_here(info.id);
        let of = Subject::Session(info.id);
        match news.filter(|kind| !stopped && !told_there && self.is_due(of, *kind)) {
            Some(kind) => Some(self.show(of, kind, info.title.clone(), None)),
            None => self.withdraw(of),
        }
    }

    /// The end of a session's turn that a run tells.
    fn led_end(&mut self, session: SessionId) -> Option<Act> {
        self.stopped.remove(&session);
        if !self.runs.is_open_in(session) {
            self.led.remove(&session);
        }
        let of = Subject::Session(session);
        // What its run told before stays.
        if self.shown.get(&of) == Some(&NoticeKind::Question) { self.withdraw(of) } else { None }
    }

    /// A session left the list.
    pub fn removed(&mut self, session: SessionId) -> Option<Act> {
        self.census.forget(session);
        self.stopped.remove(&session);
        self.led.remove(&session);
        self.withdraw(Subject::Session(session))
    }

    /// The person looks elsewhere than before. What they see now needs no notice any more.
    pub fn look(&mut self, sight: Sight) -> Option<Act> {
        self.sight = sight;
        let session = sight.session.filter(|_| sight.attention == Attention::Here)?;
        self.withdraw(Subject::Session(session))
    }

    /// The person stops everything. The sessions to stop one by one: the others stop with what is known to run.
    pub fn stop_all(&mut self) -> Vec<SessionId> {
        self.stopped.extend(self.census.busy());
        self.census.busy_unseen()
    }

    /// The person stops a session by its notice.
    pub fn stop(&mut self, session: SessionId) {
        self.stopped.insert(session);
    }

    fn is_due(&self, of: Subject, kind: NoticeKind) -> bool {
        let wanted = match kind {
            NoticeKind::Question => self.wanted.question,
            NoticeKind::Finished => self.wanted.finished,
            NoticeKind::Failed => self.wanted.failed,
        };
        let unseen = match (self.sight.attention, kind) {
            (Attention::Elsewhere, _) => true,
            // It waits for the person, who is busy with something else in the window.
            (Attention::Here, NoticeKind::Question) => self.sight.session.map(Subject::Session) != Some(of),
            // The list marks it unread.
            (Attention::Here, NoticeKind::Finished | NoticeKind::Failed) => false,
        };
        wanted == Switch::On && unseen
    }

    fn show(&mut self, of: Subject, kind: NoticeKind, title: String, run: Option<RunNews>) -> Act {
        self.shown.insert(of, kind);
        Act::Show { of, kind, title, run }
    }

    fn withdraw(&mut self, of: Subject) -> Option<Act> {
        self.shown.remove(&of).map(|_| Act::Withdraw { of })
    }
}

#[cfg(test)]
mod tests;
