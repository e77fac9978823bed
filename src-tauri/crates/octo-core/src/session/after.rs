//! After a turn: Octo looks back at it, beside whatever comes next, and may remember something of it or propose a skill.
//!
//! Each look is a sub-agent on the session's own model that begins with the whole conversation, so that it reads what
//! the cache still holds, and usually ends with one line. Nobody answers it: what would ask is refused (see
//! [`super::ready::Ready::unattended`]), and all it can change are memories, or proposals that wait for the person. In
//! one pause the skill comes before the memory, as both read the same cache. The conversation itself gets not a byte of
//! it; where something was remembered the person is told by a note.
//!
//! The person's next message ends it, but not in the middle of a write; a memory update that was cut off so is owed to
//! the end of a later turn. Stop and the session's end end it at once.

mod work;

use super::{Report, state::Session, step::Step, tasks::TurnTask, warmth::Moment};
use octo_protocol::{ApiError, Event, Message, Origin, Role, Source, Switch, ToolCall, TurnId};
use octo_tools::INVOKE_SKILL;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use work::{Aim, Look};

/// Answers of the model from which a turn may hold something to remember.
const REMEMBERS_FROM: u32 = 10;
/// Answers since a skill was called by a slash from which it is asked whether it could be better.
const REFLECTS_FROM: u32 = 5;
/// Answers of a turn without a skill from which it is asked whether it should become one.
const PROPOSES_FROM: u32 = 12;

/// How a turn went, for what comes after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Course {
    /// Answers of its own model; those of sub-agents are not among them.
    answers: u32,
    skills: Skills,
}

/// The skills of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Skills {
    /// None was invoked.
    #[default]
    None,
    /// The model invoked some.
    ByModel,
    /// The turn began with this one, which the person called.
    BySlash(String),
}

impl Course {
    /// Of a turn that begins with a skill the person called.
    pub(super) fn begun_with(skill: &str) -> Self {
        Self { answers: 0, skills: Skills::BySlash(skill.to_owned()) }
    }

    /// Of a turn that was begun by an earlier process, or before its session was opened: as far as its messages tell.
    pub(super) fn of(context: &[Message], turn: TurnId) -> Self {
        let mut course = Self::default();
        let said = context.iter().filter(|message| message.turn == turn && message.role == Role::Assistant);
        for message in said {
            let mut skills = message.calls().filter(|call| call.name == INVOKE_SKILL);
            if message.meta.origin == Origin::Octo {
                if let Some(name) = skills.find_map(called) {
                    course.skills = Skills::BySlash(name);
                }
                continue;
            }
            course.answered();
            if skills.next().is_some() {
                course.invoked();
            }
        }
        course
    }

    /// Answers of its own model so far.
    pub(super) fn answers(&self) -> u32 {
        self.answers
    }

    /// Its model gave an answer.
    pub(super) fn answered(&mut self) {
        self.answers = self.answers.saturating_add(1);
    }

    /// A call of its model invoked a skill.
    pub(super) fn invoked(&mut self) {
        if self.skills == Skills::None {
            self.skills = Skills::ByModel;
        }
    }
}

/// The skill a call names.
fn called(call: &ToolCall) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        skill_name: String,
    }
    serde_json::from_str::<Named>(&call.arguments).ok().map(|named| named.skill_name)
}

/// A turn that finished.
pub(crate) struct FinishedTurn {
    turn: TurnId,
    course: Course,
    task: TurnTask,
    /// What that task is called.
    summary: String,
}

impl FinishedTurn {
    pub(super) fn new(turn: TurnId, course: Course, task: TurnTask, summary: String) -> Self {
        Self { turn, course, task, summary }
    }
}

/// What a session does after its turns.
#[derive(Default)]
pub(super) struct After {
    work: Option<Work>,
    memory: Memory,
}

/// Whether an earlier turn's memory update was cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Memory {
    #[default]
    UpToDate,
    Owed,
}

struct Work {
    turn: TurnId,
    /// What the memory is where it is ended before it could look.
    memory: Memory,
    calls: Calls,
}

/// What ends a look back.
#[derive(Clone)]
pub(super) struct Calls {
    /// Something else begins: it ends as soon as it does not write.
    way: CancellationToken,
    /// It ends at once.
    end: CancellationToken,
}

impl After {
    /// Whether something works on the last turn.
    pub(super) fn is_at_work(&self) -> bool {
        self.work.is_some()
    }

    /// A turn begins.
    pub(super) fn give_way(&mut self) {
        if let Some(work) = &self.work {
            work.calls.way.cancel();
            // Unless it says otherwise before the turn ends.
            self.memory = work.memory;
        }
    }

