//! The person's own headers: names in the entry, values with the keys, bound to the host they were given for.

use super::{Models, State};
use octo_keys::SecretKind;
use octo_llm::Network;
use octo_protocol::{ApiError, HeaderDraft, KeyState, ModelEntry, ModelId, SavedHeader, Secret};
use secrecy::SecretString;

/// Headers with their values.
pub(super) type Headers = Vec<(String, SecretString)>;

/// A header of a draft that can be sent: its name in lower case, and its value if it has one.
pub(super) struct GivenHeader {
    name: String,
    value: Option<Secret>,
}

/// The inputs for saving an entry's headers.
#[derive(Clone, Copy)]
pub(super) struct HeaderSave<'a> {
    pub id: ModelId,
    /// The model's current host.
    pub host: &'a str,
    pub before: Option<&'a ModelEntry>,
    pub moved: HostChange,
}

/// Whether a model's address is on another host than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostChange {
    Yes,
    No,
}

/// Reads the headers of a draft. Saves nothing yet.
///
/// # Errors
///
/// `provider.header` for a header that cannot be sent or is Octo's own; never contains a value.
pub(super) fn read(header_drafts: Option<Vec<HeaderDraft>>) -> Result<Option<Vec<GivenHeader>>, ApiError> {
    let Some(header_drafts) = header_drafts else { return Ok(None) };
    let new_headers: Vec<GivenHeader> = header_drafts
        .into_iter()
        .map(|draft| GivenHeader {
            name: draft.name.trim().to_ascii_lowercase(),
            value: draft.value.filter(|value| !value.expose().trim().is_empty()),
        })
        .collect();
    // A saved value was checked when it was given.
    let stands_for = |value: &Secret| SecretString::from(value.expose());
    let headers = new_headers
        .iter()
        .map(|header| (header.name.clone(), header.value.as_ref().map(stands_for).unwrap_or_default()))
        .collect();
    Network { headers, ..Network::default() }.check().map_err(|error| error.to_api())?;
    Ok(Some(new_headers))
}

impl Models {
    /// Saves the values and returns the entry's headers.
    pub(super) async fn keep_headers(
        &self,
        save: HeaderSave<'_>,
        new_headers: Option<Vec<GivenHeader>>,
    ) -> Result<Vec<SavedHeader>, ApiError> {
        let HeaderSave { id, host, before, moved } = save;
        let old_headers = before.map(|entry| entry.headers.as_slice()).unwrap_or_default();
        let without_value = |header: &SavedHeader| SavedHeader { value: KeyState::Missing, ..header.clone() };
        let kept_headers: Vec<SavedHeader> = match moved {
            // Bound to the host they were given for: at another host they have no values.
            HostChange::Yes => old_headers.iter().map(without_value).collect(),
            HostChange::No => old_headers.to_vec(),
        };
        let Some(new_headers) = new_headers else { return Ok(kept_headers) };
        let find_kept = |name: &str| kept_headers.iter().find(|header| header.name == name);
        if let Some(header) =
            new_headers.iter().find(|header| header.value.is_none() && find_kept(&header.name).is_none())
        {
            return Err(ApiError::new("model.header_value_missing").arg("name", &header.name));
        }
        if before.is_some() && moved == HostChange::No && self.keys.is_pass_through() {
            // Values that are only passed through say nothing about those the window has saved.
            let run = new_headers.into_iter().filter_map(|header| {
                let value = header.value?;
                Some((header.name, SecretString::from(value.expose())))
            });
            let run: Headers = run.collect();
            self.with(|state| state.headers.insert(id, (host.to_owned(), run)));
            return Ok(kept_headers);
        }
        let mut saved = Vec::with_capacity(new_headers.len());
        for GivenHeader { name, value } in new_headers {
            saved.push(match (value, find_kept(&name)) {
                (Some(value), _) => {
                    let value = Secret::new(value.expose().trim());
                    let value = self.keys.save(id, host, SecretKind::Header(&name), value).await?;
                    SavedHeader { name, value }
                }
                (None, Some(header)) => header.clone(),
                (None, None) => continue,
            });
        }
        for removed in old_headers.iter().filter(|header| saved.iter().all(|kept| kept.name != header.name)) {
            self.keys.forget(id, host, SecretKind::Header(&removed.name)).await?;
        }
        Ok(saved)
    }

    /// Returns the headers of an entry with the values saved for a host: at another host there are none.
    pub(super) async fn headers(&self, entry: &ModelEntry, host: &str) -> Result<Headers, ApiError> {
        let run = |state: &mut State| {
            state.headers.get(&entry.id).filter(|(header_host, _)| header_host == host).cloned()
        };
        if let Some((_, headers)) = self.with(run) {
            return Ok(headers);
        }
        let mut headers = Headers::with_capacity(entry.headers.len());
        for header in &entry.headers {
            if let Some(value) = self.keys.load(entry.id, host, SecretKind::Header(&header.name)).await? {
                headers.push((header.name.clone(), value));
            }
        }
        Ok(headers)
    }

