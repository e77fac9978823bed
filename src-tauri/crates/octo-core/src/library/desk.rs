//! What answers `octo …` commands: the desk of a home.

use super::{MemoryDraft, Proposal, cards::label, settings};
use crate::{schedule::Tasks, shared::Shared};
use futures::future::BoxFuture;
use octo_protocol::{
    ApiError, BrowserState, LibraryOfferView, PersonaKind, RemovedBy, SkillOffer, SuggestionId, ToolView,
    TurnId, words,
};
use octo_skills::{Level, Rules, Skill, Trust, Usage};
use octo_tools::{
    BrowserQuery, Desk, DeskAsker, Errand, MemoryErrand, PersonaErrand, SkillErrand, SkillPlace, ToolError,
};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The most characters of an answer.
const MOST: usize = 30_000;
/// The largest `SKILL.md` that is proposed, in bytes.
const MAX_PROPOSAL: u64 = 256 * 1024;

/// The desk of a home.
#[derive(Clone)]
pub(crate) struct HomeDesk {
    shared: Arc<Shared>,
    client: Client,
}

/// On whose behalf an agent comes to the desk.
#[derive(Clone)]
pub(crate) struct Client {
    /// The turn the person asked for: of a sub-agent its parent's. None between turns.
    pub(crate) turn: Option<TurnId>,
    /// Who wants to hear what was done.
    pub(crate) witness: Witness,
}

/// Whether anybody wants to hear what an agent did at the desk.
#[derive(Clone)]
pub(crate) enum Witness {
    Nobody,
    Told(mpsc::UnboundedSender<Deed>),
}

/// What an agent did at the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It wrote this memory.
    Remembered(String),
    /// It proposed a skill.
    Proposed(SuggestionId),
}

impl HomeDesk {
    pub(crate) fn new(shared: Arc<Shared>, client: Client) -> Self {
        Self { shared, client }
    }

    fn done(&self, deed: Deed) {
        match &self.client.witness {
            Witness::Nobody => {}
            // Who no longer listens needs no word.
            Witness::Told(told) => drop(told.send(deed)),
        }
    }
}

impl Desk for HomeDesk {
    fn show(&self, errand: &Errand, asker: &DeskAsker) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        let (desk, errand, asker) = (self.clone(), errand.clone(), asker.clone());
        Box::pin(async move { desk.view(errand, &asker).await })
    }

    fn carry_out(
        &self,
        errand: Errand,
        asker: DeskAsker,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<String, ToolError>> {
        let desk = self.clone();
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ToolError::new("Stopped before it began; nothing was changed."));
            }
            let text = match errand {
                Errand::Skill(errand) => desk.skill(errand, &asker).await,
                Errand::Memory(errand) => desk.memory(errand, &asker).await,
                Errand::Persona(errand) => desk.persona(errand).await,
                Errand::Task(errand) => Tasks::of(&desk.shared).answer_errand(errand, &asker).await,
                Errand::Browser(query) => desk.browser(query).await,
                Errand::Settings(query) => settings::answer(&desk.shared.preferences(), query),
            }?;
            Ok(capped(text))
        })
    }
}

