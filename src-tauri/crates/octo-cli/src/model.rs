//! Selects the model of a headless run from its options.

use crate::{
    args::{ExecArguments, KEY_VARIABLE, ProtocolChoice},
    exit::Failure,
};
use octo_core::{KeyStorage, Octo};
use octo_llm::{Credentials, VendorServer, codec};
use octo_protocol::{
    ApiError, ErrorCode, GetSettings, HeaderDraft, ModelDraft, ModelEntry, ModelId, Protocol, SaveModel,
    Secret,
};
use url::{Host, Url};

/// Model of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ModelChoice {
    /// The session's own, or the home's default; keys from the keychain.
    Home,
    /// The home's entry with this name; keys from the keychain.
    Named(String),
    /// A model described on the command line; its key stays in memory.
    Inline(InlineModel),
    /// The built-in script.
    Demo,
}

/// A model described on the command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InlineModel {
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address, without a trailing slash.
    pub base_url: String,
    /// The vendor's name of the model.
    pub model: String,
    /// The key, if its variable is set.
    pub key: Option<Secret>,
    /// The person's headers.
    pub headers: Vec<HeaderDraft>,
}

impl ModelChoice {
    /// Parses the options; `variable` looks up an environment variable.
    pub fn read(
        arguments: &ExecArguments,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Failure> {
        let usage_error = |message: &str| Err(Failure::Usage(message.to_owned()));
        let protocol = match (arguments.protocol, &arguments.model) {
            (Some(ProtocolChoice::Demo), _) => {
                let extra = arguments.base_url.is_some()
                    || arguments.model.is_some()
                    || arguments.key_env.is_some()
                    || !arguments.headers.is_empty()
                    || arguments.effort.is_some()
                    || arguments.budget.is_some();
                return match (extra, arguments.session) {
                    (true, _) => usage_error(
                        "--protocol demo takes no --base-url, --model, --key-env, --header, --effort or --budget: it is \
                         no model, and free",
                    ),
                    (false, Some(_)) => {
                        usage_error("--protocol demo starts its own session: leave --session out")
                    }
                    (false, None) => Ok(Self::Demo),
                };
            }
            (Some(ProtocolChoice::Model(protocol)), _) => protocol,
            (None, _)
                if arguments.base_url.is_some()
                    || arguments.key_env.is_some()
                    || !arguments.headers.is_empty() =>
            {
                return usage_error("--base-url, --key-env and --header need --protocol and --model");
            }
            (None, Some(model)) => return Ok(Self::Named(model.clone())),
            (None, None) => return Ok(Self::Home),
        };
        let Some(model) = arguments.model.clone().filter(|model| !model.trim().is_empty()) else {
            return usage_error("--protocol needs --model");
        };
        let codec = codec(protocol);
        let base_url = match (&arguments.base_url, codec.server) {
            (Some(model), _) => model.clone(),
            (None, VendorServer::Address(address)) => address.to_owned(),
            (None, VendorServer::AwsRegion) => {
                let region = ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(&variable);
                match region.filter(|region| !region.trim().is_empty()) {
                    Some(region) => format!("https://bedrock-runtime.{}.amazonaws.com", region.trim()),
                    None => return usage_error("--protocol bedrock needs --base-url, or AWS_REGION"),
                }
            }
        };
        let base_url = base_url.trim_end_matches('/').to_owned();
        let headers = headers(&arguments.headers)?;
        let key = variable(key_variable(arguments)).filter(|key| !key.trim().is_empty());
        match ServerLocation::from_address(&base_url) {
            None => usage_error("--base-url is not an http or https address"),
            // The lookup of AWS credentials reports missing ones.
            Some(ServerLocation::Remote)
                if key.is_none() && codec.credentials != Credentials::BearerOrAws =>
            {
                let error = ApiError::new("exec.key_missing").code(ErrorCode::KeyNeeded);
                Err(Failure::Failed(error.arg("variable", key_variable(arguments))))
            }
            Some(_) => {
                let key = key.map(|key| Secret::new(key.trim()));
                Ok(Self::Inline(InlineModel { protocol, base_url, model, key, headers }))
            }
        }
    }

    /// Returns where the keys of such a run are stored.
    pub fn keys(&self) -> KeyStorage {
        match self {
            Self::Inline(_) => KeyStorage::Memory,
            Self::Home | Self::Named(_) | Self::Demo => KeyStorage::System,
        }
    }

    /// Registers the choice with the core; `None` if the core's own default applies.
    pub async fn register(&self, octo: &Octo) -> Result<Option<ModelId>, ApiError> {
        match self {
            Self::Home | Self::Demo => Ok(None),
            Self::Named(name) => {
                let models = octo.call(GetSettings {}).await?.models;
                match models.into_iter().find(|entry| entry.model == *name) {
                    Some(entry) => Ok(Some(entry.id)),
                    None => Err(ApiError::new("exec.unknown_model").arg("model", name)),
                }
            }
            Self::Inline(inline) => {
                let models = octo.call(GetSettings {}).await?.models;
                let existing = models.into_iter().find(|entry| inline.matches(entry)).map(|entry| entry.id);
                if existing.is_some() && inline.key.is_none() && inline.headers.is_empty() {
                    return Ok(existing);
                }
                let saved = octo.call(SaveModel { draft: inline.draft(existing) }).await?;
                Ok(Some(saved.id))
            }
        }
    }
}

impl InlineModel {
    fn matches(&self, entry: &ModelEntry) -> bool {
        entry.protocol == self.protocol
            && entry.base_url.trim_end_matches('/') == self.base_url
            && entry.model == self.model
    }

