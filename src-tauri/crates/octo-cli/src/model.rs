//! Which model a headless run speaks to, from its options.

use crate::{
    args::{ExecArguments, KEY_VARIABLE, ProtocolChoice},
    exit::Failure,
};
use octo_core::{Keys, Octo};
use octo_protocol::{
    ApiError, ErrorCode, GetSettings, ModelDraft, ModelEntry, ModelId, Protocol, SaveModel, Secret,
};
use url::{Host, Url};

/// Which model a run speaks to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ModelChoice {
    /// The session's own, or the home's default; keys from the keychain.
    Home,
    /// The home's entry with this name; keys from the keychain.
    Named(String),
    /// One given on the command line; its key stays in memory.
    Given(GivenModel),
    /// The built-in script.
    Demo,
}

/// A model given on the command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenModel {
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address, without a trailing slash.
    pub base_url: String,
    /// The vendor's name.
    pub model: String,
    /// The key, where its variable holds one.
    pub key: Option<Secret>,
}

impl ModelChoice {
    /// Reads the options; `variable` looks an environment variable up.
    pub fn read(
        arguments: &ExecArguments,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Failure> {
        let wrong = |words: &str| Err(Failure::Usage(words.to_owned()));
        let protocol = match (arguments.protocol, &arguments.model) {
            (Some(ProtocolChoice::Demo), _) => {
                let extra =
                    arguments.base_url.is_some() || arguments.model.is_some() || arguments.key_env.is_some();
                return match (extra, arguments.session) {
                    (true, _) => {
                        wrong("--protocol demo takes no --base-url, --model or --key-env: it is no model")
                    }
                    (false, Some(_)) => wrong("--protocol demo starts its own session: leave --session out"),
                    (false, None) => Ok(Self::Demo),
                };
            }
            (Some(ProtocolChoice::Anthropic), _) => Protocol::Anthropic,
            (Some(ProtocolChoice::OpenaiChat), _) => Protocol::OpenaiChat,
            (None, _) if arguments.base_url.is_some() || arguments.key_env.is_some() => {
                return wrong("--base-url and --key-env need --protocol and --model");
            }
            (None, Some(model)) => return Ok(Self::Named(model.clone())),
            (None, None) => return Ok(Self::Home),
        };
        let Some(model) = arguments.model.clone().filter(|model| !model.trim().is_empty()) else {
            return wrong("--protocol needs --model");
        };
        let base_url = arguments.base_url.as_deref().unwrap_or(match protocol {
            Protocol::Anthropic => "https://api.anthropic.com",
            Protocol::OpenaiChat => "https://api.openai.com/v1",
        });
        let base_url = base_url.trim_end_matches('/').to_owned();
        let key = variable(key_variable(arguments)).filter(|key| !key.trim().is_empty());
        match Reach::of(&base_url) {
            None => wrong("--base-url is not an http or https address"),
            Some(Reach::Elsewhere) if key.is_none() => {
                let error = ApiError::new("provider.auth").code(ErrorCode::KeyNeeded);
                let error = error.detail(format_args!("{} is not set or empty", key_variable(arguments)));
                Err(Failure::Failed(error))
            }
            Some(_) => {
                let key = key.map(|key| Secret::new(key.trim()));
                Ok(Self::Given(GivenModel { protocol, base_url, model, key }))
            }
        }
    }

    /// Where the keys of such a run are.
    pub fn keys(&self) -> Keys {
        match self {
            Self::Given(_) => Keys::Memory,
            Self::Home | Self::Named(_) | Self::Demo => Keys::System,
        }
    }

    /// Makes the choice known to the core; none where the core's own default holds.
    pub async fn settle(&self, octo: &Octo) -> Result<Option<ModelId>, ApiError> {
        match self {
            Self::Home | Self::Demo => Ok(None),
            Self::Named(name) => {
                let models = octo.call(GetSettings {}).await?.models;
                match models.into_iter().find(|entry| entry.model == *name) {
                    Some(entry) => Ok(Some(entry.id)),
                    None => Err(ApiError::new("exec.unknown_model").arg("model", name)),
                }
            }
            Self::Given(given) => {
                let models = octo.call(GetSettings {}).await?.models;
                let known = models.into_iter().find(|entry| given.is(entry)).map(|entry| entry.id);
                if known.is_some() && given.key.is_none() {
                    return Ok(known);
                }
                let saved = octo.call(SaveModel { draft: given.draft(known) }).await?;
                Ok(Some(saved.id))
            }
        }
    }
}

impl GivenModel {
    fn is(&self, entry: &ModelEntry) -> bool {
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
        }
    }
}

