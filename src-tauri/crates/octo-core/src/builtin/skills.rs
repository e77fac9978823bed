//! `octo skill …`: an agent's work with skills.

use super::{BuiltinReport, HomeCommands, diff, english_text, tool_error};
use crate::library::{Proposal, SKILL_FILE, label, remark, skill_text};
use octo_protocol::{LibraryOfferView, SkillOffer, ToolView};
use octo_runtime::blocking;
use octo_skills::{FindingLevel, Skill, SkillUsage, Trust, ValidationRules};
use octo_tools::{CommandOrigin, SkillCommand, SkillSourceRef, ToolError};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

/// Maximum size of a proposed `SKILL.md`, in bytes.
const MAX_PROPOSAL: u64 = 256 * 1024;

impl HomeCommands {
    /// Returns a preview of a command's effect, for the person who is asked.
    pub(super) async fn skill_view(
        &self,
        command: SkillCommand,
        origin: &CommandOrigin,
    ) -> Result<ToolView, ToolError> {
        let library = &self.library;
        match command {
            SkillCommand::Install { source: SkillSourceRef::Path(path), names, .. } => {
                let offer = library.inspect(path.display().to_string()).await.map_err(tool_error)?;
                library.keep_offer(origin.call, offer.id).map_err(tool_error)?;
                let skills =
                    offer.skills.into_iter().filter(|skill| names.is_empty() || names.contains(&skill.name));
                Ok(ToolView::LibraryOffer(LibraryOfferView { from: offer.from, skills: skills.collect() }))
            }
            // The contents of an address were inspected before, and exactly these are installed.
            SkillCommand::Install { source: SkillSourceRef::Address(from), names, .. } => {
                let offer = library.last_inspected(&from).ok_or_else(|| {
                    ToolError::new(format!("Look first at what is there: octo skill inspect {from}"))
                })?;
                library.keep_offer(origin.call, offer.id).map_err(tool_error)?;
                let skills =
                    offer.skills.into_iter().filter(|skill| names.is_empty() || names.contains(&skill.name));
                Ok(ToolView::LibraryOffer(LibraryOfferView { from, skills: skills.collect() }))
            }
            SkillCommand::Propose { path, .. } => {
                let (name, text) = read_proposed_skill(path).await?;
                let skill_set = library.skill_set(Some(origin.folder.clone())).await.map_err(tool_error)?;
                let existing = skill_set.catalogue.get(&name).filter(|skill| skill.source.is_writable());
                let old_text = match existing {
                    Some(skill) => read_skill_text(skill).await.ok(),
                    None => None,
                };
                let file = self.base.paths.skills().join(&name).join(SKILL_FILE);
                Ok(diff(&file, old_text.as_deref(), &text))
            }
            SkillCommand::Export { name, file } => {
                Ok(ToolView::Plain { text: format!("{name} → {}", file.display()) })
            }
            SkillCommand::Inspect { source: SkillSourceRef::Address(from) } => {
                Ok(ToolView::Plain { text: from })
            }
            SkillCommand::List
            | SkillCommand::Show { .. }
            | SkillCommand::Validate { .. }
            | SkillCommand::Inspect { source: SkillSourceRef::Path(_) } => {
                Ok(ToolView::Plain { text: String::new() })
            }
        }
    }

