//! Runs hooks and interprets their answers.

use super::{HookFile, HookMoment};
use octo_shell::{HookProgram, HookProgramEnd, LoginEnvironment, Supervision};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Exit status by which a hook denies without a JSON answer.
const DENIED_STATUS: i32 = 2;
/// Maximum length of a hook's text for the model, in characters.
const MAX_CONTEXT_CHARS: usize = 4_000;

/// The person's hooks; the file is read again at each moment.
#[derive(Clone, Debug)]
pub(crate) struct Hooks {
    /// `hooks.toml`.
    pub(crate) file: PathBuf,
    /// The session's folder, which hooks run in.
    pub(crate) folder: PathBuf,
    /// The names of all tools.
    pub(crate) tools: Vec<&'static str>,
    pub(crate) login: LoginEnvironment,
    pub(crate) secret_variables: Vec<String>,
    /// How their processes are started and ended.
    pub(crate) supervision: Supervision,
}

/// The combined answers of all hooks of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HookVerdict {
    /// Why the call is denied; a single denial suffices.
    pub(crate) deny: Option<String>,
    /// Text for the model.
    pub(crate) context: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HookAnswer {
    #[serde(default)]
    deny: Option<String>,
    #[serde(default)]
    context: Option<String>,
}

impl Hooks {
    /// Runs the hooks of a moment one after the other, passing each `facts` and the moment's name. Stops at the
    /// first denial.
    pub(crate) async fn run_all(
        &self,
        moment: HookMoment,
        tool: Option<&str>,
        mut facts: Map<String, Value>,
    ) -> HookVerdict {
        let (file, tools) = (self.file.clone(), self.tools.clone());
        let result = tokio::task::spawn_blocking(move || HookFile::read(&file, &tools)).await;
        let mut verdict = HookVerdict::default();
        let hooks = match result {
            Ok(HookFile::Hooks(hooks)) => hooks,
            Ok(HookFile::Broken { reason }) => {
                tracing::warn!(%reason, "hooks.toml cannot be read");
                if moment == HookMoment::BeforeTool {
                    verdict.deny = Some(format!(
                        "{} cannot be read, so nothing is run until it is mended: {reason}",
                        self.file.display()
                    ));
                }
                return verdict;
            }
            Err(error) => {
                tracing::error!(%error, "reading hooks.toml broke");
                verdict.deny =
                    (moment == HookMoment::BeforeTool).then(|| "hooks.toml could not be read".to_owned());
                return verdict;
            }
        };
        facts.insert("event".to_owned(), moment.name().into());
        let input = Value::Object(facts).to_string().into_bytes();
        for hook in hooks.iter().filter(|hook| hook.applies_to(moment, tool)) {
            let program = HookProgram {
                line: &hook.command,
                folder: &self.folder,
                input: input.clone(),
                timeout: hook.timeout,
                login: &self.login,
                secret_variables: &self.secret_variables,
                supervision: &self.supervision,
            };
            let answer = match program.run().await {
                Ok(result) => parse_answer(&result),
                Err(error) => Err(error.to_string()),
            };
            match answer {
                Ok(HookAnswer { deny, context }) => {
                    if let Some(context) = context.filter(|context| !context.trim().is_empty()) {
                        let before = verdict.context.take().map(|earlier| earlier + "\n").unwrap_or_default();
                        verdict.context = Some(shorten(&(before + context.trim())));
                    }
                    if let (Some(reason), HookMoment::BeforeTool) = (deny, moment) {
                        verdict.deny = Some(shorten(&reason));
                        return verdict;
                    }
                }
                Err(reason) => {
                    tracing::warn!(command = %hook.command, %reason, moment = moment.name(), "a hook failed");
                    if moment == HookMoment::BeforeTool {
                        verdict.deny =
                            Some(shorten(&format!("the hook `{}` failed: {reason}", hook.command.trim())));
                        return verdict;
                    }
                }
            }
        }
        verdict
    }
}

/// Parses a hook's answer, or returns why it is invalid.
fn parse_answer(result: &HookProgramEnd) -> Result<HookAnswer, String> {
    let output = result.output.trim();
    match result.code {
        Some(0) if output.is_empty() => Ok(HookAnswer { deny: None, context: None }),
        Some(0) => {
            serde_json::from_str(output).map_err(|error| format!("its answer is not understood: {error}"))
        }
        Some(DENIED_STATUS) => {
            let reason =
                if result.errors.trim().is_empty() { "a hook said no" } else { result.errors.trim() };
            Ok(HookAnswer { deny: Some(reason.to_owned()), context: None })
        }
        Some(code) => Err(format!("exit status {code}: {}", result.errors.trim())),
        None => Err("a signal ended it".to_owned()),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(MAX_CONTEXT_CHARS).collect()
}