    /// Returns the headers a draft describes: its own, and those saved for its host.
    pub(super) async fn headers_of_draft(
        &self,
        header_drafts: Option<Vec<HeaderDraft>>,
        entry: Option<&ModelEntry>,
        host: &str,
    ) -> Result<Headers, ApiError> {
        let kept_headers = match entry {
            Some(entry) => self.headers(entry, host).await?,
            None => Headers::new(),
        };
        let Some(new_headers) = read(header_drafts)? else { return Ok(kept_headers) };
        let value = |header: GivenHeader| {
            let saved =
                || kept_headers.iter().find(|(name, _)| *name == header.name).map(|(_, value)| value.clone());
            let value = header.value.as_ref().map(|value| SecretString::from(value.expose())).or_else(saved);
            value.map(|value| (header.name, value))
        };
        Ok(new_headers.into_iter().filter_map(value).collect())
    }

    /// Forgets everything saved for a model at a host, even if the keychain refuses a part.
    pub(super) async fn forget_secrets(&self, entry: &ModelEntry, host: &str) -> Result<(), ApiError> {
        let mut outcome = self.keys.forget(entry.id, host, SecretKind::Key).await;
        for header in &entry.headers {
            let result = self.keys.forget(entry.id, host, SecretKind::Header(&header.name)).await;
            outcome = outcome.and(result);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_keys::KeyRing;
    use octo_llm::Presets;
    use octo_protocol::KeychainState;
    use octo_protocol::{ModelDraft, Protocol, Settings};
    use secrecy::ExposeSecret;

    const HERE: &str = "https://here.example";

    fn models() -> Models {
        Models::new(
            KeyRing::of_system(KeychainState::Unavailable),
            Presets::built_in(),
            Vec::new(),
            &Settings::default(),
        )
    }

    async fn save(
        models: &Models,
        id: Option<ModelId>,
        base_url: &str,
        headers: Option<&[(&str, Option<&str>)]>,
    ) -> Result<ModelEntry, ApiError> {
        let headers = headers.map(|headers| {
            let draft = |(name, value): &(&str, Option<&str>)| HeaderDraft {
                name: (*name).to_owned(),
                value: value.map(Secret::new),
            };
            headers.iter().map(draft).collect()
        });
        let (base_url, model) = (base_url.to_owned(), "m".to_owned());
        let draft = ModelDraft { id, protocol: Protocol::Anthropic, base_url, model, key: None, headers };
        let entry = models.accept(draft).await?;
        models.put(entry.clone());
        Ok(entry)
    }

    async fn sent(models: &Models, entry: &ModelEntry, host: &str) -> Vec<(String, String)> {
        let headers = models.headers(entry, host).await.unwrap();
        headers.into_iter().map(|(name, value)| (name, value.expose_secret().to_owned())).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[tokio::test]
    async fn values_are_kept_replaced_and_forgotten_by_name() {
        let models = models();
        let first =
            save(&models, None, HERE, Some(&[("X-A", Some(" one ")), ("x-b", Some("two"))])).await.unwrap();
        let id = Some(first.id);
        assert_eq!(sent(&models, &first, HERE).await, pairs(&[("x-a", "one"), ("x-b", "two")]));
        // No draft keeps all of them; a name without a value keeps its value, and the order is the draft's.
        let unchanged = save(&models, id, HERE, None).await.unwrap();
        assert_eq!(unchanged.headers, first.headers);
        let changed = [("x-c", Some("three")), ("x-a", None), ("x-b", Some("2"))];
        let next = save(&models, id, HERE, Some(&changed)).await.unwrap();
        assert_eq!(
            sent(&models, &next, HERE).await,
            pairs(&[("x-c", "three"), ("x-a", "one"), ("x-b", "2")])
        );
        // An omitted header is forgotten, not only hidden.
        let fewer = save(&models, id, HERE, Some(&[("x-c", None)])).await.unwrap();
        assert_eq!(sent(&models, &fewer, HERE).await, pairs(&[("x-c", "three")]));
        assert!(!models.keys.holds(first.id, HERE, SecretKind::Header("x-a")));
        let error = save(&models, id, HERE, Some(&[("x-a", None)])).await.unwrap_err();
        assert_eq!((error.key.as_str(), error.args["name"].as_str()), ("model.header_value_missing", "x-a"));
        assert_eq!(sent(&models, &fewer, HERE).await, pairs(&[("x-c", "three")]), "nothing was changed");
        let emptied = save(&models, id, HERE, Some(&[])).await.unwrap();
        assert_eq!(
            (emptied.headers.len(), models.keys.holds(first.id, HERE, SecretKind::Header("x-c"))),
            (0, false)
        );
    }

    #[tokio::test]
    async fn another_host_has_no_values_and_the_first_one_keeps_none() {
        let models = models();
        let first =
            save(&models, None, HERE, Some(&[("x-a", Some("one")), ("x-b", Some("two"))])).await.unwrap();
        let other_host = "https://there.example";
        let changes = [("x-a", None), ("x-b", Some("new"))];
        let moved = save(&models, Some(first.id), other_host, Some(&changes)).await.unwrap();
        assert_eq!(moved.headers[0].value, KeyState::Missing);
        assert_eq!(sent(&models, &moved, other_host).await, pairs(&[("x-b", "new")]));
        assert_eq!(sent(&models, &moved, HERE).await, []);
        models.remove(first.id).await.unwrap();
        assert!(
            !models.keys.holds(first.id, other_host, SecretKind::Header("x-b")),
            "they go with their model"
        );
    }
}
