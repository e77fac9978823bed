//! Fields of a SKILL.md's head, each in one form regardless of its spelling.

use crate::{
    ToolGrant, Warning,
    front_matter::FrontMatter,
    octo_tool, tools,
    yaml::{Yaml, YamlStyle},
};
use octo_protocol::Effort;

/// Maximum characters of a description, as in the public format.
pub const MAX_DESCRIPTION: usize = 1_024;
/// Maximum characters of any other text, and maximum entries of any list.
const MAX_TEXT: usize = 1_024;
const MAX_ENTRIES: usize = 200;
/// Maximum characters of a key.
const MAX_KEY: usize = 200;

/// Fields of a skill, with defaults for missing ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Name as written, not validated.
    pub written_name: Option<String>,
    /// The name in Chinese, for cards.
    pub name_zh: Option<String>,
    /// Purpose of the skill; taken from the first paragraph of the body if the head has none.
    pub description: String,
    /// Description in Chinese, for cards.
    pub description_zh: Option<String>,
    /// More on when to use it; part of the description for a model.
    pub when_to_use: Option<String>,
    /// Hint after the name in the composer: `[issue-number]`.
    pub argument_hint: Option<String>,
    /// Hint in Chinese.
    pub argument_hint_zh: Option<String>,
    /// Names of the arguments, in order; `$name` in the body inserts one.
    pub arguments: Vec<String>,
    /// Whether a model may choose it on its own.
    pub model_invocation: Invocable,
    /// Whether a person may call it with a slash.
    pub person_invocation: Invocable,
    /// Profiles in which the skill exists.
    pub profiles: Profiles,
    /// Where it runs.
    pub run: SkillRun,
    /// Requested model: a name, or `lite`. `None` is the model of the session.
    pub model: Option<String>,
    /// Requested reasoning effort.
    pub effort: Option<Effort>,
    /// Patterns of relevant files: a hint for when it may be useful.
    pub paths: Vec<String>,
    /// Tools that it requests to use without a question.
    pub allowed_tools: Vec<ToolGrant>,
    /// Octo's tools that are denied while it runs in a sub-agent.
    pub forbidden_tools: Vec<&'static str>,
    /// Its licence.
    pub license: Option<String>,
    /// Its environment requirements.
    pub compatibility: Option<String>,
    /// Additional metadata, in order.
    pub metadata: Vec<(String, String)>,
}

/// Whether a skill may be called in a given way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Invocable {
    /// It may.
    #[default]
    Yes,
    /// It may not.
    No,
}

/// Where a skill runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SkillRun {
    /// In the conversation that calls it.
    #[default]
    Inline,
    /// In a sub-agent, which returns a summary.
    Fork {
        /// Requested kind of sub-agent.
        agent: Option<String>,
    },
}

/// Profiles in which a skill exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profiles {
    /// In all of them.
    #[default]
    All,
    /// In these.
    Only(Vec<String>),
}

impl Profiles {
    /// Returns whether the profile is one of them.
    pub fn has(&self, profile: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| name == profile),
        }
    }
}

/// Reads the fields; irregularities are repaired and reported.
pub(crate) fn read(front_matter: &FrontMatter, body: &str, warnings: &mut Vec<Warning>) -> Fields {
    let mut reader = FieldReader { front: front_matter, warnings };
    let description = reader.description(body);
    let mut fields = Fields {
        written_name: reader.name(),
        name_zh: reader.text("name_zh"),
        description,
        description_zh: reader.text("description_zh"),
        when_to_use: reader.text("when_to_use"),
        argument_hint: reader.text("argument-hint"),
        argument_hint_zh: reader.text("argument-hint_zh"),
        arguments: reader.list("arguments"),
        model_invocation: Invocable::Yes,
        person_invocation: Invocable::Yes,
        profiles: Profiles::All,
        run: SkillRun::Inline,
        model: reader.text("model").filter(|model| model != "inherit"),
        effort: reader.effort(),
        paths: reader.list("paths"),
        allowed_tools: reader.allowed_tools(),
        forbidden_tools: reader.forbidden_tools(),
        license: reader.text("license"),
        compatibility: reader.text("compatibility"),
        metadata: reader.metadata(),
    };
    if reader.switch("disable-model-invocation") == Some(true) {
        fields.model_invocation = Invocable::No;
    }
    if reader.switch("user-invocable") == Some(false) {
        fields.person_invocation = Invocable::No;
    }
    reader.run(&mut fields);
    match &fields.run {
        SkillRun::Inline => {
            for (field, is_there) in [
                ("forbidden_tools", !fields.forbidden_tools.is_empty()),
                ("model", fields.model.is_some()),
                ("effort", fields.effort.is_some()),
            ] {
                if is_there {
                    reader.warn("skills.warning.only_forked", field);
                }
            }
        }
        SkillRun::Fork { agent } => {
            if agent.is_some() {
                reader.warn("skills.warning.no_agents", "agent");
            }
            if fields.effort.is_some() && fields.model.is_none() {
                reader.warn("skills.warning.own_model", "effort");
            }
        }
    }
    if front_matter.get("hooks").is_some() {
        warnings.push(Warning::new("skills.warning.hooks"));
    }
    fields
}

