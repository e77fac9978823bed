//! The part of a desktop that shows icons and notices, as panels do over the bus: an application's items can be
//! read, and clicked. Also the part that shows files in their folders.

use crate::{Desktop, desktop::PATIENCE};
use anyhow::{Context as _, Result, bail};
use futures::StreamExt as _;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use zbus::{
    Connection, MatchRule, MessageStream, Proxy, interface,
    message::{Header, Type},
    proxy::CacheProperties,
    zvariant::{OwnedValue, Value},
};

/// Between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// A running panel. It ends when it is dropped.
pub struct Panel {
    bus: Connection,
    seen: Arc<Mutex<PanelState>>,
}

#[derive(Default)]
struct PanelState {
    /// The bus name of an icon's owner, and the icon's path there.
    icons: Vec<(String, String)>,
    notices: Vec<Notice>,
    /// The latest count at an application's icon: the application's entry, the count, whether it is visible.
    badge: Option<(String, i64, bool)>,
    /// Addresses of files that should be shown in their folders.
    files: Vec<String>,
}

/// A notice of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its number.
    pub id: u32,
    /// Its first line.
    pub summary: String,
    /// Its text.
    pub body: String,
    /// Its actions: name and label, alternating.
    pub actions: Vec<String>,
    /// Whether it was withdrawn.
    pub withdrawn: bool,
}

/// An entry of an icon's menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    id: i32,
    /// The label.
    pub label: String,
    /// Whether it can be chosen.
    pub enabled: bool,
}

impl Panel {
    /// Starts a panel on a desktop.
    ///
    /// # Errors
    /// When the desktop's bus does not accept it.
    pub async fn start(desktop: &Desktop) -> Result<Self> {
        let state = Arc::<Mutex<PanelState>>::default();
        let bus = zbus::connection::Builder::address(desktop.bus()?.as_str())?
            .serve_at("/StatusNotifierWatcher", Watcher(Arc::clone(&state)))?
            .serve_at("/org/freedesktop/Notifications", Notices(Arc::clone(&state)))?
            .serve_at("/org/freedesktop/FileManager1", Files(Arc::clone(&state)))?
            .name("org.kde.StatusNotifierWatcher")?
            .name("org.freedesktop.Notifications")?
            .name("org.freedesktop.FileManager1")?
            .build()
            .await?;
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .interface("com.canonical.Unity.LauncherEntry")?
            .member("Update")?
            .build();
        let counts = MessageStream::for_match_rule(rule, &bus, None).await?;
        tokio::spawn(follow_counts(counts, Arc::clone(&state)));
        Ok(Self { bus, seen: state })
    }

