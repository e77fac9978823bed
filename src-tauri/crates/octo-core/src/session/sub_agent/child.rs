//! A sub-agent's session: what it shares with its parent, and what it tells it.
//!
//! It works in its parent's folder, by its parent's rules and for its parent's task: what it does to files is one step
//! with what the parent's turn does. It has one turn. Once that is over it can be read, and nothing more begins in it;
//! one that an earlier process left open is ended as stopped, for nobody waits for its summary any more.

use crate::{
    builtin::{Client, Deed, Witness},
    session::{
        attached::Attached,
        budget::Allowance,
        calls::OpenCall,
        meter::Seen,
        state::{Running, Session},
        tasks::TurnTask,
    },
};
use octo_protocol::{
    ApiError, BilledCall, CallState, Cost, ForkOrigin, Message, Role, SessionId, SessionStatus, ToolCount,
    TurnEnd, TurnId, Usage,
};
use octo_store::StoredFork;
use octo_tools::{DeskLeave, INVOKE_SKILL};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio_util::task::TaskTracker;

/// Tools no sub-agent may use: it starts none of its own, and does not take its parent's task back.
const NEVER: &[&str] = &[INVOKE_SKILL, "undo_task", "redo_task"];
/// Characters of the last line a card shows.
const LINE: usize = 200;

/// What a sub-agent's session gets from its parent when it begins.
pub(crate) struct Lifeline {
    pub(in crate::session) kept: FromParent,
    /// Where what ended commands changed is looked for: the parent's task waits for that.
    pub(in crate::session) looking: TaskTracker,
    /// Sites the person granted to the task.
    pub(in crate::session) granted: Vec<String>,
    pub(in crate::session) allowance: Allowance,
    pub(in crate::session) attached: Attached,
    pub(in crate::session) seen: Seen,
}

/// What a session is as a sub-agent.
pub(in crate::session) struct Forked {
    pub(in crate::session) origin: ForkOrigin,
    barred: Arc<[String]>,
    /// None once nobody waits for it: after a restart.
    line: Option<Line>,
}

struct Line {
    task: TurnTask,
    summary: String,
    leave: DeskLeave,
    attendance: Attendance,
    progress: Progress,
    told: watch::Sender<Progress>,
}

/// Who is there for a sub-agent's questions.
#[derive(Clone)]
pub(crate) enum Attendance {
    /// The person: its card shows that it waits.
    Person,
    /// Nobody. What would ask is refused; what it does at Octo's desk is told there.
    Nobody(mpsc::UnboundedSender<Deed>),
}

/// How far a sub-agent is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress {
    pub(in crate::session) status: SessionStatus,
    /// Answers of its model.
    pub(in crate::session) steps: u32,
    pub(in crate::session) tools: Vec<ToolCount>,
    pub(in crate::session) usage: Usage,
    pub(in crate::session) cost: Option<Cost>,
    pub(in crate::session) last_line: String,
    /// Whether one of its calls is at work.
    pub(in crate::session) acts: bool,
    /// How its turn ended and its last words, once it has.
    pub(in crate::session) end: Option<(TurnEnd, String)>,
}

impl Progress {
    pub(in crate::session) fn new() -> Self {
        Self {
            status: SessionStatus::Running,
            steps: 0,
            tools: Vec::new(),
            usage: Usage::default(),
            cost: Some(Cost::ZERO),
            last_line: String::new(),
            acts: false,
            end: None,
        }
    }

    fn called(&mut self, tool: &str) {
        match self.tools.iter_mut().find(|known| known.tool == tool) {
            Some(known) => known.count = known.count.saturating_add(1),
            None => self.tools.push(ToolCount { tool: tool.to_owned(), count: 1 }),
        }
    }
}

impl Forked {
    /// Of a stored session, with what its parent handed over if it begins now.
    pub(in crate::session) fn new(stored: StoredFork, line: Option<FromParent>) -> Self {
        let barred = NEVER.iter().map(|name| (*name).to_owned()).chain(stored.forbidden).collect();
        let line = line.map(|FromParent { task, summary, told, leave, attendance }| Line {
            task,
            summary,
            leave,
            attendance,
            progress: Progress::new(),
            told,
        });
        Self { origin: stored.origin, barred, line }
    }
}

/// What of a [`Lifeline`] is kept for the session's life.
pub(in crate::session) struct FromParent {
    pub(in crate::session) task: TurnTask,
    pub(in crate::session) summary: String,
    pub(in crate::session) told: watch::Sender<Progress>,
    /// What it may do at Octo's desk without asking. Never stored: after a restart it may nothing.
    pub(in crate::session) leave: DeskLeave,
    pub(in crate::session) attendance: Attendance,
}

impl Session {
    /// The session whose task this is: its own, or its parent's.
    pub(in crate::session) fn root(&self) -> SessionId {
        self.fork.as_ref().map_or(self.id(), |fork| fork.origin.session)
    }