    /// The person pressed Stop.
    pub(super) fn stop(&self) {
        if let Some(work) = &self.work {
            work.calls.end.cancel();
        }
    }
}

/// A look back is done with.
pub(crate) struct LookedBack {
    turn: TurnId,
    /// Memories that were written, by their files.
    remembered: Vec<String>,
    /// Since when at least the cache holds the conversation because of it.
    warm_since: Option<Moment>,
    memory: Memory,
}

impl Session {
    /// A turn finished: begins to look back at it, where there is reason to.
    pub(super) async fn look_back(&mut self, finished: FinishedTurn) -> Result<(), ApiError> {
        let FinishedTurn { turn, course, task, summary } = finished;
        let aims = self.aims(course);
        let is_alone = !self.turn.is_running() && !self.restoring.is_under_way() && self.queue.is_empty();
        let (Some(model), Some(last)) = (self.model(), self.conversation.last().map(|last| last.id)) else {
            return Ok(());
        };
        if aims.is_empty() || self.info.source != Source::Window {
            return Ok(());
        }
        if !is_alone {
            if aims.contains(&Aim::Remember) {
                self.after.memory = Memory::Owed;
            }
            return Ok(());
        }
        // What cannot be looked up now is not worth ending a session for.
        let Ok(false) = self.is_over_budget().await else { return Ok(()) };
        let calls = Calls { way: self.actor.child_token(), end: self.actor.child_token() };
        let memory = if aims.contains(&Aim::Remember) { Memory::Owed } else { Memory::UpToDate };
        self.after.work = Some(Work { turn, memory, calls: calls.clone() });
        let state = self.parent_state(task, summary, Vec::new());
        let look = Look::new(self, turn, (model, last), state, calls);
        let (looking, report) = (look.run(aims), self.reporter());
        tokio::spawn(async move { report.send(Report::LookedBack(looking.await)) });
        Ok(())
    }

    fn aims(&self, course: Course) -> Vec<Aim> {
        let settings = self.runtime.base.preferences().library;
        let Course { answers, skills } = course;
        let improve = match skills {
            Skills::BySlash(name) if answers >= REFLECTS_FROM => Some(Aim::Reflect(name)),
            Skills::None if answers >= PROPOSES_FROM => Some(Aim::Propose),
            Skills::None | Skills::ByModel | Skills::BySlash(_) => None,
        };
        let remembers = answers >= REMEMBERS_FROM || self.after.memory == Memory::Owed;
        improve
            .filter(|_| settings.propose == Switch::On)
            .into_iter()
            .chain((remembers && settings.remember == Switch::On).then_some(Aim::Remember))
            .collect()
    }

    /// A look back is done with.
    pub(super) async fn looked_back(&mut self, news: LookedBack) -> Result<(), ApiError> {
        let LookedBack { turn, remembered, warm_since, memory } = news;
        if self.after.work.as_ref().is_some_and(|work| work.turn == turn) {
            self.after.work = None;
            self.after.memory = memory;
            if !self.turn.is_running() {
                if let Some(since) = warm_since {
                    self.warmth.cache_used_at(since);
                }
                self.begin_pause();
            }
        }
        let mut step = Step::default();
        for file in remembered {
            let note = ApiError::new("memory.remembered").arg("file", file);
            step.event(Event::CommandAnswered { note });
        }
        self.finish(step).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::invoked::asked_call;
    use octo_protocol::{Block, CallId, MessageId, Meta};
    use octo_tools::SkillWish;

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
        let meta = Meta { origin: Origin::Model, at: 0, model: None, usage: None, end: None, via: None };
        let blocks = blocks.into_iter().collect();
        Message { id: MessageId::new(), turn, role: Role::Assistant, blocks, meta }
    }

    #[test]
    fn what_a_turn_did_is_read_off_its_own_messages() {
        let (turn, other) = (TurnId::new(), TurnId::new());
        let slash = asked_call(turn, &SkillWish { name: "tidy".into(), task: String::new() }).0;
        let with = |answers, skills| Course { answers, skills };
        for (messages, expected) in [
            (vec![], Course::default()),
            (vec![answer(other, Some(INVOKE_SKILL)), answer(turn, None)], with(1, Skills::None)),
            (vec![answer(turn, Some("glob")), answer(turn, Some(INVOKE_SKILL))], with(2, Skills::ByModel)),
            (vec![slash.clone(), answer(turn, Some(INVOKE_SKILL))], with(1, Skills::BySlash("tidy".into()))),
        ] {
            assert_eq!(Course::of(&messages, turn), expected);
        }
    }
}
