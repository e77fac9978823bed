//! The core's interface to the source of skills.
//!
//! Finding, reading and expanding skills is not the core's business; the handling of an invoked skill is.

use futures::future::BoxFuture;
use octo_protocol::{Effort, Profile, SessionId};
use octo_tools::BuiltinGrant;
use std::{path::PathBuf, sync::Arc};

/// Provides the skills of a home and of the folders in use.
pub trait SkillSource: Send + Sync {
    /// Returns the facts about a skill. Cheap, and runs nothing of the skill: it is called before every
    /// invocation, including those that then do not happen.
    fn find(&self, request: SkillRequest) -> BoxFuture<'static, Result<SkillFacts, SkillError>>;

    /// Returns the skill expanded for its task, with the output of `commands` in the places of the commands in
    /// its text.
    fn load(
        &self,
        request: SkillRequest,
        commands: Arc<dyn SkillCommands>,
    ) -> BoxFuture<'static, Result<LoadedSkill, SkillError>>;
}

/// Runs the commands in a skill's instructions that are allowed to run.
pub trait SkillCommands: Send + Sync {
    /// Returns the outcome of each, in order.
    fn run(&self, lines: Vec<String>) -> BoxFuture<'_, Vec<SkillCommandOutcome>>;
}

/// The outcome of a command in a skill's instructions. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillCommandOutcome {
    /// It ran; this is its output.
    Ran(String),
    /// It was left to the model for this reason.
    LeftToModel(String),
}

/// A request for a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRequest {
    /// Its name as written.
    pub name: String,
    /// Its task: the arguments.
    pub task: String,
    /// The folder of the requesting session, absolute.
    pub folder: PathBuf,
    /// The requesting session.
    pub session: SessionId,
    /// The session's profile: some skills are limited to one.
    pub profile: Profile,
}

/// The facts about a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFacts {
    /// Its own name.
    pub name: String,
    /// Its origin, in a word or two for the person.
    pub label: String,
    /// The effect of invoking it.
    pub mode: SkillMode,
}

/// The effect of invoking a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillMode {
    /// Its instructions go into the conversation.
    Inline,
    /// A sub-agent follows them.
    Fork,
}

/// A skill expanded for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadedSkill {
    /// Its instructions go into the conversation.
    Inline {
        /// The instructions, as Markdown.
        instructions: String,
        /// The commands in them that ran.
        executed: Vec<String>,
    },
    /// A sub-agent follows them.
    SubAgent(SubAgentSkill),
}

/// The specification of a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAgentSkill {
    /// Its instructions, as Markdown.
    pub instructions: String,
    /// The commands in them that ran.
    pub executed: Vec<String>,
    /// Tools it may not use, by any of their names. Tools no sub-agent may use need not be listed.
    pub forbidden_tools: Vec<String>,
    /// The model it uses.
    pub model: SubAgentModel,
    /// Its reasoning effort on a model of its own. On its parent's model it uses the parent's effort, because a
    /// cache is valid for one effort.
    pub effort: Option<Effort>,
    /// The builtin commands it may run without asking; only for bundled skills.
    pub builtin_grant: BuiltinGrant,
}

/// The model of a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubAgentModel {
    /// Its parent's. It then begins with its parent's conversation, which this model's cache contains.
    Parents,
    /// The model for small tasks; its parent's if there is no such model.
    Small,
    /// The connected model with this name.
    Named(String),
}

/// Why a skill is unavailable. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// No skill has this name.
    #[error("There is no skill {name:?}.{}", did_you_mean(similar))]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names, best first.
        similar: Vec<String>,
    },
    /// It exists and cannot be used: switched off, not accepted, broken.
    #[error("The skill {name} cannot be used: {reason}")]
    Unusable {
        /// Its name.
        name: String,
        /// The reason and a remedy.
        reason: String,
    },
}

fn did_you_mean(similar: &[String]) -> String {
    match similar {
        [] => " Do it yourself with the other tools.".to_owned(),
        similar => format!(" Did you mean {}?", similar.join(" or ")),
    }
}
