//! `/name arguments`: a person's call of a skill.

use crate::{Catalogue, Invocable, Skill, SkillUsage, Trust, Warning};
use octo_protocol::ApiError;

/// A call of a skill by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillCall {
    /// The name, in lower case.
    pub name: String,
    /// All text after it, including further lines.
    pub arguments: String,
}

/// Origin of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillCallOrigin {
    /// A person, with a slash.
    Person,
    /// A model, with its tool.
    Model,
}

/// Reason why a skill is not called. Nothing was sent to a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallRefusal {
    /// No skill has that name.
    #[error("Skill not found: {name}.{}", suggestion(.similar))]
    Unknown {
        /// The name.
        name: String,
        /// Similar names, best first.
        similar: Vec<String>,
    },
    /// Octo cannot read it.
    #[error("The skill {name} cannot be used: its SKILL.md cannot be read. Tell the person.")]
    Broken {
        /// Its name.
        name: String,
        /// Reason.
        error: Warning,
    },
    /// The person switched it off.
    #[error("The skill {name} is switched off.")]
    Off {
        /// Its name.
        name: String,
    },
    /// People may not call it (`user-invocable: false`).
    #[error("The skill {name} is not for calling by a slash.")]
    NotForPeople {
        /// Its name.
        name: String,
    },
    /// It does not exist in this profile.
    #[error("The skill {name} is not for this profile.")]
    NotInProfile {
        /// Its name.
        name: String,
    },
    /// It was in the session's folder and is not accepted yet.
    #[error("The skill {name} came with this folder, and the person has not accepted it. Do not use it.")]
    Untrusted {
        /// Its name.
        name: String,
    },
}

fn suggestion(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!(" Did you mean {}?", similar.join(" or ")) }
}

impl From<&CallRefusal> for ApiError {
    fn from(refusal: &CallRefusal) -> Self {
        let about = |key: &str, name: &String| ApiError::new(key).arg("name", name.clone());
        match refusal {
            CallRefusal::Unknown { name, similar } if similar.is_empty() => about("skill.unknown", name),
            CallRefusal::Unknown { name, similar } => {
                let similar: Vec<String> = similar.iter().map(|name| format!("/{name}")).collect();
                about("skill.unknown_near", name).list("near", similar)
            }
            CallRefusal::Broken { name, .. } => about("skill.broken", name),
            CallRefusal::Off { name } => about("skill.off", name),
            CallRefusal::NotForPeople { name } => about("skill.not_for_people", name),
            CallRefusal::NotInProfile { name } => about("skill.not_in_profile", name),
            CallRefusal::Untrusted { name } => about("skill.untrusted", name),
        }
    }
}

/// Parses a message as a call. A path (`/etc/hosts`), a pattern and a lone slash do not count. It does not
/// check that the skill exists: see [`Catalogue::call`].
pub fn parse_skill_call(text: &str) -> Option<SkillCall> {
    // Chinese keyboards type a full-width slash.
    let command = text.trim().strip_prefix(['/', '／'])?;
    let (name, arguments) = match command.split_once(char::is_whitespace) {
        Some((name, arguments)) => (name, arguments.trim()),
        None => (command, ""),
    };
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    is_name.then(|| SkillCall { name: name.to_ascii_lowercase(), arguments: arguments.to_owned() })
}

impl Catalogue {
    /// Returns the skill of that name, if the caller may use it in this profile. A model may name any trusted
    /// skill, even one it does not see.
    ///
    /// # Errors
    /// Returns a [`CallRefusal`]; its `Display` text is for a model.
    pub fn call(&self, name: &str, profile: &str, caller: SkillCallOrigin) -> Result<&Skill, CallRefusal> {
        let Some(skill) = self.get(name) else {
            let similar = self.similar_names(name).into_iter().map(str::to_owned).collect();
            return Err(CallRefusal::Unknown { name: name.to_owned(), similar });
        };
        let name = || skill.name.clone();
        if let Some(error) = &skill.error {
            return Err(CallRefusal::Broken { name: name(), error: error.clone() });
        }
        if skill.usage == SkillUsage::Off {
            return Err(CallRefusal::Off { name: name() });
        }
        if !skill.fields.profiles.has(profile) {
            return Err(CallRefusal::NotInProfile { name: name() });
        }
        if caller == SkillCallOrigin::Person && skill.fields.person_invocation == Invocable::No {
            return Err(CallRefusal::NotForPeople { name: name() });
        }
        if skill.trust == Trust::Untrusted {
            return Err(CallRefusal::Untrusted { name: name() });
        }
        Ok(skill)
    }
}

#[cfg(test)]
mod tests;
