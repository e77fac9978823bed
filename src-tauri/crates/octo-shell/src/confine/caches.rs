//! Caches and stores of package managers and compilers. Commands of all kinds write to them, and all their
//! content can be fetched or built again.

use super::Confinement;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A cache below the home.
struct PackageCache {
    /// Its path relative to the home.
    path: &'static str,
    form: CacheForm,
    /// The programs that fill it; empty for any program.
    programs: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CacheForm {
    Folder,
    /// An initially empty file: a lock.
    File,
}

const fn folder(path: &'static str, programs: &'static [&'static str]) -> PackageCache {
    PackageCache { path, form: CacheForm::Folder, programs }
}

const fn file(path: &'static str, programs: &'static [&'static str]) -> PackageCache {
    PackageCache { path, form: CacheForm::File, programs }
}

const CACHES: &[PackageCache] = &[
    folder(".bun", &["bun"]),
    folder(".cache", &[]),
    folder(".cargo/git", &["cargo"]),
    folder(".cargo/registry", &["cargo"]),
    file(".cargo/.package-cache", &["cargo"]),
    file(".cargo/.package-cache-mutate", &["cargo"]),
    file(".cargo/.global-cache", &["cargo"]),
    folder(".deno", &["deno"]),
    folder(".gradle/caches", &["gradle"]),
    folder(".gradle/daemon", &["gradle"]),
    folder(".gradle/wrapper", &["gradle"]),
    folder(".ivy2", &["sbt"]),
    folder(".local/share/pnpm", &["pnpm"]),
    folder(".local/share/uv", &["uv"]),
    folder(".local/share/virtualenv", &["virtualenv"]),
    folder(".local/state", &[]),
    folder(".m2/repository", &["mvn"]),
    folder(".npm", &["npm"]),
    folder(".nuget", &["dotnet"]),
    folder(".pnpm-store", &["pnpm"]),
    folder(".pub-cache", &["dart", "flutter"]),
    folder(".yarn", &["yarn"]),
    folder("Library/Caches", &[]),
    folder("go/pkg", &["go"]),
];

impl Confinement {
    /// Returns the caches below the home, existing or not.
    #[cfg(any(target_os = "linux", target_os = "macos", test))]
    pub(super) fn caches(&self) -> Vec<PathBuf> {
        self.home.iter().flat_map(|home| CACHES.iter().map(|cache| home.join(cache.path))).collect()
    }

    /// Creates the missing caches of installed programs: a missing path cannot be granted, so the first build
    /// could not fill it. `path` is the `PATH` of commands. Failures are ignored; the home itself is never
    /// created.
    pub(crate) fn create_caches(&self, path: Option<&str>) {
        let Some(home) = self.home.as_deref().filter(|home| home.is_dir()) else { return };
        let folders: Vec<PathBuf> =
            std::env::split_paths(path.unwrap_or_default()).filter(|folder| folder.is_absolute()).collect();
        let is_there = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
        for cache in CACHES {
            let cache_path = home.join(cache.path);
            // Only macOS has its caches in this folder.
            let usual = cache.path != "Library/Caches" || cfg!(target_os = "macos");
            if usual
                && cache_path.symlink_metadata().is_err()
                && (cache.programs.is_empty() || cache.programs.iter().any(|name| is_there(name)))
            {
                create(&cache_path, cache.form);
            }
        }
    }
}

fn create(path: &Path, form: CacheForm) {
    let created = match (form, path.parent()) {
        (CacheForm::Folder, _) => fs::create_dir_all(path),
        (CacheForm::File, Some(folder)) => fs::create_dir_all(folder)
            .and_then(|()| fs::OpenOptions::new().append(true).create(true).open(path).map(drop)),
        (CacheForm::File, None) => Ok(()),
    };
    if let Err(error) = created {
        tracing::debug!(path = %path.display(), %error, "a cache could not be made; commands cannot fill it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(home: &Path) -> Confinement {
        Confinement {
            writable: Vec::new(),
            enterable: Vec::new(),
            secrets: Vec::new(),
            home: Some(home.to_owned()),
            octo: home.join(".octo"),
            octo_others: Vec::new(),
            octo_readable: Vec::new(),
        }
    }

    #[test]
    fn caches_are_created_for_installed_programs_only() {
        let folder = octo_testkit::test_folder();
        let (home, bin) = (folder.path().join("home"), folder.path().join("bin"));
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(home.join(".npm")).unwrap();
        fs::write(home.join(".npm/kept"), "x").unwrap();
        for program in ["cargo", "npm"] {
            fs::write(bin.join(program), "").unwrap();
        }
        let path = std::env::join_paths([&bin]).unwrap();
        confinement(&home).create_caches(path.to_str());
        for made in [".cache", ".cargo/registry", ".cargo/git", ".local/state"] {
            assert!(home.join(made).is_dir(), "{made}");
        }
        assert!(home.join(".cargo/.package-cache").is_file() && home.join(".npm/kept").exists());
        for tool_folder in [".gradle", ".m2", "go", ".yarn", ".nuget"] {
            assert!(!home.join(tool_folder).exists(), "{tool_folder}");
        }
        // Without a home, nothing is created, not even the home.
        let missing = folder.path().join("none");
        confinement(&missing).create_caches(path.to_str());
        assert!(!missing.exists());
    }

    #[test]
    fn a_dangling_link_is_not_followed() {
        let folder = octo_testkit::test_folder();
        let target = folder.path().join("elsewhere");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&target, folder.path().join(".cache")).unwrap();
        #[cfg(unix)]
        confinement(folder.path()).create_caches(None);
        assert!(!target.exists());
    }
}