struct FieldReader<'a> {
    front: &'a FrontMatter,
    warnings: &'a mut Vec<Warning>,
}

impl<'a> FieldReader<'a> {
    fn warn(&mut self, key: &'static str, field: &str) {
        self.warnings.push(Warning::new(key).arg("field", field));
    }

    /// Returns the value of a key. An exported skill stores keys outside the public format in its metadata.
    fn value(&self, key: &str) -> Option<&'a Yaml> {
        let front_matter: &'a FrontMatter = self.front;
        let top_level = front_matter.get(key).filter(|value| !value.is_null());
        top_level.or_else(|| exported(front_matter, key))
    }

    fn name(&mut self) -> Option<String> {
        let value = self.value("name")?;
        match value {
            Yaml::Text { text, style } => {
                if *style == YamlStyle::Plain && text.parse::<f64>().is_ok() {
                    self.warn("skills.warning.number_as_text", "name");
                }
                Some(text.trim().to_owned()).filter(|name| !name.is_empty())
            }
            Yaml::List(_) | Yaml::Map(_) => {
                self.warn("skills.warning.no_text", "name");
                None
            }
        }
    }

    /// Returns a text on one line. `[issue-number]` without quotes is a list to YAML, but is intended
    /// literally.
    fn text(&mut self, key: &str) -> Option<String> {
        let value = self.value(key)?;
        if matches!(value, Yaml::Map(_)) {
            self.warn("skills.warning.no_text", key);
            return None;
        }
        let text = collapse(&value.on_one_line());
        if text.chars().count() > MAX_TEXT {
            self.warn("skills.warning.cut", key);
        }
        Some(cut(&text, MAX_TEXT)).filter(|text| !text.is_empty())
    }

    fn description(&mut self, body: &str) -> String {
        let raw = match self.value("description") {
            Some(Yaml::Text { text, .. }) => collapse(text),
            Some(Yaml::List(items)) => {
                self.warn("skills.warning.list_joined", "description");
                collapse(&items.iter().map(Yaml::on_one_line).collect::<Vec<_>>().join(" "))
            }
            Some(Yaml::Map(_)) => {
                self.warn("skills.warning.no_text", "description");
                String::new()
            }
            None => String::new(),
        };
        let text = if raw.is_empty() { first_paragraph(body) } else { raw };
        let length = text.chars().count();
        if length > MAX_DESCRIPTION {
            self.warnings.push(
                Warning::new("skills.warning.description_long")
                    .arg("length", length)
                    .arg("most", MAX_DESCRIPTION),
            );
        }
        cut(&text, MAX_DESCRIPTION)
    }

    /// Returns several texts: a list, or one text separated by spaces and commas.
    fn list(&mut self, key: &str) -> Vec<String> {
        let mut items = match self.value(key) {
            None => return Vec::new(),
            Some(Yaml::Text { text, .. }) => tools::split_list(text),
            Some(Yaml::List(items)) => items.iter().map(|item| collapse(&item.on_one_line())).collect(),
            Some(Yaml::Map(_)) => {
                self.warn("skills.warning.no_list", key);
                return Vec::new();
            }
        };
        items.retain(|item| !item.is_empty());
        if items.len() > MAX_ENTRIES {
            self.warn("skills.warning.cut", key);
            items.truncate(MAX_ENTRIES);
        }
        items.iter().map(|item| cut(item, MAX_TEXT)).collect()
    }

    /// Returns a yes or no. Only `true` and `false` are valid in a file; other clear values are accepted and
    /// reported.
    fn switch(&mut self, key: &str) -> Option<bool> {
        let value = self.value(key)?;
        let text = value.on_one_line();
        let meant = match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" | "1" => Some(true),
            "false" | "no" | "off" | "n" | "0" => Some(false),
            _ => None,
        };
        let is_word = matches!(value, Yaml::Text { text, .. }
            if matches!(text.as_str(), "true" | "True" | "TRUE" | "false" | "False" | "FALSE"));
        let is_plain = matches!(value, Yaml::Text { style: YamlStyle::Plain, .. });
        // In metadata everything is text.
        let is_as_it_should = is_word && (is_plain || self.front.get(key).is_none());
        if !is_as_it_should {
            let warning_key =
                if meant.is_some() { "skills.warning.boolean" } else { "skills.warning.boolean_unknown" };
            self.warnings.push(Warning::new(warning_key).arg("field", key).arg("value", text));
        }
        meant
    }

    fn unknown(&mut self, key: &str, value: &str) {
        self.warnings
            .push(Warning::new("skills.warning.value_unknown").arg("field", key).arg("value", value));
    }

    fn effort(&mut self) -> Option<Effort> {
        let text = self.text("effort")?;
        let effort = match text.to_ascii_lowercase().as_str() {
            "off" | "none" => Effort::Off,
            "minimal" => Effort::Minimal,
            "low" => Effort::Low,
            "medium" => Effort::Medium,
            "high" => Effort::High,
            "xhigh" => Effort::Xhigh,
            "max" => Effort::Max,
            "inherit" => return None,
            _ => {
                self.unknown("effort", &text);
                return None;
            }
        };
        Some(effort)
    }

    fn allowed_tools(&mut self) -> Vec<ToolGrant> {
        let grants: Vec<ToolGrant> =
            self.list("allowed-tools").iter().map(|entry| ToolGrant::read(entry)).collect();
        for grant in grants.iter().filter(|grant| grant.tool.is_none()) {
            self.warnings.push(Warning::new("skills.warning.tool_unknown").arg("tool", &grant.text));
        }
        grants
    }

    /// Returns the denied tools. A tool is denied as a whole, even if a skill denies only some of its uses.
    fn forbidden_tools(&mut self) -> Vec<&'static str> {
        let entries = [self.list("forbidden_tools"), self.list("disallowed-tools")].concat();
        let mut tools = Vec::new();
        for entry in entries {
            let name = entry.split_once('(').map_or(entry.as_str(), |(name, _)| name);
            match octo_tool(name) {
                Some(tool) if tools.contains(&tool) => {}
                Some(tool) => tools.push(tool),
                None => {
                    self.warnings.push(Warning::new("skills.warning.tool_unknown").arg("tool", &entry));
                }
            }
        }
        tools
    }

    fn metadata(&mut self) -> Vec<(String, String)> {
        match self.value("metadata") {
            None => Vec::new(),
            Some(Yaml::Map(entries)) => entries
                .iter()
                .filter(|(key, _)| !is_exported(key))
                .take(MAX_ENTRIES)
                .map(|(key, value)| (cut(key, MAX_KEY), cut(&value.on_one_line(), MAX_TEXT)))
                .collect(),
            Some(_) => {
                self.warn("skills.warning.no_map", "metadata");
                Vec::new()
            }
        }
    }

    /// Reads where it runs and for whom. With `context: fork`, `agent` is the kind of sub-agent; otherwise it
    /// names profiles.
    fn run(&mut self, fields: &mut Fields) {
        let by_context = match self.text("context").as_deref() {
            Some("fork") => true,
            None | Some("inline") => false,
            Some(other) => {
                self.unknown("context", other);
                false
            }
        };
        let by_switch = self.switch("fork_agent") == Some(true);
        let agent = self.list("agent");
        if by_context {
            fields.run = SkillRun::Fork { agent: agent.into_iter().next() };
            return;
        }
        if by_switch {
            fields.run = SkillRun::Fork { agent: None };
        }
        if !agent.is_empty() && !agent.iter().any(|name| name == "all") {
            fields.profiles = Profiles::Only(agent);
        }
    }
}

