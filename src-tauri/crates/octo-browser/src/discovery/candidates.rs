//! Finds the data folders and the programs of browsers in an environment.

use super::{
    BrowserEnvironment, HostSystem,
    table::{BrowserProduct, PRODUCTS},
};
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Maximum number of bytes read of a `DevToolsActivePort` file, which has two short lines.
const MAX_PORT_FILE: u64 = 1024;

/// Prefix of every browser-level websocket path.
const BROWSER_PATH_PREFIX: &str = "/devtools/browser/";

/// A folder that may contain a browser's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserCandidate {
    /// The browser.
    pub product: &'static BrowserProduct,
    /// The data folder, which need not exist.
    pub folder: PathBuf,
}

/// Content of a `DevToolsActivePort` file. It proves nothing, because browsers never remove it. Octo never
/// deletes it either, because a browser reads its port from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFile {
    /// The port the browser listened on.
    pub port: u16,
    /// The path of its websocket, different at each start. It always begins with `/devtools/browser/`.
    pub path: String,
}

impl PortFile {
    /// Parses the file's two lines.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim);
        let port = lines.next()?.parse().ok().filter(|port| *port != 0)?;
        let path = lines.next()?;
        let id = path.strip_prefix(BROWSER_PATH_PREFIX)?;
        let is_id = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        is_id.then(|| Self { port, path: path.to_owned() })
    }
}

impl BrowserCandidate {
    /// Returns the content of the browser's port file, if it is readable.
    pub fn port_file(&self) -> Option<PortFile> {
        let path = self.folder.join("DevToolsActivePort");
        let metadata = fs::metadata(&path).ok()?;
        // Reading a pipe or device of that name would block forever.
        if !metadata.is_file() || metadata.len() > MAX_PORT_FILE {
            return None;
        }
        PortFile::parse(&fs::read_to_string(path).ok()?)
    }

    /// Returns the time at which the browser last wrote its port file, which it does at each start.
    pub fn port_file_modified(&self) -> Option<SystemTime> {
        fs::metadata(self.folder.join("DevToolsActivePort")).ok()?.modified().ok()
    }
}

/// Returns all folders that may contain a browser's data, the likeliest first. A folder that the person
/// configured is the only candidate; its browser is guessed from the folder's name.
pub fn candidates(environment: &BrowserEnvironment, configured: Option<&Path>) -> Vec<BrowserCandidate> {
    if let Some(folder) = configured {
        let matching = all_candidates(environment).into_iter().find(|candidate| candidate.folder == folder);
        let product = matching.map_or_else(|| guess_product(folder), |candidate| candidate.product);
        return vec![BrowserCandidate { product, folder: folder.to_owned() }];
    }
    all_candidates(environment)
}

fn all_candidates(environment: &BrowserEnvironment) -> Vec<BrowserCandidate> {
    let mut found: Vec<BrowserCandidate> = Vec::new();
    for product in PRODUCTS {
        for folder in data_folders(environment, product) {
            if !found.iter().any(|candidate| candidate.folder == folder) {
                found.push(BrowserCandidate { product, folder });
            }
        }
    }
    found
}

/// Returns the product whose own folder name matches this one best, or Chrome if none does.
fn guess_product(folder: &Path) -> &'static BrowserProduct {
    let name = folder.to_string_lossy().to_lowercase().replace('\\', "/");
    let is_named = |product: &&BrowserProduct| {
        let folders = [product.linux, product.mac, product.windows, product.flatpak];
        folders.into_iter().flatten().any(|alias| name.contains(&alias.to_lowercase()))
    };
    // The longer match is closer: `google-chrome-beta` contains `google-chrome` too.
    PRODUCTS
        .iter()
        .filter(is_named)
        .max_by_key(|product| product.linux.map_or(0, str::len))
        .unwrap_or(&PRODUCTS[0])
}

fn data_folders(environment: &BrowserEnvironment, product: &BrowserProduct) -> Vec<PathBuf> {
    let join =
        |base: &Path, relative: &str| relative.split('/').fold(base.to_owned(), |path, part| path.join(part));
    let mut found = Vec::new();
    match environment.system {
        HostSystem::Windows => {
            let base = environment.local_app_data.clone();
            let base = base.unwrap_or_else(|| environment.home.join("AppData").join("Local"));
            found.extend(product.windows.map(|relative| join(&base, relative)));
        }
        HostSystem::Mac => {
            let base = environment.home.join("Library").join("Application Support");
            found.extend(product.mac.map(|relative| join(&base, relative)));
        }
        HostSystem::Linux => {
            let home = &environment.home;
            let base = environment.chrome_config_home.as_ref().or(environment.xdg_config_home.as_ref());
            let base = base.cloned().unwrap_or_else(|| home.join(".config"));
            found.extend(product.linux.map(|relative| join(&base, relative)));
            if let (Some(name), Some(relative)) = (product.flatpak, product.linux) {
                found.push(join(&home.join(".var/app").join(name).join("config"), relative));
            }
            found.extend(product.snap.map(|relative| join(home, relative)));
            let bases = environment.windows_local_app_data.iter();
            found.extend(bases.filter_map(|base| Some(join(base, product.windows?))));
        }
    }
    found
}

/// Returns the programs of the installed browsers, in the order of [`candidates`].
pub fn executables(environment: &BrowserEnvironment) -> Vec<(&'static BrowserProduct, PathBuf)> {
    let programs = |product: &'static BrowserProduct| -> Vec<PathBuf> {
        match environment.system {
            HostSystem::Linux => {
                let commands = product.commands.iter();
                commands
                    .flat_map(|name| environment.path.iter().map(move |folder| folder.join(name)))
                    .collect()
            }
            HostSystem::Mac => {
                let folders = [PathBuf::from("/Applications"), environment.home.join("Applications")];
                product
                    .mac_program
                    .iter()
                    .flat_map(|relative| folders.iter().map(move |path| path.join(relative)))
                    .collect()
            }
            HostSystem::Windows => {
                let folders = environment.program_files.iter();
                folders.filter_map(|folder| Some(folder.join(product.windows_program?))).collect()
            }
        }
    };
    let installed = |product: &'static BrowserProduct| {
        Some((product, programs(product).into_iter().find(|path| path.is_file())?))
    };
    PRODUCTS.iter().filter_map(installed).collect()
}

#[cfg(test)]
mod tests;
