//! Finds AWS credentials: in environment variables, then in the shared profile files. Other credentials, which
//! must be fetched first (single sign-on, roles, helper processes, instance metadata) are not supported:
//! fetching them would call further servers without the person's request. `aws configure export-credentials`
//! turns each of them into variables.
//!
//! Files are read again on each call, since other programs renew their content.

use super::{
    SIGNING_SERVICE,
    sign::{UnsignedRequest, sign},
};
use crate::{ErrorClass, ProviderError, redact::Secrets};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Variable with a Bedrock API key, under the name that the vendor's own clients use.
const BEARER_VARIABLE: &str = "AWS_BEARER_TOKEN_BEDROCK";

/// Environment in which AWS credentials are looked up.
#[derive(Clone, Debug, Default)]
pub struct AwsEnvironment {
    variables: HashMap<String, SecretString>,
    /// The person's home folder, which contains `.aws`.
    home: Option<PathBuf>,
}

/// Means of authentication for a request.
#[derive(Debug)]
pub(crate) enum BedrockAuth {
    /// A key, sent unchanged.
    Bearer(SecretString),
    /// Credentials that sign for a region.
    Signature { credentials: Credentials, region: String },
}

impl BedrockAuth {
    /// Returns the headers that authenticate a request.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`sign`].
    pub(crate) fn headers(
        &self,
        request: &UnsignedRequest<'_>,
        now: SystemTime,
    ) -> Result<Vec<(String, String)>, ProviderError> {
        match self {
            Self::Bearer(key) => {
                Ok(vec![("authorization".to_owned(), format!("Bearer {}", key.expose_secret()))])
            }
            Self::Signature { credentials, region } => {
                sign(request, credentials, region, SIGNING_SERVICE, now)
            }
        }
    }

    /// Adds the values that must not appear in an error.
    pub(crate) fn collect_secrets(&self, secrets: &mut Secrets) {
        match self {
            Self::Bearer(key) => secrets.add(key, "[key]"),
            Self::Signature { credentials, .. } => {
                secrets.add(&credentials.secret_key, "[key]");
                if let Some(token) = &credentials.session_token {
                    secrets.add(token, "[key]");
                }
            }
        }
    }
}

/// Returns the authentication for the server at `base`, from the first source that has one. Reads files.
///
/// # Errors
///
/// Returns [`ErrorClass::Auth`] when there are no credentials, with the sources that were searched, and
/// [`ErrorClass::Address`] when the region to sign for is unknown.
pub(crate) fn find_auth(environment: &AwsEnvironment, base: &Url) -> Result<BedrockAuth, ProviderError> {
    // A signature reveals nothing; a key does, so it is sent only to AWS or to this machine.
    let is_trusted = base.host_str().is_some_and(|host| region_of_host(host).is_some())
        || crate::endpoint::network_distance(base) == crate::endpoint::NetworkDistance::Machine;
    if let Some(key) = environment.variable(BEARER_VARIABLE).filter(|_| is_trusted) {
        return Ok(BedrockAuth::Bearer(SecretString::from(key)));
    }
    let credentials = environment.credentials()?;
    Ok(BedrockAuth::Signature { credentials, region: region(base, environment)? })
}

/// Signing credentials.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    pub(crate) access_key: String,
    pub(crate) secret_key: SecretString,
    /// Session token, for temporary credentials.
    pub(crate) session_token: Option<SecretString>,
}

