//! The public Agent Skills format, strictly: an export follows all of its rules.

use crate::{
    Fields, Invocable, MAX_DESCRIPTION, Profiles, Skill, SkillRun, Warning,
    fields::{METADATA_PREFIX, OWN_KEYS, cut},
    front_matter::{FrontMatter, is_key},
    name::{is_public_name, public_name},
    yaml::Yaml,
};
use octo_protocol::Effort;

/// Keys of the format.
pub(crate) const PUBLIC_KEYS: &[&str] =
    &["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/// Maximum characters of `compatibility`.
pub(crate) const MAX_COMPATIBILITY: usize = 500;

/// A SKILL.md in the public format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicSkill {
    /// Its name, and that of its folder.
    pub name: String,
    /// Text of the whole file.
    pub text: String,
    /// Notes on content that the format cannot express unchanged.
    pub remarks: Vec<Warning>,
}

/// Converts a skill to the public format. Fields outside the format are stored in `metadata` as texts, where
/// Octo finds them again; unknown keys are omitted and reported.
pub fn to_public(skill: &Skill) -> PublicSkill {
    let mut remarks = Vec::new();
    let mut front_matter = FrontMatter::default();
    let name = if is_public_name(&skill.name) {
        skill.name.clone()
    } else {
        let name = public_name(&skill.name);
        remarks.push(Warning::new("skills.note.name").arg("written", &skill.name).arg("name", &name));
        name
    };
    front_matter.set("name", Yaml::text(&name));
    front_matter.set("description", Yaml::text(description(&skill.fields, &name, &mut remarks)));
    if let Some(license) = &skill.fields.license {
        front_matter.set("license", Yaml::text(license));
    }
    if let Some(compatibility) = &skill.fields.compatibility {
        if compatibility.chars().count() > MAX_COMPATIBILITY {
            remarks.push(Warning::new("skills.note.cut").arg("field", "compatibility"));
        }
        front_matter.set("compatibility", Yaml::text(cut(compatibility, MAX_COMPATIBILITY)));
    }
    if !skill.fields.allowed_tools.is_empty() {
        let tools: Vec<&str> = skill.fields.allowed_tools.iter().map(|grant| grant.text.as_str()).collect();
        front_matter.set("allowed-tools", Yaml::text(tools.join(" ")));
    }
    let metadata: Vec<(String, Yaml)> = skill
        .fields
        .metadata
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .chain(
            octo_fields(&skill.fields)
                .into_iter()
                .map(|(key, value)| (format!("{METADATA_PREFIX}{key}"), value)),
        )
        .map(|(key, value)| (key, Yaml::text(value)))
        .collect();
    if !metadata.is_empty() {
        front_matter.set("metadata", Yaml::Map(metadata));
    }
    for (key, _) in skill.front.entries() {
        let is_known = |public_key: &&&str| is_key(key, public_key);
        if !PUBLIC_KEYS.iter().chain(OWN_KEYS).any(|public_key| is_known(&public_key)) {
            remarks.push(Warning::new("skills.note.key_left_out").arg("field", key));
        }
    }
    PublicSkill { name, text: front_matter.with_body(&skill.body), remarks }
}

/// Returns the description, including content without a field in the format, and without the forbidden
/// brackets.
fn description(fields: &Fields, name: &str, remarks: &mut Vec<Warning>) -> String {
    let mut text = fields.description.clone();
    if text.is_empty() {
        remarks.push(Warning::new("skills.note.no_description"));
        text = format!("Instructions for {name}.");
    }
    if text.contains(['<', '>']) {
        remarks.push(Warning::new("skills.note.brackets"));
        for (from, to) in [("->", "→"), ("=>", "→"), ("<=", "≤"), (">=", "≥"), ("<", "‹"), (">", "›")]
        {
            text = text.replace(from, to);
        }
    }
    cut(&text, MAX_DESCRIPTION)
}

/// Returns the fields that differ from their default, as texts.
fn octo_fields(fields: &Fields) -> Vec<(&'static str, String)> {
    let text = |key: &'static str, value: &Option<String>| value.clone().map(|value| (key, value));
    let list = |key: &'static str, values: &[String]| (!values.is_empty()).then(|| (key, values.join(" ")));
    let mut entries: Vec<(&'static str, String)> = [
        text("name_zh", &fields.name_zh),
        text("description_zh", &fields.description_zh),
        text("when_to_use", &fields.when_to_use),
        text("argument-hint", &fields.argument_hint),
        text("argument-hint_zh", &fields.argument_hint_zh),
        list("arguments", &fields.arguments),
        text("model", &fields.model),
        fields.effort.map(|effort| ("effort", effort_name(effort).to_owned())),
        list("paths", &fields.paths),
    ]
    .into_iter()
    .flatten()
    .collect();
    if fields.model_invocation == Invocable::No {
        entries.push(("disable-model-invocation", "true".to_owned()));
    }
    if fields.person_invocation == Invocable::No {
        entries.push(("user-invocable", "false".to_owned()));
    }
    match (&fields.run, &fields.profiles) {
        (SkillRun::Fork { agent: Some(agent) }, _) => {
            entries.push(("context", "fork".to_owned()));
            entries.push(("agent", agent.clone()));
        }
        (run, profiles) => {
            if matches!(run, SkillRun::Fork { .. }) {
                entries.push(("fork_agent", "true".to_owned()));
            }
            if let Profiles::Only(names) = profiles {
                entries.push(("agent", names.join(" ")));
            }
        }
    }
    if !fields.forbidden_tools.is_empty() {
        entries.push(("forbidden_tools", fields.forbidden_tools.join(" ")));
    }
    entries
}

fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Off => "off",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => "xhigh",
        Effort::Max => "max",
    }
}