    /// Executes a command; the text is for the model.
    pub(super) async fn skill(
        &self,
        command: SkillCommand,
        origin: &CommandOrigin,
    ) -> Result<String, ToolError> {
        let (library, trash) = (&self.library, &self.trash);
        match command {
            SkillCommand::List => {
                let skill_set = library.skill_set(Some(origin.folder.clone())).await.map_err(tool_error)?;
                Ok(skill_set.catalogue.skills().iter().map(line).collect())
            }
            SkillCommand::Show { name } => {
                let skill_set = library.skill_set(Some(origin.folder.clone())).await.map_err(tool_error)?;
                let Some(skill) = skill_set.catalogue.get(&name) else {
                    let similar = skill_set.catalogue.similar_names(&name).join(", ");
                    return Err(ToolError::new(format!("There is no skill {name}. Near: {similar}")));
                };
                if skill.trust == Trust::Untrusted {
                    return Err(ToolError::new(format!(
                        "{name} came with this folder and the person has not accepted it. They can look at it on the Skills page."
                    )));
                }
                let text = read_skill_text(skill).await?;
                Ok(format!("{}\nFolder: {}\n\n{text}", line(skill).trim_end(), skill.folder.display()))
            }
            SkillCommand::Validate { path } => {
                let validated = blocking(move || {
                    let folder = if path.is_file() { path.parent().map(Path::to_owned) } else { Some(path) };
                    Ok(folder.map(|folder| octo_skills::validate(&folder, ValidationRules::Octo)))
                });
                let findings = validated
                    .await
                    .map_err(tool_error)?
                    .ok_or_else(|| ToolError::new("Name the skill's folder."))?;
                if findings.is_empty() {
                    return Ok("It keeps every rule.".to_owned());
                }
                Ok(findings
                    .iter()
                    .map(|finding| {
                        let level = match finding.level {
                            FindingLevel::Fault => "fault",
                            FindingLevel::Advice => "advice",
                        };
                        format!("{level}: {}\n", english_text(&remark(&finding.warning)))
                    })
                    .collect())
            }
            SkillCommand::Inspect { source } => {
                let offer = library.inspect(describe_source(&source)).await.map_err(tool_error)?;
                Ok(describe_offer(&offer))
            }
            SkillCommand::Install { source: _, names, replace } => {
                // Installs what the person saw, and nothing added since.
                let installed =
                    library.install_kept(origin.call, names, &replace, trash).await.map_err(tool_error)?;
                Ok(format!("Installed: {}. They can be used at once.", installed.names.join(", ")))
            }
            SkillCommand::Propose { path, reason } => {
                let (name, text) = read_proposed_skill(path).await?;
                let writer = self.writer(origin).await;
                let info = self.base.store.read(move |reader| reader.session(writer)).await;
                let info = info.map_err(|error| tool_error(error.into()))?;
                let session = info.map(|info| (info.id, info.title));
                let turn = self.client.turn;
                let proposal = Proposal { text, name, reason, from: session, turn, cost_nanos: None };
                let suggestion = library.propose(proposal).await.map_err(tool_error)?;
                self.report(BuiltinReport::SkillProposed(suggestion.id));
                Ok(format!(
                    "{} is proposed. It waits on the Skills page and is not used before the person accepts it.",
                    suggestion.name
                ))
            }
            SkillCommand::Export { name, file } => {
                let skill_set = library.skill_set(Some(origin.folder.clone())).await.map_err(tool_error)?;
                let skill = skill_set
                    .catalogue
                    .get(&name)
                    .ok_or_else(|| ToolError::new(format!("There is no skill {name}.")))?;
                let export = library.export(skill_set.reference(skill), file).await.map_err(tool_error)?;
                let lost_fields = if export.left_out.is_empty() {
                    String::new()
                } else {
                    format!(" Left out, unknown to the public format: {}.", export.left_out.join(", "))
                };
                Ok(format!("Written to {}.{lost_fields}", export.path))
            }
        }
    }
}

/// Formats a skill on one line.
fn line(skill: &Skill) -> String {
    let state = match (&skill.error, skill.trust, skill.usage) {
        (Some(_), ..) => ", cannot be read",
        (None, Trust::Untrusted, _) => ", not accepted yet",
        (None, Trust::Trusted, SkillUsage::Off) => ", turned off",
        (None, Trust::Trusted, SkillUsage::Full | SkillUsage::Automatic | SkillUsage::OnRequest) => "",
    };
    format!("- {} ({}{state}): {}\n", skill.name, label(skill.source), skill.fields.description)
}

/// Describes the skills of a source, for the model.
fn describe_offer(offer: &SkillOffer) -> String {
    let mut text = format!("{} holds:\n", offer.from);
    for skill in &offer.skills {
        let scripts =
            skill.files.iter().filter(|file| file.kind == octo_protocol::SkillFileKind::Script).count();
        // Writing to a string cannot fail.
        let _written = writeln!(
            text,
            "- {}: {} ({} files, {scripts} of them can be run; tools: {}; commands: {}{})",
            skill.name,
            skill.description,
            skill.files.len(),
            some(&skill.tools),
            some(&skill.commands),
            if skill.present.is_some() { "; the person has one of that name" } else { "" },
        );
        for message in skill.error.iter().chain(&skill.warnings) {
            let _written = writeln!(text, "  {}", english_text(message));
        }
    }
    text
}

fn some(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn describe_source(source: &SkillSourceRef) -> String {
    match source {
        SkillSourceRef::Path(path) => path.display().to_string(),
        SkillSourceRef::Address(address) => address.clone(),
    }
}

/// Returns the text of an existing skill.
async fn read_skill_text(skill: &Skill) -> Result<String, ToolError> {
    let skill = skill.clone();
    blocking(move || skill_text(&skill)).await.map_err(tool_error)
}

/// Returns a skill's name and text, from its folder or its `SKILL.md`.
async fn read_proposed_skill(path: PathBuf) -> Result<(String, String), ToolError> {
    // The error text is for the model and is passed on unchanged.
    blocking(move || Ok(read_proposal(&path))).await.map_err(tool_error)?
}

fn read_proposal(path: &Path) -> Result<(String, String), ToolError> {
    let file = if path.is_dir() { path.join(SKILL_FILE) } else { path.to_owned() };
    let metadata = std::fs::metadata(&file)
        .map_err(|error| ToolError::new(format!("{} cannot be read: {error}", file.display())))?;
    if metadata.len() > MAX_PROPOSAL {
        return Err(ToolError::new(format!("{} is too large for a skill.", file.display())));
    }
    let text = std::fs::read_to_string(&file)
        .map_err(|error| ToolError::new(format!("{} cannot be read: {error}", file.display())))?;
    let folder = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = octo_skills::read(text.as_bytes(), &folder.unwrap_or_default()).name;
    Ok((name, text))
}