impl AwsEnvironment {
    /// Creates an environment with these variables; `home` contains `.aws`.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>, home: Option<PathBuf>) -> Self {
        let variables = variables.into_iter().filter(|(name, _)| name.starts_with("AWS_"));
        let variables = variables.map(|(name, value)| (name, SecretString::from(value)));
        Self { variables: variables.collect(), home }
    }

    /// Returns the environment of this process.
    pub fn from_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self::new(std::env::vars_os().filter_map(text), std::env::home_dir())
    }

    fn credentials(&self) -> Result<Credentials, ProviderError> {
        match (self.variable("AWS_ACCESS_KEY_ID"), self.variable("AWS_SECRET_ACCESS_KEY")) {
            (Some(access_key), Some(secret_key)) => Ok(Credentials {
                access_key: access_key.to_owned(),
                secret_key: SecretString::from(secret_key),
                session_token: self.variable("AWS_SESSION_TOKEN").map(SecretString::from),
            }),
            _ => self.profile_credentials(),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.expose_secret().trim()).filter(|value| !value.is_empty())
    }

    fn profile(&self) -> &str {
        self.variable("AWS_PROFILE").unwrap_or("default")
    }

    fn file(&self, variable: &str, name: &str) -> Option<PathBuf> {
        match self.variable(variable) {
            Some(path) => Some(PathBuf::from(path)),
            None => self.home.as_ref().map(|home| home.join(".aws").join(name)),
        }
    }

    /// Reads the profile's settings: the credentials file takes precedence over the config file.
    fn settings(&self) -> HashMap<String, SecretString> {
        let profile = self.profile();
        let read = |path: Option<PathBuf>| {
            path.and_then(|path: PathBuf| fs::read_to_string(Path::new(&path)).ok()).unwrap_or_default()
        };
        let config = read(self.file("AWS_CONFIG_FILE", "config"));
        let credentials = read(self.file("AWS_SHARED_CREDENTIALS_FILE", "credentials"));
        // The config file prefixes a profile's name with `profile `, except for the default one.
        let profile_name =
            if profile == "default" { profile.to_owned() } else { format!("profile {profile}") };
        let mut settings = parse_section(&config, &profile_name);
        settings.extend(parse_section(&credentials, profile));
        settings
    }

    fn profile_credentials(&self) -> Result<Credentials, ProviderError> {
        let settings = self.settings();
        let setting = |name: &str| settings.get(name).filter(|value| !value.expose_secret().is_empty());
        if let (Some(access_key), Some(secret_key)) =
            (setting("aws_access_key_id"), setting("aws_secret_access_key"))
        {
            return Ok(Credentials {
                access_key: access_key.expose_secret().to_owned(),
                secret_key: secret_key.clone(),
                session_token: setting("aws_session_token").cloned(),
            });
        }
        let unsupported = ["sso_session", "sso_start_url", "role_arn", "credential_process", "login_session"];
        let profile = self.profile();
        let reason = match unsupported.into_iter().find(|name| setting(name).is_some()) {
            Some(name) => format!(
                "The AWS profile \"{profile}\" gets its credentials by {name}. Export them with `aws configure export-credentials`, or enter a Bedrock API key."
            ),
            None => format!(
                "There are no AWS credentials: not in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and not in the profile \"{profile}\"."
            ),
        };
        Err(ProviderError::new(ErrorClass::Auth, reason))
    }
}

/// Returns the region a request is signed for: the one in the server's name, otherwise the environment's.
///
/// # Errors
///
/// Returns [`ErrorClass::Address`] when neither names a region.
fn region(base: &Url, environment: &AwsEnvironment) -> Result<String, ProviderError> {
    if let Some(region) = base.host_str().and_then(region_of_host) {
        return Ok(region.to_owned());
    }
    let variable = ["AWS_REGION", "AWS_DEFAULT_REGION"].iter().find_map(|name| environment.variable(name));
    if let Some(region) = variable {
        return Ok(region.to_owned());
    }
    environment.settings().get("region").map(|region| region.expose_secret().to_owned()).ok_or_else(|| {
        ProviderError::new(
            ErrorClass::Address,
            "The address names no AWS region, and neither AWS_REGION nor the AWS profile does.",
        )
    })
}

/// Extracts the region from `bedrock-runtime.us-east-1.amazonaws.com` and similar hosts (FIPS, China, private
/// endpoints).
fn region_of_host(host: &str) -> Option<&str> {
    let suffixes = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"];
    let name = suffixes.iter().find_map(|end| host.strip_suffix(end))?;
    let mut labels = name.split('.').skip_while(|label| !label.starts_with("bedrock-runtime"));
    labels.next()?;
    labels.next().filter(|region| !region.is_empty())
}

