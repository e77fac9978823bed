//! Which of the system's notices is due: one for each change the person does not see, none for what they look at.

use crate::census::{Census, Work};
use octo_protocol::{NoticeSettings, SessionId, SessionInfo, SessionStatus, Source, Switch, TaskNews};
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
    /// A turn failed.
    Failed,
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
    /// Show a notice, in place of one of the same session. It holds the session's title and nothing of what was said.
    Show {
        /// Of which session.
        session: SessionId,
        /// What it tells.
        kind: NoticeKind,
        /// The session's title.
        title: String,
    },
    /// Take the session's notice away: what it told of was seen, or is over.
    Withdraw {
        /// Of which session.
        session: SessionId,
    },
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

/// Follows the list of sessions and the person's eyes.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    census: Census,
    /// Whether the list was heard once.
    begun: bool,
    shown: BTreeMap<SessionId, NoticeKind>,
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
        self.census.work()
    }

    /// The sessions that are busy, oldest first.
    #[must_use]
    pub fn busy(&self) -> Vec<SessionId> {
        self.census.busy()
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
        acts
    }

    /// A line of the list changed.
    pub fn listed(&mut self, info: &SessionInfo) -> Option<Act> {
        if info.source == Source::SubAgent {
            return None;
        }
        let before = self.census.note(info);
        let was_busy = before.is_some();
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
        let stopped = matches!(info.status, SessionStatus::Idle | SessionStatus::Failed)
            && self.stopped.remove(&info.id);
        match news.filter(|kind| !stopped && self.is_due(info.id, *kind)) {
            Some(kind) => {
                self.shown.insert(info.id, kind);
                Some(Act::Show { session: info.id, kind, title: info.title.clone() })
            }
            None => self.withdraw(info.id),
        }
    }

    /// A session left the list.
    pub fn removed(&mut self, session: SessionId) -> Option<Act> {
        self.census.forget(session);
        self.stopped.remove(&session);
        self.withdraw(session)
    }

    /// The person looks elsewhere than before. What they see now needs no notice any more.
    pub fn look(&mut self, sight: Sight) -> Option<Act> {
        self.sight = sight;
        let session = sight.session.filter(|_| sight.attention == Attention::Here)?;
        self.withdraw(session)
    }

    /// The person stops everything that is busy.
    pub fn stop_all(&mut self) -> Vec<SessionId> {
        let busy = self.census.busy();
        self.stopped.extend(busy.iter().copied());
        busy
    }

    /// The person stops a session by its notice.
    pub fn stop(&mut self, session: SessionId) {
        self.stopped.insert(session);
    }

    fn is_due(&self, session: SessionId, kind: NoticeKind) -> bool {
        let wanted = match kind {
            NoticeKind::Question => self.wanted.question,
            NoticeKind::Finished => self.wanted.finished,
            NoticeKind::Failed => self.wanted.failed,
        };
        let unseen = match (self.sight.attention, kind) {
            (Attention::Elsewhere, _) => true,
            // It waits for the person, who is busy with something else in the window.
            (Attention::Here, NoticeKind::Question) => self.sight.session != Some(session),
            // The list marks it unread.
            (Attention::Here, NoticeKind::Finished | NoticeKind::Failed) => false,
        };
        wanted == Switch::On && unseen
    }

    fn withdraw(&mut self, session: SessionId) -> Option<Act> {
        self.shown.remove(&session).map(|_| Act::Withdraw { session })
    }
}

#[cfg(test)]
mod tests;
