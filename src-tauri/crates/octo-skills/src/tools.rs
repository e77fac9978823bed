//! Maps the tool names in skills for other programs to Octo's tools.

use octo_protocol::TOOL_NAMES;

/// A tool that a skill requests in `allowed-tools`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolGrant {
    /// The entry as written: `Bash(git add:*)`.
    pub text: String,
    /// Octo's tool; `None` if it has no equivalent.
    pub tool: Option<&'static str>,
    /// Text in brackets: the commands, files or addresses it applies to.
    pub pattern: Option<String>,
}

/// Returns Octo's tool for a name of any program, ignoring case.
pub fn octo_tool(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_lowercase().replace('-', "_");
    TOOL_NAMES
        .iter()
        .find(|tool| {
            tool.name == name
                || tool.name.replace('_', "") == name
                || tool.skill_aliases.contains(&name.as_str())
        })
        .map(|tool| tool.name)
}

impl ToolGrant {
    /// Parses one entry: a name, with its scope in brackets.
    pub(crate) fn read(text: &str) -> Self {
        let text = text.trim();
        let (name, pattern) = match text.split_once('(') {
            Some((name, argument)) => {
                (name, Some(argument.strip_suffix(')').unwrap_or(argument).trim().to_owned()))
            }
            None => (text, None),
        };
        Self {
            text: text.to_owned(),
            tool: octo_tool(name),
            pattern: pattern.filter(|pattern| !pattern.is_empty()),
        }
    }
}

/// Splits a list on one line at spaces or commas. Text in brackets stays together.
pub(crate) fn split_list(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c.is_whitespace() || c == ',') {
            items.push(String::new());
        } else if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    items.retain(|item| !item.is_empty());
    items
}
