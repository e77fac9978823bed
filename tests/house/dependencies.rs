//! Which crate may depend on which.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::LazyLock,
};

/// The layers, from the bottom up. A crate may depend on lower layers, never on its own or higher ones.
const FLOORS: &[&[&str]] = &[
    &["octo-protocol"],
    &[
        "octo-store",
        "octo-llm",
        "octo-documents",
        "octo-desktop",
        "octo-keeper",
        "octo-keys",
        "octo-network",
        "octo-runtime",
    ],
    &["octo-workspace", "octo-chats", "octo-demo"],
    &["octo-policy", "octo-browser"],
    &["octo-shell"],
    &["octo-skills", "octo-transfer"],
    &["octo-tools", "octo-schedule"],
    &["octo-browsing", "octo-trash"],
    &["octo-core"],
    &["octo-cli"],
    &["octo"],
];

/// Crates for tests or building: no shipped crate depends on them.
const BESIDE: &[&str] = &["octo-testkit", "octo-tests", "xtask"];

/// Crates only the root package may depend on. A name ending in `*` is a prefix.
const DESKTOP: &[&str] =
    &["tauri*", "wry", "tao", "muda", "gtk*", "gdk*", "webkit2gtk*", "javascriptcore-rs*"];

static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).exec().expect("cargo metadata")
});

fn members() -> impl Iterator<Item = &'static Package> {
    METADATA.workspace_packages().into_iter()
}

/// Returns the crates a package is built from, by kind of dependency.
fn direct(package: &Package, kinds: &[DependencyKind]) -> BTreeSet<String> {
    package.dependencies.iter().filter(|it| kinds.contains(&it.kind)).map(|it| it.name.clone()).collect()
}

/// Returns everything that ends up in a package, itself included.
fn reached(start: &PackageId, kinds: &[DependencyKind]) -> HashSet<&'static PackageId> {
    let resolve = METADATA.resolve.as_ref().expect("a resolved graph");
    let nodes: HashMap<_, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let mut visited = HashSet::new();
    let mut pending = vec![nodes[start]];
    while let Some(node) = pending.pop() {
        if !visited.insert(&node.id) {
            continue;
        }
        // Only the package's own dependencies may be for tests; their dependencies are always needed.
        let kinds = if node.id == *start { kinds } else { &[DependencyKind::Normal, DependencyKind::Build] };
        let edges =
            node.deps.iter().filter(|dep| dep.dep_kinds.iter().any(|kind| kinds.contains(&kind.kind)));
        pending.extend(edges.map(|dep| nodes[&dep.pkg]));
    }
    visited
}

fn is_desktop(name: &str) -> bool {
    DESKTOP.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *pattern,
    })
}

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

#[test]
fn only_the_window_depends_on_desktop_crates() {
    let checked: Vec<&Package> = members().filter(|package| package.name.as_str() != "octo").collect();
    assert!(checked.len() >= 12, "the crates were found");
    for package in checked {
        let kinds = [DependencyKind::Normal, DependencyKind::Build, DependencyKind::Development];
        let desktop: BTreeSet<&str> = reached(&package.id, &kinds)
            .into_iter()
            .map(|id| METADATA[id].name.as_str())
            .filter(|name| is_desktop(name))
            .collect();
        assert!(desktop.is_empty(), "{} must not depend on {desktop:?}", package.name);
    }
}

#[test]
fn the_desktop_rule_detects_the_window() {
    let root = members().find(|package| package.name.as_str() == "octo").expect("the root package");
    let found = reached(&root.id, &[DependencyKind::Normal])
        .into_iter()
        .any(|id| METADATA[id].name.as_str() == "tauri");
    assert!(found, "the walk that forbids tauri elsewhere finds it where it is");
}

#[test]
fn dependencies_point_down() {
    let names: BTreeSet<&str> = members().map(|package| package.name.as_str()).collect();
    let mut arrows = 0;
    for package in members() {
        let name = package.name.as_str();
        let direct_dependencies = direct(package, &[DependencyKind::Normal, DependencyKind::Build]);
        let in_workspace = direct_dependencies.iter().map(String::as_str).filter(|name| names.contains(name));
        if BESIDE.contains(&name) {
            continue;
        }
        let Some(floor_from) = floor(name) else {
            panic!("give {name} a floor in FLOORS or a place in BESIDE")
        };
        for target in in_workspace {
            let floor_to = floor(target)
                .unwrap_or_else(|| panic!("{name} must not be built from {target}: it serves tests"));
            assert!(
                floor_to < floor_from,
                "{name} must not depend on {target}: arrows point down, see FLOORS"
            );
            arrows += 1;
        }
    }
    assert!(arrows >= 10, "the arrows were found");
}
