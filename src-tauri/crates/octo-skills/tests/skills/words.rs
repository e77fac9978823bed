//! Every message key of this crate has a text.

use octo_protocol::{Language, words::say};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

fn keys(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            keys(&path, found);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let quoted = text.split('"').skip(1).step_by(2);
            for key in quoted {
                if key.starts_with("skills.") {
                    found.insert(key.to_owned());
                } else if key.starts_with("skill.") {
                    found.insert(format!("error.{key}"));
                }
            }
        }
    }
}

#[test]
fn every_key_has_words_in_both_languages() {
    let mut found = BTreeSet::new();
    keys(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 60, "the keys were found: {}", found.len());
    for key in found {
        for language in [Language::En, Language::Zh] {
            assert_ne!(say(language, &key, &BTreeMap::new()), key, "{key} has no words");
        }
    }
}
