//! Options for the model that runs the tasks.

use anyhow::{Context as _, Result};
use octo_llm::codec;
use octo_protocol::{Cost, ModelDraft, Protocol, Secret};
use std::path::{Path, PathBuf};

/// Default budget of a task, in dollars.
const BUDGET: f64 = 5.0;

/// Options from the command line.
pub struct Options {
    /// The model, or `None` for the scripted server.
    pub model: Option<Model>,
    /// Budget of a task. Calls without a known price are not counted.
    pub budget: Cost,
    /// Folder for the results.
    pub out: PathBuf,
}

/// The person's model.
pub struct Model {
    /// Its wire protocol.
    pub protocol: Protocol,
    /// Its name on the command line.
    pub protocol_name: String,
    /// The server's address.
    pub base_url: String,
    /// The vendor's name for it.
    pub name: String,
    /// The environment variable with its key.
    pub key_env: String,
    key: Option<Secret>,
}

impl Options {
    /// Reads `--name=value` words; `cargo xtask bench` writes them so.
    ///
    /// # Errors
    /// When one is missing or wrong.
    pub fn read(arguments: impl Iterator<Item = String>) -> Result<Self> {
        let arguments: Vec<String> = arguments.collect();
        let value_of = |name: &str| {
            let value = arguments
                .iter()
                .find_map(|argument| argument.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('='));
            value.filter(|value| !value.trim().is_empty()).map(str::to_owned)
        };
        let dollars = value_of("budget").map_or(Ok(BUDGET), |text| text.parse()).context("--budget")?;
        let budget = Cost::from_dollars(dollars).filter(|budget| *budget > Cost::ZERO);
        let model = match value_of("protocol") {
            Some(protocol_name) => {
                let key_env = value_of("key-env").unwrap_or_else(|| "OCTO_API_KEY".to_owned());
                let key = std::env::var(&key_env).ok().filter(|key| !key.trim().is_empty());
                Some(Model {
                    protocol: protocol(&protocol_name)?,
                    protocol_name,
                    base_url: value_of("base-url").context("--protocol needs --base-url")?,
                    name: value_of("model").context("--protocol needs --model")?,
                    key: key.map(|key| Secret::new(key.trim())),
                    key_env,
                })
            }
            None => None,
        };
        let out = value_of("out").map_or_else(|| build_folder().join("tasks"), PathBuf::from);
        Ok(Self { model, budget: budget.context("--budget must be more than nothing")?, out })
    }
}

impl Model {
    /// Returns the draft that adds it.
    pub fn draft(&self) -> ModelDraft {
        ModelDraft {
            id: None,
            protocol: self.protocol,
            base_url: self.base_url.trim_end_matches('/').to_owned(),
            model: self.name.clone(),
            key: self.key.clone(),
            headers: None,
        }
    }
}

fn protocol(name: &str) -> Result<Protocol> {
    let found = Protocol::ALL.into_iter().find(|protocol| codec(*protocol).name == name);
    found.with_context(|| format!("there is no protocol {name}"))
}

/// Returns cargo's folder for test output, which is in its build folder.
fn build_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    folder.parent().unwrap_or(folder).to_owned()
}
