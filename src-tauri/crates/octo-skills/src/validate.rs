//! Validates a skill's folder before export or use.

use crate::{
    MAX_DESCRIPTION, Warning,
    discovery::{FileNameCase, read_file, skill_file},
    fields::OWN_KEYS,
    front_matter::{FrontMatter, is_key},
    name::is_public_name,
    public::{MAX_COMPATIBILITY, PUBLIC_KEYS},
    tree::{MAX_BYTES, Tree, TreeEntryKind},
    yaml::Yaml,
};
use std::path::Path;

/// Recommended maximum length of instructions, as advised by the format's authors: lines, and tokens of 4
/// bytes.
const MAX_LINES: usize = 500;
const MAX_TOKENS: usize = 5_000;

/// Rules for the validation of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationRules {
    /// Rules of the public format, which every program can read.
    Public,
    /// The public format with Octo's own keys.
    Octo,
}

/// A finding about a skill's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Severity of the finding.
    pub level: FindingLevel,
    /// Message of the finding.
    pub warning: Warning,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingLevel {
    /// Worth knowing, but harmless.
    Advice,
    /// It violates a rule.
    Fault,
}

/// Validates a skill's folder. An empty result means that it follows every rule.
pub fn validate(folder: &Path, rules: ValidationRules) -> Vec<Finding> {
    let mut findings = Findings(Vec::new());
    let folder_name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let resolved = match folder.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) => {
            let finding = Warning::new("skills.error.unreadable").arg("path", folder.display());
            findings.fault(finding.arg("reason", error));
            return findings.0;
        }
    };
    let Some((file, exact)) = skill_file(&resolved) else {
        findings.fault(Warning::new("skills.error.no_skill_file"));
        return findings.0;
    };
    if exact == FileNameCase::No {
        findings.fault(Warning::new("skills.warning.file_name"));
    }
    let document = read_file(&file, &resolved, &folder_name);
    if let Some(error) = document.error {
        findings.fault(error);
    }
    for warning in document.warnings {
        findings.advice(warning);
    }
    head(&document.front, &folder_name, rules, &mut findings);
    if document.body.lines().count() > MAX_LINES || document.body.len() / 4 > MAX_TOKENS {
        let finding = Warning::new("skills.finding.body_long").arg("lines", MAX_LINES);
        findings.advice(finding.arg("tokens", MAX_TOKENS));
    }
    files(&resolved, &mut findings);
    findings.0
}

struct Findings(Vec<Finding>);

impl Findings {
    fn fault(&mut self, warning: Warning) {
        self.0.push(Finding { level: FindingLevel::Fault, warning });
    }

    fn advice(&mut self, warning: Warning) {
        self.0.push(Finding { level: FindingLevel::Advice, warning });
    }
}

fn head(front_matter: &FrontMatter, folder: &str, rules: ValidationRules, findings: &mut Findings) {
    match front_matter.get("name").map(Yaml::as_text) {
        None => findings.fault(missing("name")),
        Some(None) => findings.fault(Warning::new("skills.warning.no_text").arg("field", "name")),
        Some(Some(name)) => {
            if !is_public_name(name) {
                findings.fault(Warning::new("skills.finding.name").arg("name", name));
            }
            if name != folder {
                let warning = Warning::new("skills.finding.name_is_not_folder").arg("name", name);
                findings.fault(warning.arg("folder", folder));
            }
        }
    }
    match front_matter.get("description").map(Yaml::as_text) {
        None | Some(Some("")) => findings.fault(missing("description")),
        Some(None) => findings.fault(Warning::new("skills.warning.no_text").arg("field", "description")),
        Some(Some(text)) => {
            let length = text.chars().count();
            if length > MAX_DESCRIPTION {
                findings.fault(too_long("description", length, MAX_DESCRIPTION));
            }
            if text.contains(['<', '>']) {
                findings.fault(Warning::new("skills.finding.brackets"));
            }
        }
    }
    if let Some(text) = front_matter.get("compatibility").and_then(Yaml::as_text) {
        let length = text.chars().count();
        if length > MAX_COMPATIBILITY {
            findings.fault(too_long("compatibility", length, MAX_COMPATIBILITY));
        }
    }
    match front_matter.get("metadata") {
        None => {}
        Some(Yaml::Map(entries)) if entries.iter().all(|(_, value)| value.as_text().is_some()) => {}
        Some(_) => findings.fault(Warning::new("skills.warning.no_map").arg("field", "metadata")),
    }
    if matches!(front_matter.get("allowed-tools"), Some(Yaml::List(_) | Yaml::Map(_)))
        && rules == ValidationRules::Public
    {
        findings.fault(Warning::new("skills.finding.tools_list"));
    }
    for (key, _) in front_matter.entries() {
        let is_public = PUBLIC_KEYS.iter().any(|key_name| is_key(key, key_name));
        let is_own = OWN_KEYS.iter().any(|key_name| is_key(key, key_name));
        let may_be = is_public || (is_own && rules == ValidationRules::Octo);
        if !may_be {
            findings.fault(Warning::new("skills.finding.key").arg("field", key));
        }
    }
}

fn missing(field: &str) -> Warning {
    Warning::new("skills.finding.missing").arg("field", field)
}

fn too_long(field: &str, length: usize, limit: usize) -> Warning {
    Warning::new("skills.finding.long").arg("field", field).arg("length", length).arg("most", limit)
}

fn files(folder: &Path, findings: &mut Findings) {
    let Ok(tree) = Tree::read(folder, |name| name.starts_with('.')) else { return };
    if tree.is_cut || tree.bytes() > MAX_BYTES {
        findings.fault(Warning::new("skills.finding.too_big").arg("most", MAX_BYTES >> 20));
    }
    for entry in tree.entries.iter().filter(|entry| !matches!(entry.kind, TreeEntryKind::File { .. })) {
        findings.fault(Warning::new("skills.warning.link_left_out").arg("path", &entry.path));
    }
}
