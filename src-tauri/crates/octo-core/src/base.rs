//! The foundation of every part of the application: the home, its store and settings, the clock, and the end of
//! the application.

use crate::{config::Config, updates::Updates};
use octo_protocol::{ApiError, BlobHash, Block, Message, Rule, Settings};
use octo_runtime::{Change, Clock};
use octo_store::{Holder, Store};
use octo_workspace::{Blobs, HomePaths, UnfinishedWrites};
use parking_lot::RwLock;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use tokio_util::sync::CancellationToken;

/// The state that every part of the application uses.
pub(crate) struct Base {
    pub config: Config,
    pub store: Store,
    pub blobs: Blobs,
    /// The paths of the home.
    pub paths: HomePaths,
    /// Unfinished writes outside the home.
    pub unfinished_writes: UnfinishedWrites,
    /// Decides when tasks run and when entries of the trash expire.
    pub clock: Arc<dyn Clock>,
    /// This process as a lease holder.
    pub lease: Holder,
    /// Signals that another process wrote to the home.
    pub other_processes: Change,
    /// Updates that are not stored events, for the subscriptions.
    pub updates: Updates,
    /// Cancelled when the application ends.
    pub shutdown: CancellationToken,
    preferences: RwLock<Settings>,
    /// Held while settings are changed: those in use afterwards must be those stored last.
    pub settings_lock: tokio::sync::Mutex<()>,
}

impl Base {
    /// Creates the base of an opened home with its stored settings.
    pub fn new(config: Config, store: Store, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        Self {
            blobs: Blobs::new(config.home.join("blobs")),
            paths: HomePaths::new(&config.home, &config.home_at_start.location),
            unfinished_writes: UnfinishedWrites::begin(&config.home),
            clock,
            lease: Holder::current(),
            other_processes: Change::default(),
            updates: Updates::default(),
            shutdown: CancellationToken::new(),
            preferences: RwLock::new(settings),
            settings_lock: tokio::sync::Mutex::default(),
            config,
            store,
        }
    }

    /// Returns the current settings.
    pub fn preferences(&self) -> Settings {
        self.preferences.read().clone()
    }

    /// Puts stored settings into use. The code that stored them notifies the parts that keep their own
    /// settings.
    pub fn set_preferences(&self, settings: Settings) {
        *self.preferences.write() = settings;
    }

    /// Returns the permanent grants of a folder.
    pub async fn folder_rules(&self, folder: String) -> Result<Vec<Rule>, ApiError> {
        self.store.read(move |reader| reader.rules(&folder)).await.map_err(ApiError::from)
    }

    /// Returns the grants of a folder and, under its own scope, of one session.
    pub async fn load_rules(&self, folder: String, scope: String) -> Result<Vec<Rule>, ApiError> {
        let result = self.store.read(move |reader| {
            let mut rules = reader.rules(&folder)?;
            rules.extend(reader.rules(&scope)?);
            Ok(rules)
        });
        result.await.map_err(ApiError::from)
    }

    /// Returns the bytes of all pictures and documents in these messages. A missing one is left out: the codec
    /// reports it.
    pub async fn images_of(&self, messages: &[Message]) -> HashMap<BlobHash, Arc<[u8]>> {
        let hashes: HashSet<BlobHash> =
            messages.iter().flat_map(|message| &message.blocks).flat_map(pictures).collect();
        if hashes.is_empty() {
            return HashMap::new();
        }
        let blobs = self.blobs.clone();
        let result = tokio::task::spawn_blocking(move || {
            hashes
                .into_iter()
                .filter_map(|hash| blobs.get(&hash).ok().map(|bytes| (hash, Arc::from(bytes))))
                .collect::<HashMap<BlobHash, Arc<[u8]>>>()
        });
        result.await.unwrap_or_default()
    }
}

fn pictures(block: &Block) -> Vec<BlobHash> {
    match block {
        Block::Image { blob, .. } | Block::Document { blob, .. } => vec![blob.clone()],
        Block::ToolResult(result) => result.images.iter().map(|image| image.blob.clone()).collect(),
        Block::Text { .. }
        | Block::Reasoning { .. }
        | Block::File { .. }
        | Block::ToolCall(_)
        | Block::Summary { .. }
        | Block::Notice { .. }
        | Block::CommandsEnded { .. } => Vec::new(),
    }
}
