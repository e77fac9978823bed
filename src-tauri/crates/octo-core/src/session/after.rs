//! After a turn: Octo looks back at it in parallel with the following work, and may remember something or
//! propose a skill.
//!
//! Each look back is a sub-agent on the session's own model that starts with the whole conversation, so it
//! reads what the cache still holds, and usually ends with one line. It runs unattended: calls that would ask
//! are refused (see [`super::ready::ReadyCall::unattended`]), and it can change only memories, or proposals that
//! wait for the person. In one pause the skill is examined before the memory, as both read the same cache. The
//! conversation itself does not change by a byte; if something was remembered a note informs the person.
//!
//! The person's next message ends the look back, but not in the middle of a write; a memory update cut off this
//! way is made up for at the end of a later turn. Stop and the session's end end it at once.

mod work;

use super::{JobReport, state::Session, step::Step, tasks::TurnStep, warmth::Moment};
use octo_protocol::{ApiError, Event, Message, Origin, Role, Source, Switch, ToolCall, TurnId};
use octo_tools::INVOKE_SKILL;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use work::{LookBackAim, LookBackRun};

/// Number of the model's answers from which a turn may contain something to remember.
const REMEMBERS_FROM: u32 = 10;
/// Number of answers since a skill was called by a slash command from which Octo checks whether the skill could
/// be better.
const REFLECTS_FROM: u32 = 5;
/// Number of answers of a turn without a skill from which Octo checks whether it should become one.
const PROPOSES_FROM: u32 = 12;

/// Data about a turn that the look back needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnFacts {
    /// Answers of its own model, without those of sub-agents.
    answers: u32,
    skills: InvokedSkills,
}

/// The skills invoked in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum InvokedSkills {
    /// None was invoked.
    #[default]
    None,
    /// The model invoked some.
    ByModel,
    /// The turn began with this skill, called by the person.
    BySlash(String),
}

impl TurnFacts {
    /// Starts with a skill the person called.
    pub(super) fn with_skill(skill: &str) -> Self {
        Self { answers: 0, skills: InvokedSkills::BySlash(skill.to_owned()) }
    }

    /// Derives the data from the messages, for a turn that began in an earlier process or before its session
    /// was opened.
    pub(super) fn from_messages(context: &[Message], turn: TurnId) -> Self {
        let mut facts = Self::default();
        let answers =
            context.iter().filter(|message| message.turn == turn && message.role == Role::Assistant);
        for message in answers {
            let mut skills = message.calls().filter(|call| call.name == INVOKE_SKILL);
            if message.meta.origin == Origin::Octo {
                if let Some(name) = skills.find_map(called_skill) {
                    facts.skills = InvokedSkills::BySlash(name);
                }
                continue;
            }
            facts.count_answer();
            if skills.next().is_some() {
                facts.record_skill();
            }
        }
        facts
    }

    /// Returns the number of answers of its own model so far.
    pub(super) fn answers(&self) -> u32 {
        self.answers
    }

    /// Counts an answer of its model.
    pub(super) fn count_answer(&mut self) {
        self.answers = self.answers.saturating_add(1);
    }

    /// Records that a call of its model invoked a skill.
    pub(super) fn record_skill(&mut self) {
        if self.skills == InvokedSkills::None {
            self.skills = InvokedSkills::ByModel;
        }
    }
}

/// Returns the skill a call names.
fn called_skill(call: &ToolCall) -> Option<String> {
    #[derive(Deserialize)]
    struct SkillCallArguments {
        skill_name: String,
    }
    serde_json::from_str::<SkillCallArguments>(&call.arguments).ok().map(|arguments| arguments.skill_name)
}

/// A finished turn.
pub(crate) struct FinishedTurn {
    turn: TurnId,
    facts: TurnFacts,
    task: TurnStep,
    /// Summary of the turn's step in the time machine.
    summary: String,
}

impl FinishedTurn {
    pub(super) fn new(turn: TurnId, facts: TurnFacts, task: TurnStep, summary: String) -> Self {
        Self { turn, facts, task, summary }
    }
}

/// The look back after a session's turns.
#[derive(Default)]
pub(super) struct LookBackState {
    running: Option<RunningLookBack>,
    memory: MemoryUpdateState,
}

/// Whether an earlier turn's memory update was cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MemoryUpdateState {
    #[default]
    UpToDate,
    Due,
}

struct RunningLookBack {
    turn: TurnId,
    /// The value of `MemoryUpdateState` if it is ended before it could look.
    memory: MemoryUpdateState,
    calls: LookBackSignals,
}

/// Signals that end a look back.
#[derive(Clone)]
pub(super) struct LookBackSignals {
    /// Other work begins: end as soon as no write is in progress.
    yield_soon: CancellationToken,
    /// End at once.
    end_now: CancellationToken,
}

impl LookBackState {
    /// Whether a look back at the last turn is running.
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Makes the look back end because a turn begins.
    pub(super) fn yield_to_turn(&mut self) {
        if let Some(look_back) = &self.running {
            look_back.calls.yield_soon.cancel();
            // Unless the look back reports otherwise before the turn ends.
            self.memory = look_back.memory;
        }
    }

    /// Ends the look back because the person pressed Stop.
    pub(super) fn stop(&self) {
        if let Some(look_back) = &self.running {
            look_back.calls.end_now.cancel();
        }
    }
}

