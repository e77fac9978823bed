//! How the world is reached, apart from models: what the settings say, and a try of it.

use super::Octo;
use crate::models;
use octo_llm::{ErrorClass, Network, Proxy, is_of_world, try_way};
use octo_protocol::{ApiError, ProxyChoice, ProxyTried};
use secrecy::SecretString;

/// What is asked where no model's server is outside.
const OUTSIDE: &str = "https://github.com/";

impl Octo {
    /// How the settings say the world is reached, for what the shell asks of it.
    pub fn reach(&self) -> Network {
        self.services.models.reach()
    }

    /// Tries a way with one request; nothing is kept.
    pub(super) async fn try_proxy(&self, proxy: ProxyChoice) -> Result<ProxyTried, ApiError> {
        models::check_proxy(&proxy)?;
        let proxy = match proxy {
            ProxyChoice::System => Proxy::System,
            ProxyChoice::None => Proxy::None,
            ProxyChoice::Manual { url } => Proxy::Manual(SecretString::from(url)),
        };
        let address = self.address_outside().await?;
        match try_way(&Network { proxy, ..self.reach() }, &address).await {
            Ok(host) => Ok(ProxyTried { host }),
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

    /// The server of the default model, else of another, else one that everybody knows.
    async fn address_outside(&self) -> Result<String, ApiError> {
        let (_, snapshot) = self.settings.snapshot().await?;
        let default = snapshot.settings.default_model;
        let mut models: Vec<_> =
            snapshot.models.into_iter().filter(|model| is_of_world(&model.base_url)).collect();
        models.sort_by_key(|model| Some(model.id) != default);
        Ok(models.into_iter().next().map_or_else(|| OUTSIDE.to_owned(), |model| model.base_url))
    }
}