/// The variable the key is read from, which no command of the agent may see.
pub(crate) fn key_variable(arguments: &ExecArguments) -> &str {
    arguments.key_env.as_deref().unwrap_or(KEY_VARIABLE)
}

/// Whether an address is on this machine: only there a missing key may be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Loopback,
    Elsewhere,
}

impl Reach {
    /// None when it is not an http or https address.
    fn of(address: &str) -> Option<Self> {
        let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let loopback = match url.host()? {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
        };
        Some(if loopback { Self::Loopback } else { Self::Elsewhere })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;

    fn read(options: &[&str], key: Option<&str>) -> Result<ModelChoice, Failure> {
        let line = ["octo", "exec"].iter().chain(options).chain(&["hi"]);
        let Command::Exec(exec) = Arguments::try_parse_from(line).unwrap().command else { panic!("exec") };
        let expected = key_variable(&exec).to_owned();
        ModelChoice::read(&exec, |name| key.filter(|_| name == expected).map(str::to_owned))
    }

    fn given(protocol: Protocol, base_url: &str, key: Option<&str>) -> ModelChoice {
        let (base_url, key) = (base_url.to_owned(), key.map(Secret::new));
        ModelChoice::Given(GivenModel { protocol, base_url, model: "m".to_owned(), key })
    }

    #[test]
    fn without_options_the_home_decides() {
        assert_eq!(read(&[], Some("k")), Ok(ModelChoice::Home));
        assert_eq!(read(&[], Some("k")).unwrap().keys(), Keys::System);
        assert_eq!(read(&["--model", "m"], None), Ok(ModelChoice::Named("m".to_owned())));
        assert_eq!(read(&["--protocol", "demo"], None), Ok(ModelChoice::Demo));
    }

    #[test]
    fn a_given_model_keeps_its_key_in_memory() {
        let choice =
            read(&["--protocol", "anthropic", "--model", "m", "--key-env", "MINE"], Some(" k\n")).unwrap();
        assert_eq!(choice, given(Protocol::Anthropic, "https://api.anthropic.com", Some("k")));
        assert_eq!(choice.keys(), Keys::Memory);
        assert!(!format!("{choice:?}").contains("\"k\""));
        let choice =
            read(&["--protocol", "openai-chat", "--model", "m", "--base-url", "http://[::1]:9/v1/"], None);
        assert_eq!(choice, Ok(given(Protocol::OpenaiChat, "http://[::1]:9/v1", None)));
    }

    #[test]
    fn only_a_server_of_this_machine_may_go_without_a_key() {
        for near in ["http://localhost:1", "http://127.9.9.9", "http://[::1]:1", "http://a.localhost"] {
            let choice = read(&["--protocol", "anthropic", "--model", "m", "--base-url", near], None);
            assert_eq!(choice, Ok(given(Protocol::Anthropic, near, None)), "{near}");
        }
        for far in [
            "https://api.example.com",
            "http://localhost.example.com",
            "http://10.0.0.1",
            "http://u@10.0.0.1",
        ] {
            match read(&["--protocol", "anthropic", "--model", "m", "--base-url", far], Some("  ")) {
                Err(Failure::Failed(error)) => assert_eq!(error.key, "provider.auth", "{far}"),
                other => panic!("{far}: {other:?}"),
            }
        }
    }

    #[test]
    fn options_that_make_no_sense_together_are_usage_errors() {
        let id = octo_protocol::SessionId::new().to_string();
        for wrong in [
            &["--protocol", "anthropic"][..],
            &["--protocol", "anthropic", "--model", " "],
            &["--base-url", "http://localhost"],
            &["--key-env", "K", "--model", "m"],
            &["--protocol", "demo", "--model", "m"],
            &["--protocol", "demo", "--session", &id],
            &["--protocol", "anthropic", "--model", "m", "--base-url", "ftp://localhost"],
            &["--protocol", "anthropic", "--model", "m", "--base-url", "localhost"],
        ] {
            assert!(matches!(read(wrong, Some("k")), Err(Failure::Usage(_))), "{wrong:?}");
        }
    }
}