/// Metadata prefix of keys outside the public format.
pub(crate) const METADATA_PREFIX: &str = "octo-";

/// Keys that an exported skill stores in its metadata.
pub(crate) const OWN_KEYS: &[&str] = &[
    "name_zh",
    "description_zh",
    "when_to_use",
    "argument-hint",
    "argument-hint_zh",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "agent",
    "context",
    "fork_agent",
    "model",
    "effort",
    "paths",
    "forbidden_tools",
];

fn is_exported(key: &str) -> bool {
    key.strip_prefix(METADATA_PREFIX).is_some_and(|key| OWN_KEYS.contains(&key))
}

fn exported<'a>(front_matter: &'a FrontMatter, key: &str) -> Option<&'a Yaml> {
    let Some(Yaml::Map(entries)) = front_matter.get("metadata") else { return None };
    let is_it = |key_name: &str| is_exported(key_name) && key_name.strip_prefix(METADATA_PREFIX) == Some(key);
    entries.iter().find(|(key_name, _)| is_it(key_name)).map(|(_, value)| value)
}

/// Returns the text on one line, with runs of white space as one space.
pub(crate) fn collapse(text: &str) -> String {
    let printable = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    printable.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns at most `limit` characters, ending in `…` if truncated.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut shortened: String = text.chars().take(limit.saturating_sub(1)).collect();
    shortened.push('…');
    shortened
}

/// Returns the first paragraph that is not a heading, a rule or a fence; a heading if there is nothing else.
fn first_paragraph(body: &str) -> String {
    let mut heading = None;
    let mut paragraph: Vec<&str> = Vec::new();
    for line in body.lines().map(str::trim) {
        let is_mark = line.starts_with("```") || line.starts_with("---") || line.starts_with("<!--");
        if line.starts_with('#') {
            heading.get_or_insert_with(|| line.trim_start_matches('#').trim());
        }
        if line.is_empty() || line.starts_with('#') || is_mark {
            if !paragraph.is_empty() {
                break;
            }
            continue;
        }
        paragraph.push(line);
    }
    if paragraph.is_empty() { heading.unwrap_or_default().to_owned() } else { collapse(&paragraph.join(" ")) }
}
