//! Where skills come from, as the core asks for them.
//!
//! Finding, reading and expanding skills is not the core's business; what becomes of one that was invoked is.

use futures::future::BoxFuture;
use octo_protocol::{Effort, Profile, SessionId};
use octo_tools::DeskLeave;
use std::{path::PathBuf, sync::Arc};

/// Knows the skills of a home and of the folders worked in.
pub trait SkillSource: Send + Sync {
    /// What is known of a skill. Cheap, and nothing of the skill runs: it is asked before every invocation, also of one
    /// that then does not happen.
    fn find(&self, ask: SkillAsk) -> BoxFuture<'static, Result<SkillCard, SkillError>>;

    /// The skill, expanded for its task, with what `commands` says in the places of those in its text.
    fn load(
        &self,
        ask: SkillAsk,
        commands: Arc<dyn SkillCommands>,
    ) -> BoxFuture<'static, Result<Loaded, SkillError>>;
}

/// Runs commands that stand in a skill's instructions, as far as they may be.
pub trait SkillCommands: Send + Sync {
    /// What becomes of each, in order.
    fn run(&self, lines: Vec<String>) -> BoxFuture<'_, Vec<CommandEnd>>;
}

/// What became of a command in a skill's instructions. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// It ran: what it said.
    Ran(String),
    /// It was left to the model: why.
    Left(String),
}

/// Which skill is asked for, where and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillAsk {
    /// Its name, as it was written.
    pub name: String,
    /// What it is to do: its arguments.
    pub task: String,
    /// The folder of the session that asks, absolute.
    pub folder: PathBuf,
    /// The session that asks.
    pub session: SessionId,
    /// Its profile: some skills are for one alone.
    pub profile: Profile,
}

/// What is known of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillCard {
    /// Its own name.
    pub name: String,
    /// Where it comes from, in a word or two for the person.
    pub label: String,
    /// What invoking it does.
    pub manner: Manner,
}

/// What invoking a skill does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Its instructions go into the conversation.
    Inline,
    /// A sub-agent works by them.
    Fork,
}

/// A skill that was read for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// Its instructions go into the conversation.
    Inline {
        /// They, Markdown.
        instructions: String,
        /// The commands in them that ran.
        ran: Vec<String>,
    },
    /// A sub-agent works by them.
    Fork(Fork),
}

/// How a sub-agent is to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// By what instructions, Markdown.
    pub instructions: String,
    /// The commands in them that ran.
    pub ran: Vec<String>,
    /// Tools it may not use, by any name they are known by. What no sub-agent may use need not be among them.
    pub forbidden_tools: Vec<String>,
    /// On which model.
    pub model: ForkModel,
    /// How much it thinks, on a model of its own. On its parent's it thinks as that does: a cache holds for one effort.
    pub effort: Option<Effort>,
    /// What it may do at Octo's desk without asking: something for skills that came with Octo alone.
    pub leave: DeskLeave,
}

/// On which model a sub-agent works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForkModel {
    /// Its parent's. It then begins with its parent's conversation, which that model's cache holds.
    Same,
    /// The one for small tasks; its parent's where there is none.
    Light,
    /// The connected one of this name.
    Named(String),
}

/// Why a skill cannot be had. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// There is none of this name.
    #[error("There is no skill {name:?}.{}", meant(near))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Names near it, best first.
        near: Vec<String>,
    },
    /// It is there and cannot be used: switched off, not accepted, broken.
    #[error("The skill {name} cannot be used: {why}")]
    Unusable {
        /// Its name.
        name: String,
        /// Why, and what would help.
        why: String,
    },
}

fn meant(near: &[String]) -> String {
    match near {
        [] => " Do it yourself with the other tools.".to_owned(),
        near => format!(" Did you mean {}?", near.join(" or ")),
    }
}
