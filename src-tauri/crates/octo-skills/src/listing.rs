//! Describes the skills to a model.

use crate::{
    Catalogue, Skill,
    fields::{collapse, cut},
};

/// Maximum characters of one description in the list.
pub const MAX_LISTED: usize = 300;
/// Maximum characters of a skill's file patterns.
const MAX_PATHS: usize = 100;
/// Bytes of text that count as one token.
const BYTES_PER_TOKEN: usize = 4;

const HEAD: &str = "\
# Skills

A skill is a set of instructions for one kind of work. When a task fits a description below, call invoke_skill with that \
name before you begin; where several fit, only with the best one.
";

/// Returns the list for the prompt of a session in this profile, at most `budget` tokens long (4 bytes each).
/// Excess skills are omitted from the end: the bundled ones first. Empty if there is nothing to list. The same
/// skills yield the same bytes.
pub fn listing(catalogue: &Catalogue, profile: &str, budget: usize) -> String {
    let skills = catalogue.for_model(profile);
    let room = budget.saturating_mul(BYTES_PER_TOKEN);
    let lines: Vec<String> = skills.iter().map(|skill| line(skill)).collect();
    let full_length = HEAD.len() + lines.iter().map(String::len).sum::<usize>();
    let mut text = HEAD.to_owned();
    if full_length <= room {
        text.extend(lines.iter().map(String::as_str));
    } else {
        // Space for the longest possible number in the remark.
        let reserved = omission_note(lines.len()).len();
        let mut listed = 0;
        for line in &lines {
            if text.len() + line.len() + reserved > room {
                break;
            }
            text.push_str(line);
            listed += 1;
        }
        if listed == 0 {
            return String::new();
        }
        text.push_str(&omission_note(lines.len() - listed));
    }
    if lines.is_empty() { String::new() } else { text }
}

fn omission_note(count: usize) -> String {
    format!("\n({count} more are not listed; the person may name them.)")
}

/// Returns the text appended to a conversation when skills appear in it: the prompt itself does not change.
/// Empty for none.
pub fn announce(skills: &[&Skill]) -> String {
    if skills.is_empty() {
        return String::new();
    }
    let mut sorted = skills.to_vec();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut text = "These skills are there from now on, for invoke_skill:\n".to_owned();
    text.extend(sorted.into_iter().map(line));
    text
}

fn line(skill: &Skill) -> String {
    let mut words = collapse(&skill.fields.description);
    if let Some(condition) = &skill.fields.when_to_use {
        words = collapse(&format!("{words} {condition}"));
    }
    let files = match skill.fields.paths.as_slice() {
        [] => String::new(),
        paths => format!(" (for {})", cut(&collapse(&paths.join(", ")), MAX_PATHS)),
    };
    format!("\n- {}: {}{files}", skill.name, cut(&words, MAX_LISTED))
}
