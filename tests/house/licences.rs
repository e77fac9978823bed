//! The permitted licences and sources of the code Octo is built from.

use cargo_metadata::MetadataCommand;
use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};
use std::{fs, path::Path, sync::LazyLock};
use toml_edit::DocumentMut;

/// The list, by the names of licences; an exception for a crate only allows more.
static ALLOWED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deny.toml");
    let rules: DocumentMut = fs::read_to_string(file).expect("deny.toml").parse().expect("TOML");
    let allowed = rules["licenses"]["allow"].as_array().expect("a list of licences");
    allowed.iter().filter_map(|licence| licence.as_str()).map(str::to_owned).collect()
});

fn is_allowed(expression: &str) -> bool {
    // Some crates still write the older `MIT/Apache-2.0`.
    let mode = ParseMode { allow_slash_as_or_operator: true, ..ParseMode::STRICT };
    Expression::parse_mode(expression, mode).is_ok_and(|expression| {
        expression.evaluate(|requirement: &LicenseReq| {
            requirement.license.id().is_some_and(|id| ALLOWED.iter().any(|allowed| allowed == id.name))
        })
    })
}

#[test]
fn every_crate_has_an_allowed_licence() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).exec().expect("cargo metadata");
    assert!(metadata.packages.len() > 300, "the graph was read: {}", metadata.packages.len());
    let violations: Vec<String> = metadata
        .packages
        .iter()
        .filter(|package| !package.license.as_deref().is_some_and(is_allowed))
        .map(|package| format!("{} {}: {:?}", package.name, package.version, package.license))
        .collect();
    assert!(violations.is_empty(), "not on the list of licences:\n{}", violations.join("\n"));
}

#[test]
fn every_crate_is_of_this_project_or_of_the_registry() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).exec().expect("cargo metadata");
    let project = metadata.workspace_root.clone();
    let foreign = metadata.packages.iter().filter(|package| match &package.source {
        Some(source) => !source.is_crates_io(),
        None => !package.manifest_path.starts_with(&project),
    });
    let foreign: Vec<String> =
        foreign.map(|package| format!("{} from {:?}", package.name, package.source)).collect();
    assert!(foreign.is_empty(), "nobody keeps these:\n{}", foreign.join("\n"));
}

#[test]
fn every_package_in_the_page_has_an_allowed_licence() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/package-lock.json");
    let lock: Value = serde_json::from_str(&fs::read_to_string(lock).expect("the lock file")).expect("JSON");
    // Packages used only to build or test are not part of the page.
    let shipped: Vec<(&String, &Value)> = lock["packages"]
        .as_object()
        .expect("packages")
        .iter()
        .filter(|(path, package)| {
            !path.is_empty() && package["dev"] != true && package["devOptional"] != true
        })
        .collect();
    assert!(!shipped.is_empty(), "the lock file was read");
    let violations: Vec<String> = shipped
        .into_iter()
        .filter(|(_, package)| !package["license"].as_str().is_some_and(is_allowed))
        .map(|(path, package)| format!("{path}: {}", package["license"]))
        .collect();
    assert!(violations.is_empty(), "not on the list of licences:\n{}", violations.join("\n"));
}

#[test]
fn a_choice_of_licences_needs_one_that_is_allowed_and_a_sum_needs_all() {
    for allowed in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_allowed(allowed), "{allowed}");
    }
    for license in
        ["GPL-3.0-only", "MIT AND AGPL-3.0-only", "LGPL-2.1-or-later", "SSPL-1.0", "", "see LICENSE"]
    {
        assert!(!is_allowed(license), "{license}");
    }
}
