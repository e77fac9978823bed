//! The list of packages Octo's binary is built from, with their licences, as the About page shows it. The
//! page's own packages are listed by its bundler.

use crate::project::{Project, host};
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::Path,
};

/// The package whose dependencies are listed.
const ROOT_PACKAGE: &str = "octo";

/// Beginnings of licence file names, in capitals. `license-` names one of several.
const LICENCE_PREFIXES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// Where the page's build finds the list.
const LIST_FILE: &str = "ui/public/notices/crates.json";

/// Rewrites the list, unless it is already current.
///
/// # Errors
/// When cargo cannot list the dependencies, or the list cannot be written.
pub(crate) fn write(project: &Project) -> Result<()> {
    let output = project
        .cargo(["metadata", "--format-version", "1", "--locked", "--filter-platform"])
        .arg(host()?)
        .output()
        .context("cargo could not be started")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let licences = licence_list(&metadata)?.to_string();
    let file = project.root.join(LIST_FILE);
    if fs::read_to_string(&file).is_ok_and(|current| current == licences) {
        return Ok(());
    }
    fs::create_dir_all(file.parent().context("a folder")?)?;
    fs::write(&file, licences).with_context(|| file.display().to_string())
}

/// Returns every crate linked into the binary except the project's own, by name, with the texts of its
/// licences. A text shared by many appears once.
fn licence_list(metadata: &Value) -> Result<Value> {
    let packages = metadata["packages"].as_array().context("cargo's packages")?;
    let by_id: HashMap<&str, &Value> =
        packages.iter().filter_map(|package| Some((package["id"].as_str()?, package))).collect();
    let mut texts: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut parts = BTreeMap::new();
    for id in linked_crates(metadata)? {
        let package = by_id.get(id).context("a package of the graph")?;
        // The project's own crates have no source.
        if package["source"].is_null() {
            continue;
        }
        let manifest = package["manifest_path"].as_str().context("a manifest")?;
        let mut of_this = Vec::new();
        for text in licence_texts(Path::new(manifest).parent().context("a package's folder")?)? {
            let index = *places.entry(text.clone()).or_insert_with(|| {
                texts.push(text);
                texts.len() - 1
            });
            of_this.push(index);
        }
        let (name, version) = (&package["name"], &package["version"]);
        let key = (name.as_str().unwrap_or_default().to_owned(), version.as_str().map(str::to_owned));
        let licence = &package["license"];
        parts.insert(key, json!({ "name": name, "version": version, "licence": licence, "texts": of_this }));
    }
    Ok(json!({ "parts": parts.into_values().collect::<Vec<_>>(), "texts": texts }))
}

/// Returns the crates linked into the binary: its direct and indirect dependencies, without those used only to
/// build or test.
fn linked_crates(metadata: &Value) -> Result<BTreeSet<&str>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo's graph")?;
    let by_id: HashMap<&str, &Value> =
        nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let packages = metadata["packages"].as_array().context("cargo's packages")?;
    let root = packages
        .iter()
        .find(|package| package["name"] == ROOT_PACKAGE && package["source"].is_null())
        .and_then(|package| package["id"].as_str())
        .context("the application's package")?;
    let (mut crates, mut pending) = (BTreeSet::new(), vec![root]);
    while let Some(id) = pending.pop() {
        if !crates.insert(id) {
            continue;
        }
        for dependency in by_id[id]["deps"].as_array().into_iter().flatten() {
            let kinds = dependency["dep_kinds"].as_array();
            if kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null())) {
                pending.extend(dependency["pkg"].as_str());
            }
        }
    }
    Ok(crates)
}

/// Returns the licence texts in a package's folder, by file name.
fn licence_texts(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
        if LICENCE_PREFIXES.iter().any(|start| name.starts_with(start)) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let text = |path: &std::path::PathBuf| Ok(String::from_utf8_lossy(&fs::read(path)?).trim().to_owned());
    files.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_and_test_dependencies_are_excluded() {
        let node = |id: &str, deps: &[(&str, Value)]| {
            let deps: Vec<Value> = deps
                .iter()
                .map(|(pkg, kind)| json!({ "pkg": pkg, "dep_kinds": [{ "kind": kind }] }))
                .collect();
            json!({ "id": id, "deps": deps })
        };
        let metadata = json!({
            "packages": [{ "name": ROOT_PACKAGE, "id": "octo", "source": null }, { "name": "a", "id": "a", "source": "r" }],
            "resolve": { "nodes": [
                node("octo", &[("a", Value::Null), ("build", json!("build")), ("test", json!("dev"))]),
                node("a", &[("b", Value::Null)]),
                node("b", &[("a", Value::Null)]),
                node("build", &[]),
                node("test", &[]),
            ] },
        });
        assert_eq!(linked_crates(&metadata).unwrap(), BTreeSet::from(["a", "b", "octo"]));
    }
}