impl HomeDesk {
    /// What would happen, for the person who is asked.
    async fn view(&self, errand: Errand, asker: &DeskAsker) -> Result<ToolView, ToolError> {
        let library = &self.shared.library;
        match errand {
            Errand::Skill(SkillErrand::Install { source: SkillPlace::Path(path), names, .. }) => {
                let offer = library.inspect(path.display().to_string()).await.map_err(told)?;
                library.hold(asker.call, offer.id).map_err(told)?;
                let skills =
                    offer.skills.into_iter().filter(|skill| names.is_empty() || names.contains(&skill.name));
                Ok(ToolView::LibraryOffer(LibraryOfferView { from: offer.from, skills: skills.collect() }))
            }
            // What is at an address was looked at before, and is what is installed.
            Errand::Skill(SkillErrand::Install { source: SkillPlace::Address(from), names, .. }) => {
                let offer = library.looked_at(&from).ok_or_else(|| {
                    ToolError::new(format!("Look first at what is there: octo skill inspect {from}"))
                })?;
                library.hold(asker.call, offer.id).map_err(told)?;
                let skills =
                    offer.skills.into_iter().filter(|skill| names.is_empty() || names.contains(&skill.name));
                Ok(ToolView::LibraryOffer(LibraryOfferView { from, skills: skills.collect() }))
            }
            Errand::Skill(SkillErrand::Propose { path, .. }) => {
                let (name, text) = proposed(path).await?;
                let shelf = library.shelf(Some(asker.folder.clone())).await.map_err(told)?;
                let present = shelf.catalogue.get(&name).filter(|skill| skill.source.is_writable());
                let before = match present {
                    Some(skill) => written(skill).await.ok(),
                    None => None,
                };
                let place = self.shared.config.home.join("skills").join(&name).join(super::skill::SKILL_FILE);
                Ok(diff(&place, before.as_deref(), &text))
            }
            Errand::Memory(MemoryErrand::Save { file, body, topic, .. }) => {
                let before = match &file {
                    Some(file) => Some(library.memory(file.clone()).await.map_err(told)?),
                    None => None,
                };
                let path = match &before {
                    Some(memory) => PathBuf::from(&memory.path),
                    None => self.shared.config.home.join("memories").join(topic),
                };
                Ok(diff(&path, before.as_ref().map(|memory| memory.body.as_str()), &body))
            }
            Errand::Memory(MemoryErrand::Delete { file }) => {
                let memory = library.memory(file).await.map_err(told)?;
                Ok(diff(Path::new(&memory.path), Some(&memory.body), ""))
            }
            Errand::Persona(PersonaErrand::Write { kind, text }) => {
                let agents = library.agents().clone();
                let file = crate::blocking::blocking(move || Ok(agents.file(kind))).await.map_err(told)?;
                let before = if file.text.is_empty() { &file.standard } else { &file.text };
                Ok(diff(Path::new(&file.path), Some(before), &text))
            }
            Errand::Skill(SkillErrand::Export { name, file }) => {
                Ok(ToolView::Plain { text: format!("{name} → {}", file.display()) })
            }
            Errand::Skill(SkillErrand::Inspect { source: SkillPlace::Address(from) }) => {
                Ok(ToolView::Plain { text: from })
            }
            Errand::Task(errand) => Tasks::of(&self.shared).view(errand, asker).await,
            Errand::Skill(_)
            | Errand::Memory(_)
            | Errand::Persona(_)
            | Errand::Browser(_)
            | Errand::Settings(_) => Ok(ToolView::Plain { text: String::new() }),
        }
    }

    async fn skill(&self, errand: SkillErrand, asker: &DeskAsker) -> Result<String, ToolError> {
        let (library, trash) = (&self.shared.library, &self.shared.trash);
        match errand {
            SkillErrand::List => {
                let shelf = library.shelf(Some(asker.folder.clone())).await.map_err(told)?;
                Ok(shelf.catalogue.skills().iter().map(line).collect())
            }
            SkillErrand::Show { name } => {
                let shelf = library.shelf(Some(asker.folder.clone())).await.map_err(told)?;
                let Some(skill) = shelf.catalogue.get(&name) else {
                    let near = shelf.catalogue.near(&name).join(", ");
                    return Err(ToolError::new(format!("There is no skill {name}. Near: {near}")));
                };
                if skill.trust == Trust::Untrusted {
                    return Err(ToolError::new(format!(
                        "{name} came with this folder and the person has not accepted it. They can look at it on the Skills page."
                    )));
                }
                let text = written(skill).await?;
                Ok(format!("{}\nFolder: {}\n\n{text}", line(skill).trim_end(), skill.folder.display()))
            }
            SkillErrand::Validate { path } => {
                let validated = crate::blocking::blocking(move || {
                    let folder = if path.is_file() { path.parent().map(Path::to_owned) } else { Some(path) };
                    Ok(folder.map(|folder| octo_skills::validate(&folder, Rules::Octo)))
                });
                let findings = validated
                    .await
                    .map_err(told)?
                    .ok_or_else(|| ToolError::new("Name the skill's folder."))?;
                if findings.is_empty() {
                    return Ok("It keeps every rule.".to_owned());
                }
                Ok(findings
                    .iter()
                    .map(|finding| {
                        let level = match finding.level {
                            Level::Fault => "fault",
                            Level::Advice => "advice",
                        };
                        format!("{level}: {}\n", in_english(&super::cards::told(&finding.remark)))
                    })
                    .collect())
            }
            SkillErrand::Inspect { source } => {
                let offer = library.inspect(place(&source)).await.map_err(told)?;
                Ok(described(&offer))
            }
            SkillErrand::Install { source: _, names, replace } => {
                // What was shown to the person, and nothing that came there since.
                let done = library.install_held(asker.call, names, &replace, trash).await.map_err(told)?;
                Ok(format!("Installed: {}. They can be used at once.", done.names.join(", ")))
            }
            SkillErrand::Propose { path, reason } => {
                let (name, text) = proposed(path).await?;
                let by = self.writer(asker).await;
                let info = self.shared.store.read(move |reader| reader.session(by)).await;
                let info = info.map_err(|error| told(error.into()))?;
                let from = info.map(|info| (info.id, info.title));
                let turn = self.client.turn;
                let proposal = Proposal { text, name, reason, from, turn, cost_nanos: None };
                let made = library.propose(proposal).await.map_err(told)?;
                self.done(Deed::Proposed(made.id));
                Ok(format!(
                    "{} is proposed. It waits on the Skills page and is not used before the person accepts it.",
                    made.name
                ))
            }
            SkillErrand::Export { name, file } => {
                let shelf = library.shelf(Some(asker.folder.clone())).await.map_err(told)?;
                let skill = shelf
                    .catalogue
                    .get(&name)
                    .ok_or_else(|| ToolError::new(format!("There is no skill {name}.")))?;
                let done = library.export(shelf.named(skill), file).await.map_err(told)?;
                let left = if done.left_out.is_empty() {
                    String::new()
                } else {
                    format!(" Left out, unknown to the public format: {}.", done.left_out.join(", "))
                };
                Ok(format!("Written to {}.{left}", done.path))
            }
        }
    }