    /// The turn whose task this is.
    pub(in crate::session) fn root_turn(&self, own: TurnId) -> TurnId {
        self.fork.as_ref().map_or(own, |fork| fork.origin.turn)
    }

    /// Tools that are refused here, whatever is decided about their calls.
    pub(in crate::session) fn barred(&self) -> Arc<[String]> {
        self.fork.as_ref().map_or_else(|| Arc::from([]), |fork| fork.barred.clone())
    }

    fn line(&self) -> Option<&Line> {
        self.fork.as_ref()?.line.as_ref()
    }

    /// What may be done at Octo's desk without asking.
    pub(in crate::session) fn desk_leave(&self) -> DeskLeave {
        self.line().map_or(DeskLeave::Ask, |line| line.leave)
    }

    /// Whether nobody is there to answer a question.
    pub(in crate::session) fn is_unattended(&self) -> bool {
        self.line().is_some_and(|line| matches!(line.attendance, Attendance::Nobody(_)))
    }

    /// On whose behalf its calls come to Octo's desk.
    pub(in crate::session) fn client(&self) -> Client {
        let turn = self.running.as_ref().map(|running| self.root_turn(running.view.id));
        let witness = match self.line().map(|line| &line.attendance) {
            Some(Attendance::Nobody(told)) => Witness::Told(told.clone()),
            Some(Attendance::Person) | None => Witness::Nobody,
        };
        Client { turn, witness }
    }

    /// The task of a turn that begins or goes on.
    pub(in crate::session) fn turn_task(&self, turn: TurnId) -> TurnTask {
        self.line().map_or_else(|| TurnTask::new(self, turn), |line| line.task.clone())
    }

    /// What the task of a sub-agent is called: as its parent's turn.
    pub(in crate::session) fn summary_of_parent(&self) -> Option<String> {
        Some(self.line()?.summary.clone())
    }

    /// A sub-agent has one turn, and what is of a session for good is its parent's. Fails for one.
    pub(in crate::session) fn must_be_own(&self) -> Result<(), ApiError> {
        match &self.fork {
            Some(fork) => Err(ApiError::new("fork.belongs").arg("title", &fork.origin.title)),
            None => Ok(()),
        }
    }

    fn progress(&mut self) -> Option<&mut Progress> {
        Some(&mut self.fork.as_mut()?.line.as_mut()?.progress)
    }

    /// The model gave an answer.
    pub(in crate::session) fn note_step(&mut self, message: &Message) {
        let text = message.text();
        let Some(progress) = self.progress() else { return };
        progress.steps = progress.steps.saturating_add(1);
        if let Some(line) = text.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
            progress.last_line = line.chars().take(LINE).collect();
        }
    }

    /// A call was taken up, of the tool of this name.
    pub(in crate::session) fn note_call(&mut self, tool: &str) {
        if let Some(progress) = self.progress() {
            progress.called(tool);
        }
    }

    /// A model call was billed.
    pub(in crate::session) fn note_bill(&mut self, call: &BilledCall) {
        let Some(progress) = self.progress() else { return };
        progress.usage += call.usage.unwrap_or_default();
        // One that used nothing, as far as is known, costs nothing.
        let cost = if call.usage.is_some() { call.cost } else { Some(Cost::ZERO) };
        progress.cost = progress.cost.zip(cost).map(|(sum, cost)| sum.saturating_add(cost));
    }

    /// The turn ended. Its parent hears of it once that is stored.
    pub(in crate::session) fn note_end(&mut self, turn: TurnId, end: &TurnEnd) {
        if self.fork.is_none() {
            return;
        }
        let mut said = self
            .context
            .iter()
            .rev()
            .filter(|message| message.turn == turn && message.role == Role::Assistant);
        let last = said.find_map(|message| Some(message.text()).filter(|text| !text.trim().is_empty()));
        let last = last.unwrap_or_default();
        if let Some(progress) = self.progress() {
            progress.end = Some((end.clone(), last));
        }
    }

    /// Tells the parent what was stored.
    pub(in crate::session) fn tell_parent(&mut self) {
        let status = self.info.status;
        let started = |open: &OpenCall| matches!(open.view.state, CallState::Started { .. });
        let acts = self.running.iter().any(|running| running.calls.iter().any(started));
        let Some(line) = self.fork.as_mut().and_then(|fork| fork.line.as_mut()) else { return };
        line.progress.status = status;
        line.progress.acts = acts;
        let now = line.progress.clone();
        line.told.send_if_modified(|told| {
            let changed = *told != now;
            *told = now;
            changed
        });
    }
}

impl Running {
    /// Whether a sub-agent of this turn waits for the person.
    pub(in crate::session) fn has_waiting_fork(&self) -> bool {
        self.forks.iter().any(|(call, fork)| {
            let is_open =
                |open: &crate::session::calls::OpenCall| open.call.id == *call && open.result.is_none();
            fork.waits && self.calls.iter().any(is_open)
        })
    }
}