/// A finished look back.
pub(crate) struct LookBackResult {
    turn: TurnId,
    /// Files of the memories that were written.
    remembered: Vec<String>,
    /// The earliest time since when this look back has kept the conversation in the cache.
    warm_since: Option<Moment>,
    memory: MemoryUpdateState,
}

impl Session {
    /// Begins the look back at a finished turn, if there is reason for it.
    pub(super) async fn look_back(&mut self, finished: FinishedTurn) -> Result<(), ApiError> {
        let FinishedTurn { turn, facts, task, summary } = finished;
        let aims = self.aims(facts);
        let is_idle = !self.turn.is_running() && !self.restoring.is_under_way() && self.queue.is_empty();
        let (Some(model), Some(last_message)) =
            (self.model(), self.conversation.last().map(|last_message| last_message.id))
        else {
            return Ok(());
        };
        if aims.is_empty() || self.info.source != Source::Window {
            return Ok(());
        }
        if !is_idle {
            if aims.contains(&LookBackAim::Remember) {
                self.look_back_state.memory = MemoryUpdateState::Due;
            }
            return Ok(());
        }
        // A failed lookup is not worth ending a session for.
        let Ok(false) = self.is_over_budget().await else { return Ok(()) };
        let calls =
            LookBackSignals { yield_soon: self.actor.child_token(), end_now: self.actor.child_token() };
        let memory = if aims.contains(&LookBackAim::Remember) {
            MemoryUpdateState::Due
        } else {
            MemoryUpdateState::UpToDate
        };
        self.look_back_state.running = Some(RunningLookBack { turn, memory, calls: calls.clone() });
        let state = self.parent_state(task, summary, Vec::new());
        let run = LookBackRun::new(self, turn, (model, last_message), state, calls);
        let (job, report) = (run.run(aims), self.reporter());
        tokio::spawn(async move { report.send(JobReport::LookBackFinished(job.await)) });
        Ok(())
    }

    fn aims(&self, facts: TurnFacts) -> Vec<LookBackAim> {
        let settings = self.runtime.base.preferences().library;
        let TurnFacts { answers, skills } = facts;
        let improve = match skills {
            InvokedSkills::BySlash(name) if answers >= REFLECTS_FROM => Some(LookBackAim::Reflect(name)),
            InvokedSkills::None if answers >= PROPOSES_FROM => Some(LookBackAim::Propose),
            InvokedSkills::None | InvokedSkills::ByModel | InvokedSkills::BySlash(_) => None,
        };
        let remembers = answers >= REMEMBERS_FROM || self.look_back_state.memory == MemoryUpdateState::Due;
        improve
            .filter(|_| settings.propose == Switch::On)
            .into_iter()
            .chain((remembers && settings.remember == Switch::On).then_some(LookBackAim::Remember))
            .collect()
    }

    /// Takes the result of a look back.
    pub(super) async fn finish_look_back(&mut self, result: LookBackResult) -> Result<(), ApiError> {
        let LookBackResult { turn, remembered, warm_since, memory } = result;
        if self.look_back_state.running.as_ref().is_some_and(|look_back| look_back.turn == turn) {
            self.look_back_state.running = None;
            self.look_back_state.memory = memory;
            if !self.turn.is_running() {
                if let Some(warm_at) = warm_since {
                    self.warmth.cache_used_at(warm_at);
                }
                self.begin_pause();
            }
        }
        let mut step = Step::default();
        for file in remembered {
            let notice = ApiError::new("memory.remembered").arg("file", file);
            step.event(Event::CommandAnswered { note: notice });
        }
        self.finish(step).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::invoked::skill_call;
    use octo_protocol::{Block, CallId, MessageId, Meta};
    use octo_tools::SkillTask;

    fn answer(turn: TurnId, tool: Option<&str>) -> Message {
        let blocks = tool.map(|name| {
            let id = CallId::new();
            let call = ToolCall {
                id,
                provider_id: id.to_string(),
                name: name.to_owned(),
                arguments: r#"{"skill_name":"other"}"#.to_owned(),
            };
            Block::ToolCall(call)
        });
        let meta = Meta::new(Origin::Model, 0);
        let blocks = blocks.into_iter().collect();
        Message { id: MessageId::new(), turn, role: Role::Assistant, blocks, meta }
    }

    #[test]
    fn what_a_turn_did_is_read_off_its_own_messages() {
        let (turn, other_turn) = (TurnId::new(), TurnId::new());
        let slash = skill_call(turn, &SkillTask { name: "tidy".into(), task: String::new() }).0;
        let facts_of = |answers, skills| TurnFacts { answers, skills };
        for (messages, expected) in [
            (vec![], TurnFacts::default()),
            (
                vec![answer(other_turn, Some(INVOKE_SKILL)), answer(turn, None)],
                facts_of(1, InvokedSkills::None),
            ),
            (
                vec![answer(turn, Some("glob")), answer(turn, Some(INVOKE_SKILL))],
                facts_of(2, InvokedSkills::ByModel),
            ),
            (
                vec![slash.clone(), answer(turn, Some(INVOKE_SKILL))],
                facts_of(1, InvokedSkills::BySlash("tidy".into())),
            ),
        ] {
            assert_eq!(TurnFacts::from_messages(&messages, turn), expected);
        }
    }
}
