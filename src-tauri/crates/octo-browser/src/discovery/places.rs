//! Data folders and programs, as functions of an environment.

use super::{
    Environment, System,
    table::{PRODUCTS, Product},
};
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What is read of a `DevToolsActivePort` at most. It has two short lines.
const LONGEST_PORT_FILE: u64 = 1024;

/// The first words of every path to a whole browser.
const BROWSER_PATH: &str = "/devtools/browser/";

/// A folder in which a browser may keep its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The browser.
    pub product: &'static Product,
    /// The folder, which need not exist.
    pub folder: PathBuf,
}

/// What a `DevToolsActivePort` says. It proves nothing: no browser ever removes it. It is never deleted either,
/// because a browser takes its port from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFile {
    /// The port a browser listened at.
    pub port: u16,
    /// The path of its websocket, another one at each start. It always begins with `/devtools/browser/`.
    pub path: String,
}

impl PortFile {
    /// Reads the file's two lines.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim);
        let port = lines.next()?.parse().ok().filter(|port| *port != 0)?;
        let path = lines.next()?;
        let id = path.strip_prefix(BROWSER_PATH)?;
        let is_id = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        is_id.then(|| Self { port, path: path.to_owned() })
    }
}

impl Candidate {
    /// What the browser's file says, if there is one that can be read.
    pub fn port_file(&self) -> Option<PortFile> {
        let path = self.folder.join("DevToolsActivePort");
        let metadata = fs::metadata(&path).ok()?;
        // A pipe or a device of that name would be waited for without end.
        if !metadata.is_file() || metadata.len() > LONGEST_PORT_FILE {
            return None;
        }
        PortFile::parse(&fs::read_to_string(path).ok()?)
    }

    /// When the browser wrote that file. It does so at each start.
    pub fn port_written(&self) -> Option<SystemTime> {
        fs::metadata(self.folder.join("DevToolsActivePort")).ok()?.modified().ok()
    }
}

/// All folders in which a browser may keep its data, those of the likeliest browser first. A folder that the person
/// named is the only one then; which browser it belongs to is told from its name, as well as that can be.
pub fn candidates(environment: &Environment, named: Option<&Path>) -> Vec<Candidate> {
    if let Some(folder) = named {
        let known = all(environment).into_iter().find(|candidate| candidate.folder == folder);
        let product = known.map_or_else(|| guess(folder), |candidate| candidate.product);
        return vec![Candidate { product, folder: folder.to_owned() }];
    }
    all(environment)
}

fn all(environment: &Environment) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for product in PRODUCTS {
        for folder in folders(environment, product) {
            if !found.iter().any(|candidate| candidate.folder == folder) {
                found.push(Candidate { product, folder });
            }
        }
    }
    found
}

/// The browser whose own folder has the most in common with this one's name; Chrome for want of any.
fn guess(folder: &Path) -> &'static Product {
    let name = folder.to_string_lossy().to_lowercase().replace('\\', "/");
    let is_named = |product: &&Product| {
        let folders = [product.linux, product.mac, product.windows, product.flatpak];
        folders.into_iter().flatten().any(|known| name.contains(&known.to_lowercase()))
    };
    // The longer name is the closer one: `google-chrome-beta` holds `google-chrome` too.
    PRODUCTS
        .iter()
        .filter(is_named)
        .max_by_key(|product| product.linux.map_or(0, str::len))
        .unwrap_or(&PRODUCTS[0])
}

fn folders(environment: &Environment, product: &Product) -> Vec<PathBuf> {
    let join =
        |base: &Path, below: &str| below.split('/').fold(base.to_owned(), |path, part| path.join(part));
    let mut found = Vec::new();
    match environment.system {
        System::Windows => {
            let base = environment.local_app_data.clone();
            let base = base.unwrap_or_else(|| environment.home.join("AppData").join("Local"));
            found.extend(product.windows.map(|below| join(&base, below)));
        }
        System::Mac => {
            let base = environment.home.join("Library").join("Application Support");
            found.extend(product.mac.map(|below| join(&base, below)));
        }
        System::Linux => {
            let home = &environment.home;
            let base = environment.chrome_config_home.as_ref().or(environment.xdg_config_home.as_ref());
            let base = base.cloned().unwrap_or_else(|| home.join(".config"));
            found.extend(product.linux.map(|below| join(&base, below)));
            if let (Some(name), Some(below)) = (product.flatpak, product.linux) {
                found.push(join(&home.join(".var/app").join(name).join("config"), below));
            }
            found.extend(product.snap.map(|below| join(home, below)));
            let windows = environment.windows_homes.iter();
            found.extend(windows.filter_map(|base| Some(join(base, product.windows?))));
        }
    }
    found
}

/// The installed browsers' programs, in the order of [`candidates`].
pub fn executables(environment: &Environment) -> Vec<(&'static Product, PathBuf)> {
    let programs = |product: &'static Product| -> Vec<PathBuf> {
        match environment.system {
            System::Linux => {
                let commands = product.commands.iter();
                commands
                    .flat_map(|name| environment.path.iter().map(move |folder| folder.join(name)))
                    .collect()
            }
            System::Mac => {
                let folders = [PathBuf::from("/Applications"), environment.home.join("Applications")];
                product
                    .mac_program
                    .iter()
                    .flat_map(|below| folders.iter().map(move |it| it.join(below)))
                    .collect()
            }
            System::Windows => {
                let folders = environment.program_files.iter();
                folders.filter_map(|folder| Some(folder.join(product.windows_program?))).collect()
            }
        }
    };
    let found =
        |product: &'static Product| Some((product, programs(product).into_iter().find(|it| it.is_file())?));
    PRODUCTS.iter().filter_map(found).collect()
}

#[cfg(test)]
mod tests;