    async fn memory(&self, errand: MemoryErrand, asker: &DeskAsker) -> Result<String, ToolError> {
        let (library, trash) = (&self.shared.library, &self.shared.trash);
        match errand {
            MemoryErrand::List { query } => {
                let found = library.list_memories(query.unwrap_or_default()).await.map_err(told)?;
                if found.memories.is_empty() {
                    return Ok("No memories.".to_owned());
                }
                Ok(found
                    .memories
                    .iter()
                    .map(|memory| format!("- {} | {}: {}\n", memory.file, memory.topic, memory.description))
                    .collect())
            }
            MemoryErrand::Read { file } => {
                let memory = library.recall(file).await.map_err(told)?;
                Ok(format!(
                    "topic: {}\ndescription: {}\n\n{}",
                    memory.card.topic, memory.card.description, memory.body
                ))
            }
            MemoryErrand::Save { file, topic, description, body } => {
                let draft = MemoryDraft { file, topic, description, body, version: None };
                let by = self.writer(asker).await;
                let saved = library.remember(draft, Some(by)).await.map_err(told)?;
                self.done(Deed::Remembered(saved.card.file.clone()));
                Ok(format!("Remembered in {}.", saved.card.file))
            }
            MemoryErrand::Delete { file } => {
                let forgotten = library.forget(file.clone(), RemovedBy::Agent, Some(asker.session), trash);
                forgotten.await.map_err(told)?;
                Ok(format!("{file} is in the trash."))
            }
        }
    }

    /// The session the person knows: of a sub-agent its parent.
    async fn writer(&self, asker: &DeskAsker) -> octo_protocol::SessionId {
        let id = asker.session;
        let fork = self.shared.store.read(move |reader| reader.fork(id)).await;
        fork.ok().flatten().map_or(id, |fork| fork.origin.session)
    }

    async fn persona(&self, errand: PersonaErrand) -> Result<String, ToolError> {
        let (library, trash) = (&self.shared.library, &self.shared.trash);
        match errand {
            PersonaErrand::Show => {
                let persona = library.persona().await.map_err(told)?;
                let mut text = String::new();
                for file in persona.files {
                    let name = persona_name(file.kind);
                    let (says, whose) = match file.text.as_str() {
                        "" => (file.standard.as_str(), "Octo's own words"),
                        text => (text, "the person's"),
                    };
                    // Writing to a string cannot fail.
                    let _written = write!(text, "# {name} ({whose})\n\n{says}\n\n");
                }
                Ok(text)
            }
            PersonaErrand::Write { kind, text } => {
                library.write_persona(kind, text, trash).await.map_err(told)?;
                Ok(format!(
                    "{} is written. Sessions that begin from now on start with it.",
                    persona_name(kind)
                ))
            }
        }
    }