    fn draft(&self, id: Option<ModelId>) -> ModelDraft {
        ModelDraft {
            id,
            protocol: self.protocol,
            base_url: self.base_url.clone(),
            model: self.model.clone(),
            key: self.key.clone(),
            headers: (!self.headers.is_empty()).then(|| self.headers.clone()),
        }
    }
}

/// Parses the headers; an error never repeats a value.
fn headers(arguments: &[String]) -> Result<Vec<HeaderDraft>, Failure> {
    let parse_one = |header: &String| {
        let (name, value) = header.split_once('=').filter(|(name, _)| !name.trim().is_empty())?;
        Some(HeaderDraft { name: name.trim().to_owned(), value: Some(Secret::new(value.trim())) })
    };
    let form_error = || Failure::Usage("--header must have the form NAME=VALUE".to_owned());
    arguments.iter().map(|header| parse_one(header).ok_or_else(form_error)).collect()
}

/// Returns the environment variable of the key, which no command of the agent may see.
pub(crate) fn key_variable(arguments: &ExecArguments) -> &str {
    arguments.key_env.as_deref().unwrap_or(KEY_VARIABLE)
}

/// Whether an address is on this machine: only there may the key be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerLocation {
    Loopback,
    Remote,
}

impl ServerLocation {
    /// Classifies an address; `None` if it is not an http or https address.
    fn from_address(address: &str) -> Option<Self> {
        let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let loopback = match url.host()? {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        Some(if loopback { Self::Loopback } else { Self::Remote })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{CliArguments, CliCommand};
    use clap::Parser;

    fn read(options: &[&str], key: Option<&str>) -> Result<ModelChoice, Failure> {
        let line = ["octo", "exec"].iter().chain(options).chain(&["hi"]);
        let CliCommand::Exec(exec) = CliArguments::try_parse_from(line).unwrap().command else {
            panic!("exec")
        };
        let expected = key_variable(&exec).to_owned();
        ModelChoice::read(&exec, |name| key.filter(|_| name == expected).map(str::to_owned))
    }

    fn inline_choice(protocol: Protocol, base_url: &str, key: Option<&str>) -> ModelChoice {
        let (base_url, key) = (base_url.to_owned(), key.map(Secret::new));
        let (model, headers) = ("m".to_owned(), Vec::new());
        ModelChoice::Inline(InlineModel { protocol, base_url, model, key, headers })
    }

    #[test]
    fn without_options_the_home_decides() {
        assert_eq!(read(&[], Some("k")), Ok(ModelChoice::Home));
        assert_eq!(read(&[], Some("k")).unwrap().keys(), KeyStorage::System);
        assert_eq!(read(&["--model", "m"], None), Ok(ModelChoice::Named("m".to_owned())));
        assert_eq!(read(&["--protocol", "demo"], None), Ok(ModelChoice::Demo));
    }

    #[test]
    fn a_given_model_keeps_its_key_in_memory() {
        let choice =
            read(&["--protocol", "anthropic", "--model", "m", "--key-env", "MINE"], Some(" k\n")).unwrap();
        assert_eq!(choice, inline_choice(Protocol::Anthropic, "https://api.anthropic.com", Some("k")));
        assert_eq!(choice.keys(), KeyStorage::Memory);
        assert!(!format!("{choice:?}").contains("\"k\""));
        let choice =
            read(&["--protocol", "openai-chat", "--model", "m", "--base-url", "http://[::1]:9/v1/"], None);
        assert_eq!(choice, Ok(inline_choice(Protocol::OpenaiChat, "http://[::1]:9/v1", None)));
    }

    #[test]
    fn every_protocol_has_its_default_address() {
        for (protocol, name, address) in [
            (Protocol::Anthropic, "anthropic", "https://api.anthropic.com"),
            (Protocol::OpenaiChat, "openai-chat", "https://api.openai.com/v1"),
            (Protocol::OpenaiResponses, "openai-responses", "https://api.openai.com/v1"),
        ] {
            let choice = read(&["--protocol", name, "--model", "m"], Some("k"));
            assert_eq!(choice, Ok(inline_choice(protocol, address, Some("k"))), "{name}");
        }
    }

    #[test]
    fn bedrock_needs_a_region_and_no_key() {
        let line = ["octo", "exec", "--protocol", "bedrock", "--model", "m", "hi"];
        let CliCommand::Exec(exec) = CliArguments::try_parse_from(line).unwrap().command else {
            panic!("exec")
        };
        let read_with = |variables: &[(&str, &str)]| {
            ModelChoice::read(&exec, |name| {
                variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let address = |region: &str| format!("https://bedrock-runtime.{region}.amazonaws.com");
        assert_eq!(
            read_with(&[("AWS_REGION", "eu-west-1")]),
            Ok(inline_choice(Protocol::Bedrock, &address("eu-west-1"), None))
        );
        assert_eq!(
            read_with(&[("AWS_DEFAULT_REGION", "us-east-1"), (KEY_VARIABLE, "k")]),
            Ok(inline_choice(Protocol::Bedrock, &address("us-east-1"), Some("k")))
        );
        assert!(matches!(read_with(&[]), Err(Failure::Usage(_))));
    }

    #[test]
    fn headers_are_read_and_never_shown() {
        let parse_header = |header: &str| {
            let options = ["--protocol", "anthropic", "--model", "m", "--header", header];
            read(&options, Some("k"))
        };
        let Ok(ModelChoice::Inline(model)) = parse_header(" X-Tenant = s3cret=value ") else {
            panic!("a model")
        };
        assert_eq!(model.headers.len(), 1);
        assert_eq!(model.headers[0].name, "X-Tenant");
        assert_eq!(model.headers[0].value.as_ref().map(Secret::expose), Some("s3cret=value"));
        assert!(!format!("{model:?}").contains("s3cret"));
        for invalid in ["s3cret", "=s3cret", ""] {
            match parse_header(invalid) {
                Err(Failure::Usage(message)) => assert!(!message.contains("s3cret"), "{message}"),
                other => panic!("{invalid}: {other:?}"),
            }
        }
    }

    #[test]
    fn only_a_local_server_needs_no_key() {
        for local in ["http://localhost:1", "http://127.9.9.9", "http://[::1]:1", "http://a.localhost"] {
            let choice = read(&["--protocol", "anthropic", "--model", "m", "--base-url", local], None);
            assert_eq!(choice, Ok(inline_choice(Protocol::Anthropic, local, None)), "{local}");
        }
        for remote in [
            "https://api.example.com",
            "http://localhost.example.com",
            "http://10.0.0.1",
            "http://u@10.0.0.1",
        ] {
            match read(&["--protocol", "anthropic", "--model", "m", "--base-url", remote], Some("  ")) {
                Err(Failure::Failed(error)) => assert_eq!(error.key, "exec.key_missing", "{remote}"),
                other => panic!("{remote}: {other:?}"),
            }
        }
    }

    #[test]
    fn options_that_make_no_sense_together_are_usage_errors() {
        let id = octo_protocol::SessionId::new().to_string();
        for invalid in [
            &["--protocol", "anthropic"][..],
            &["--protocol", "anthropic", "--model", " "],
            &["--base-url", "http://localhost"],
            &["--key-env", "K", "--model", "m"],
            &["--protocol", "demo", "--model", "m"],
            &["--protocol", "demo", "--session", &id],
            &["--protocol", "demo", "--header", "a=b"],
            &["--protocol", "demo", "--effort", "low"],
            &["--protocol", "demo", "--budget", "1"],
            &["--header", "a=b", "--model", "m"],
            &["--protocol", "anthropic", "--model", "m", "--base-url", "ftp://localhost"],
            &["--protocol", "anthropic", "--model", "m", "--base-url", "localhost"],
        ] {
            assert!(matches!(read(invalid, Some("k")), Err(Failure::Usage(_))), "{invalid:?}");
        }
    }
}