/// Parses the settings of a section, in the format that both AWS files share.
fn parse_section(file: &str, section: &str) -> HashMap<String, SecretString> {
    let mut settings = HashMap::new();
    let mut in_section = false;
    for line in file.lines() {
        let text = line.trim();
        if let Some(name) = text.strip_prefix('[').and_then(|heading| heading.split(']').next()) {
            let tokens: Vec<&str> = name.split_whitespace().collect();
            in_section = tokens.join(" ") == section;
        } else if in_section
            // An indented line belongs to a nested setting.
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((name, value)) = text.split_once('=')
        {
            // A comment after a value begins with white space.
            let value = value.split([' ', '\t']).skip_while(|token| token.is_empty());
            let tokens: Vec<&str> = value.take_while(|token| !token.starts_with(['#', ';'])).collect();
            let value = SecretString::from(tokens.join(" ").trim());
            settings.insert(name.trim().to_ascii_lowercase(), value);
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "\u{feff}# made by hand\n[default]\naws_access_key_id=AKIDEFAULT\naws_secret_access_key = s3cretdefault==\n\n[ work ]\r\nAWS_ACCESS_KEY_ID = AKIWORK   # whose\r\naws_secret_access_key= s3cret#work\r\naws_session_token =tok\r\n[empty]\naws_access_key_id =\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\n[profile work]\nregion=us-west-2\ns3 =\n  region = nested\n[profile single]\nsso_session = my\nsso_region = us-east-1\n[profile role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = default\n[work]\nregion = not-this\n";

    fn environment(variables: &[(&str, &str)], home: &Path) -> AwsEnvironment {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        AwsEnvironment::new(variables, Some(home.to_owned()))
    }

    fn home() -> octo_testkit::TempHome {
        let home = octo_testkit::TempHome::new();
        fs::create_dir_all(home.home().join(".aws")).unwrap();
        fs::write(home.home().join(".aws/credentials"), CREDENTIALS).unwrap();
        fs::write(home.home().join(".aws/config"), CONFIG).unwrap();
        home
    }

    #[test]
    fn the_first_source_with_credentials_wins() {
        let home = home();
        let keys = [("AWS_ACCESS_KEY_ID", "AKIENV"), ("AWS_SECRET_ACCESS_KEY", "s3cretenv")];
        let combined = |more: &[(&'static str, &'static str)]| [&keys[..], more].concat();
        for (variables, expected) in [
            (vec![], ("AKIDEFAULT", "s3cretdefault==", None)),
            (vec![("AWS_PROFILE", "work")], ("AKIWORK", "s3cret#work", Some("tok"))),
            (combined(&[]), ("AKIENV", "s3cretenv", None)),
            (
                combined(&[("AWS_SESSION_TOKEN", " t "), ("AWS_PROFILE", "work")]),
                ("AKIENV", "s3cretenv", Some("t")),
            ),
            // Half a pair does not count.
            (vec![keys[0]], ("AKIDEFAULT", "s3cretdefault==", None)),
            (vec![keys[0], ("AWS_SECRET_ACCESS_KEY", " ")], ("AKIDEFAULT", "s3cretdefault==", None)),
        ] {
            let found = environment(&variables, &home.home()).credentials().unwrap();
            let token = found.session_token.as_ref().map(|token| token.expose_secret());
            assert_eq!((found.access_key.as_str(), found.secret_key.expose_secret(), token), expected);
        }
        let variables = combined(&[("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key")]);
        let environment = environment(&variables, &home.home());
        for (base, sent) in [
            ("https://bedrock-runtime.eu-west-1.amazonaws.com", true),
            ("http://127.0.0.1:9", true),
            ("https://host.example", false),
            ("https://bedrock-runtime.eu-west-1.amazonaws.com.host.example", false),
            ("http://192.168.1.4", false),
        ] {
            // Without a known region to sign for there is no access at all, and so no key either.
            let found = find_auth(&environment, &Url::parse(base).unwrap());
            let key = match &found {
                Ok(BedrockAuth::Bearer(key)) => Some(key.expose_secret()),
                Ok(BedrockAuth::Signature { .. }) | Err(_) => None,
            };
            assert_eq!(key, sent.then_some("bedrock-key"), "{base}");
        }
    }

    #[test]
    fn missing_credentials_name_the_searched_sources() {
        let home = home();
        for (profile, expected) in [
            ("single", "sso_session"),
            ("role", "role_arn"),
            ("empty", "AWS_ACCESS_KEY_ID"),
            ("nobody", "\"nobody\""),
        ] {
            let error = environment(&[("AWS_PROFILE", profile)], &home.home()).credentials().unwrap_err();
            assert_eq!(error.class, ErrorClass::Auth);
            assert!(error.message.contains(expected) && !error.message.contains("s3cret"), "{error}");
        }
        assert!(AwsEnvironment::new([], None).credentials().is_err());
    }

    #[test]
    fn files_may_be_elsewhere() {
        let home = home();
        let other_folder = home.home().join("elsewhere");
        fs::write(&other_folder, "[default]\naws_access_key_id = AKIOTHER\naws_secret_access_key = x\n")
            .unwrap();
        let variables = [("AWS_SHARED_CREDENTIALS_FILE", other_folder.to_str().unwrap())];
        let found = environment(&variables, &home.home()).credentials().unwrap();
        assert_eq!(found.access_key, "AKIOTHER");
    }

    #[test]
    fn regions_come_from_the_server_then_the_environment() {
        let home = home();
        for (host, variables, expected) in [
            (
                "bedrock-runtime.us-east-1.amazonaws.com",
                &[("AWS_REGION", "ap-south-1")][..],
                Some("us-east-1"),
            ),
            ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", &[], Some("us-gov-west-1")),
            ("bedrock-runtime.cn-north-1.amazonaws.com.cn", &[], Some("cn-north-1")),
            ("vpce-1-x.bedrock-runtime.eu-west-3.vpce.amazonaws.com", &[], Some("eu-west-3")),
            ("127.0.0.1", &[("AWS_REGION", "ap-south-1")], Some("ap-south-1")),
            ("proxy.example", &[("AWS_DEFAULT_REGION", "ap-south-2")], Some("ap-south-2")),
            ("bedrock-runtime.us-east-1.amazonaws.com.evil.example", &[], Some("eu-west-1")),
            ("proxy.example", &[("AWS_PROFILE", "work")], Some("us-west-2")),
            ("proxy.example", &[("AWS_PROFILE", "nobody")], None),
        ] {
            let base = Url::parse(&format!("https://{host}")).unwrap();
            let found = region(&base, &environment(variables, &home.home()));
            assert_eq!(found.as_deref().ok(), expected, "{host}: {found:?}");
        }
    }

    #[test]
    fn secrets_do_not_show_in_debug_output() {
        let environment =
            environment(&[("AWS_SECRET_ACCESS_KEY", "s3cret"), ("AWS_ACCESS_KEY_ID", "a")], Path::new("/x"));
        assert!(!format!("{environment:?} {:?}", environment.credentials()).contains("s3cret"));
    }
}
