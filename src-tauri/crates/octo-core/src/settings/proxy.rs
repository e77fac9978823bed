//! The network configuration apart from models: its settings, and a test.

use super::LiveSettings;
use crate::models;
use octo_llm::{ErrorClass, Network, Proxy, is_internet_address, test_connection};
use octo_protocol::{ApiError, ProxyChoice, ProxyTestResult};
use secrecy::SecretString;

/// The test address if no model's server is outside this machine.
const FALLBACK_ADDRESS: &str = "https://github.com/";

impl LiveSettings {
    /// Tests a proxy with one request; stores nothing.
    pub(super) async fn try_proxy(&self, proxy: ProxyChoice) -> Result<ProxyTestResult, ApiError> {
        models::check_proxy(&proxy)?;
        let proxy = match proxy {
            ProxyChoice::System => Proxy::System,
            ProxyChoice::None => Proxy::None,
            ProxyChoice::Manual { url } => Proxy::Manual(SecretString::from(url)),
        };
        let address = self.test_address().await?;
        match test_connection(&Network { proxy, ..self.services.models.network_config() }, &address).await {
            Ok(host) => Ok(ProxyTestResult { host }),
            Err(error) => Err(match error.class {
                ErrorClass::Auth => ApiError::new("settings.proxy_login"),
                ErrorClass::Network => {
                    let host = address.split('/').nth(2).unwrap_or(&address);
                    ApiError::new("settings.proxy_not_tried").arg("host", host).detail(error.message)
                }
                _ => error.to_api(),
            }),
        }
    }

    /// Returns the server of the default model, else of another model, else a well-known one.
    async fn test_address(&self) -> Result<String, ApiError> {
        let (_, snapshot) = self.snapshot().await?;
        let default = snapshot.settings.default_model;
        let mut models: Vec<_> =
            snapshot.models.into_iter().filter(|model| is_internet_address(&model.base_url)).collect();
        models.sort_by_key(|model| Some(model.id) != default);
        Ok(models.into_iter().next().map_or_else(|| FALLBACK_ADDRESS.to_owned(), |model| model.base_url))
    }
}