    async fn browser(&self, query: BrowserQuery) -> Result<String, ToolError> {
        match query {
            BrowserQuery::Status => Ok(match self.shared.browser.state() {
                BrowserState::Apart => "Not connected; nothing was tried yet.".to_owned(),
                BrowserState::Looking => "Looking for a browser.".to_owned(),
                BrowserState::WaitingForAllow { browser, .. } => {
                    format!("{browser} asks the person whether to allow it.")
                }
                BrowserState::Attached { browser, version, .. } => {
                    format!("Connected to {browser} {version}.")
                }
                BrowserState::Lost { error } => format!("Not connected. {}", in_english(&error)),
            }),
            BrowserQuery::Doctor => {
                let checks = self.shared.browser.examine().await;
                Ok(checks
                    .iter()
                    .map(|check| {
                        format!("{:?}: {:?}. {}\n", check.about, check.result, in_english(&check.note))
                    })
                    .collect())
            }
        }
    }
}

/// A skill on a line.
fn line(skill: &Skill) -> String {
    let state = match (&skill.error, skill.trust, skill.usage) {
        (Some(_), ..) => ", cannot be read",
        (None, Trust::Untrusted, _) => ", not accepted yet",
        (None, Trust::Trusted, Usage::Off) => ", turned off",
        (None, Trust::Trusted, Usage::Full | Usage::Automatic | Usage::OnRequest) => "",
    };
    format!("- {} ({}{state}): {}\n", skill.name, label(skill.source), skill.fields.description)
}

/// What skills a place holds, for the model.
fn described(offer: &SkillOffer) -> String {
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
        for remark in skill.error.iter().chain(&skill.warnings) {
            let _written = writeln!(text, "  {}", in_english(remark));
        }
    }
    text
}

fn some(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn place(source: &SkillPlace) -> String {
    match source {
        SkillPlace::Path(path) => path.display().to_string(),
        SkillPlace::Address(address) => address.clone(),
    }
}

/// The text of a skill that is there.
async fn written(skill: &Skill) -> Result<String, ToolError> {
    let skill = skill.clone();
    crate::blocking::blocking(move || super::skill::text_of(&skill)).await.map_err(told)
}

/// A skill's name and text, of its folder or its `SKILL.md`.
async fn proposed(path: PathBuf) -> Result<(String, String), ToolError> {
    // What is wrong is for the model, and comes through as it is.
    crate::blocking::blocking(move || Ok(read_proposal(&path))).await.map_err(told)?
}

fn read_proposal(path: &Path) -> Result<(String, String), ToolError> {
    let file = if path.is_dir() { path.join(super::skill::SKILL_FILE) } else { path.to_owned() };
    let about = std::fs::metadata(&file)
        .map_err(|error| ToolError::new(format!("{} cannot be read: {error}", file.display())))?;
    if about.len() > MAX_PROPOSAL {
        return Err(ToolError::new(format!("{} is too large for a skill.", file.display())));
    }
    let text = std::fs::read_to_string(&file)
        .map_err(|error| ToolError::new(format!("{} cannot be read: {error}", file.display())))?;
    let folder = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = octo_skills::read(text.as_bytes(), &folder.unwrap_or_default()).name;
    Ok((name, text))
}

fn persona_name(kind: PersonaKind) -> &'static str {
    match kind {
        PersonaKind::Soul => "SOUL.md",
        PersonaKind::User => "USER.md",
    }
}

fn diff(path: &Path, before: Option<&str>, after: &str) -> ToolView {
    ToolView::Diff(octo_workspace::diff(path, before.map(str::as_bytes), after.as_bytes()))
}

fn capped(text: String) -> String {
    if text.chars().count() <= MOST {
        return text;
    }
    let kept: String = text.chars().take(MOST).collect();
    format!("{kept}\n(cut here)")
}

/// The model reads English, whatever the window speaks.
pub(crate) fn in_english(error: &ApiError) -> String {
    let args = error.args.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let prefixed = format!("error.{}", error.key);
    let said = words::say(octo_protocol::Language::En, &prefixed, &args);
    if said == prefixed { words::say(octo_protocol::Language::En, &error.key, &args) } else { said }
}

pub(crate) fn told(error: ApiError) -> ToolError {
    let detail = error.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    ToolError::new(format!("{}{detail}", in_english(&error)))
}