    /// Waits until the icon of the application with this entry shows this count, or no count for zero.
    ///
    /// # Errors
    /// When that does not happen.
    pub async fn badge(&self, entry: &str, count: i64) -> Result<()> {
        let started = Instant::now();
        let expected = Some((format!("application://{entry}.desktop"), count, count > 0));
        while self.seen.lock().badge != expected {
            if started.elapsed() > PATIENCE {
                bail!("waited {PATIENCE:?} for {expected:?}; it was {:?}", self.seen.lock().badge);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// Returns the addresses of the files that should have been shown in their folders so far, oldest first.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        self.seen.lock().files.clone()
    }

    /// Returns a property of the visible icon, once there is one.
    ///
    /// # Errors
    /// When none appears.
    pub async fn icon(&self, property: &str) -> Result<OwnedValue> {
        let (owner, path) = self.newest_icon().await?;
        let icon = self.proxy(&owner, &path, "org.kde.StatusNotifierItem").await?;
        Ok(icon.get_property(property).await?)
    }

    /// Returns the menu of the icon, from its top, without separators.
    ///
    /// # Errors
    /// When there is no icon, or it has no menu.
    pub async fn menu(&self) -> Result<Vec<Entry>> {
        type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);
        let menu = self.menu_proxy().await?;
        let (_, (_, _, children)): (u32, Layout) =
            menu.call("GetLayout", &(0_i32, -1_i32, Vec::<&str>::new())).await?;
        let mut entries = Vec::new();
        for child in children {
            let (id, mut properties, _): Layout = child.try_into()?;
            if let Some(label) = properties.remove("label") {
                let enabled = match properties.remove("enabled") {
                    Some(enabled) => enabled.try_into()?,
                    None => true,
                };
                entries.push(Entry { id, label: String::try_from(label)?.replace('_', ""), enabled });
            }
        }
        Ok(entries)
    }

    /// Waits until the menu has an entry with this label.
    ///
    /// # Errors
    /// When it does not appear.
    pub async fn entry(&self, label: &str) -> Result<Entry> {
        let started = Instant::now();
        loop {
            // The icon may disappear while it is read, and another may appear.
            let menu = self.menu().await;
            let found = menu.as_ref().ok().and_then(|menu| menu.iter().find(|entry| entry.label == label));
            if let Some(entry) = found {
                return Ok(entry.clone());
            }
            if started.elapsed() > PATIENCE {
                bail!("waited {PATIENCE:?} for the entry {label:?}; the menu reads {menu:?}");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Chooses an entry of the menu.
    ///
    /// # Errors
    /// When no entry has this label.
    pub async fn choose(&self, label: &str) -> Result<()> {
        let entry = self.entry(label).await?;
        let menu = self.menu_proxy().await?;
        // Waits for no answer: an application that quits may be gone before it answers.
        Ok(menu.call_noreply("Event", &(entry.id, "clicked", Value::I32(0), 0_u32)).await?)
    }

    /// Returns all notices, oldest first.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        self.seen.lock().notices.clone()
    }

    /// Waits for a notice with this first line.
    ///
    /// # Errors
    /// When it does not come.
    pub async fn notice(&self, summary: &str) -> Result<Notice> {
        self.notice_where(summary, |notice| notice.summary == summary).await
    }

    /// Waits for a notice that matches.
    ///
    /// # Errors
    /// When none appears.
    pub async fn notice_where(&self, expectation: &str, matches: impl Fn(&Notice) -> bool) -> Result<Notice> {
        let started = Instant::now();
        loop {
            let notices = self.notices();
            if let Some(notice) = notices.iter().rev().find(|notice| matches(notice)) {
                return Ok(notice.clone());
            }
            if started.elapsed() > PATIENCE {
                bail!("waited {PATIENCE:?} for a notice ({expectation}); there were {notices:?}");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Clicks a notice.
    ///
    /// # Errors
    /// When the bus does not accept it.
    pub async fn click(&self, notice: &Notice) -> Result<()> {
        self.invoke(notice.id, "default").await
    }

    /// Presses a button of a notice, by its label.
    ///
    /// # Errors
    /// When it has no such button.
    pub async fn press(&self, notice: &Notice, label: &str) -> Result<()> {
        let button = notice.actions.chunks(2).find(|action| action[0] != "default" && action[1] == label);
        let button = button.with_context(|| format!("a button {label:?} among {:?}", notice.actions))?;
        self.invoke(notice.id, &button[0]).await
    }

    async fn invoke(&self, notice: u32, action: &str) -> Result<()> {
        let name = "org.freedesktop.Notifications";
        let path = "/org/freedesktop/Notifications";
        Ok(self.bus.emit_signal(None::<&str>, path, name, "ActionInvoked", &(notice, action)).await?)
    }

    async fn newest_icon(&self) -> Result<(String, String)> {
        let bus = zbus::fdo::DBusProxy::new(&self.bus).await?;
        let started = Instant::now();
        loop {
            let newest = self.seen.lock().icons.last().cloned();
            match newest {
                // An application that ended may still have its icon on the list.
                Some((owner, path)) if bus.name_has_owner(owner.as_str().try_into()?).await? => {
                    return Ok((owner, path));
                }
                _ if started.elapsed() > PATIENCE => bail!("waited {PATIENCE:?} for an icon"),
                _ => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }

    async fn menu_proxy(&self) -> Result<Proxy<'static>> {
        let (owner, _) = self.newest_icon().await?;
        let menu = zbus::zvariant::OwnedObjectPath::try_from(self.icon("Menu").await?)?;
        self.proxy(&owner, menu.as_str(), "com.canonical.dbusmenu").await
    }

    async fn proxy(&self, owner: &str, path: &str, interface: &'static str) -> Result<Proxy<'static>> {
        zbus::proxy::Builder::new(&self.bus)
            .destination(owner.to_owned())?
            .path(path.to_owned())?
            .interface(interface)?
            .cache_properties(CacheProperties::No)
            .build()
            .await
            .context("an icon on the bus")
    }
}

/// Receives requests to show icons.
struct Watcher(Arc<Mutex<PanelState>>);

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(&self, service: &str, #[zbus(header)] header: Header<'_>) {
        let owner = header.sender().map(ToString::to_string).unwrap_or_default();
        self.0.lock().icons.push((owner, service.to_owned()));
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.0.lock().icons.iter().map(|(owner, path)| format!("{owner}{path}")).collect()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

/// Receives requests to show files in their folders.
struct Files(Arc<Mutex<PanelState>>);

#[interface(name = "org.freedesktop.FileManager1")]
impl Files {
    fn show_items(&self, files: Vec<String>, _startup: &str) {
        self.0.lock().files.extend(files);
    }
}

struct Notices(Arc<Mutex<PanelState>>);

#[interface(name = "org.freedesktop.Notifications")]
impl Notices {
    fn get_capabilities(&self) -> Vec<String> {
        ["actions", "body", "body-markup"].map(str::to_owned).to_vec()
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("panel".to_owned(), "octo-tests".to_owned(), "1".to_owned(), "1.2".to_owned())
    }

    #[expect(clippy::too_many_arguments, reason = "the specification's own")]
    fn notify(
        &self,
        _application: &str,
        replaces: u32,
        _icon: &str,
        summary: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _expires: i32,
    ) -> u32 {
        let mut state = self.0.lock();
        let next = u32::try_from(state.notices.len()).unwrap_or_default() + 1;
        let id = if replaces == 0 { next } else { replaces };
        state.notices.push(Notice { id, summary, body, actions, withdrawn: false });
        id
    }

    fn close_notification(&self, id: u32) {
        for notice in &mut self.0.lock().notices {
            if notice.id == id {
                notice.withdrawn = true;
            }
        }
    }
}

/// As docks do: they keep the last count of each application.
async fn follow_counts(mut counts: MessageStream, state: Arc<Mutex<PanelState>>) {
    while let Some(Ok(message)) = counts.next().await {
        let update: Result<(String, HashMap<String, OwnedValue>), _> = message.body().deserialize();
        let Ok((entry, properties)) = update else { continue };
        let count = properties.get("count").and_then(|count| i64::try_from(count).ok());
        let shows = properties.get("count-visible").and_then(|shows| bool::try_from(shows).ok());
        if let (Some(count), Some(shows)) = (count, shows) {
            state.lock().badge = Some((entry, count, shows));
        }
    }
}
