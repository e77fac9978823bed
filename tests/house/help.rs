//! The documents of the skill `product-help` mention only things the app has.
//!
//! They mark each name in inline code: `setting:trash.days`, `page:browser`, `command:/undo`, `key:Ctrl+K`,
//! `path:~/.octo/policy.toml`, `cli:exec`, `line:when` of a task's file, `link:octo://new?prompt=…`, and
//! `word:side.trash` after the bold words a person sees. Each kind is looked up where the app itself defines
//! it; a name without a mark is a fault too.

use octo_protocol::{Settings, SettingsPage};
use serde_json::{Map, Value};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The app's sources in which names are looked up.
struct App {
    settings: Value,
    words: Value,
    keys: Vec<String>,
    cli: String,
    links: String,
    lines: String,
    sources: String,
}

impl App {
    fn read() -> Self {
        let root = root();
        let text = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        let mut sources = String::new();
        for path in below(&root.join("src-tauri/crates")) {
            let displayed_path = path.to_string_lossy().replace('\\', "/");
            let is_test = displayed_path.contains("/tests/")
                || displayed_path.ends_with("/tests.rs")
                || displayed_path.contains("octo-testkit");
            if displayed_path.ends_with(".rs") && displayed_path.contains("/src/") && !is_test {
                let text = fs::read_to_string(&path).unwrap();
                // Names that occur only in tests do not count.
                sources.push_str(text.split("#[cfg(test)]\nmod tests {").next().unwrap());
            }
        }
        Self {
            settings: serde_json::to_value(Settings::default()).unwrap(),
            words: words(&root.join("words/en")),
            keys: keys(&text("ui/src/lib/app/shortcuts.ts")),
            cli: text("src-tauri/crates/octo-cli/src/args.rs"),
            links: text("src-tauri/crates/octo-desktop/src/links.rs"),
            lines: text("src-tauri/crates/octo-schedule/src/file.rs"),
            sources,
        }
    }

    /// Returns the pages of the settings, by their words.
    fn pages(&self) -> Vec<&str> {
        let entries = self.words.as_object().into_iter().flatten();
        entries.filter_map(|(key, _)| key.strip_prefix("settings.page.")).collect()
    }

    fn word(&self, key: &str) -> Option<&str> {
        self.words.get(key)?.as_str()
    }

    /// Returns the fault of a piece of inline code that follows `before`, if any.
    fn fault(&self, code: &str, before: &str) -> Option<String> {
        let missing = |missing_kind: &str| Some(format!("there is no {missing_kind} {code}"));
        match code.split_once(':') {
            Some(("setting", name)) => {
                let pointer = format!("/{}", name.replace('.', "/"));
                if self.settings.pointer(&pointer).is_some() { None } else { missing("setting") }
            }
            Some(("page", name)) => {
                if self.word(&format!("settings.page.{name}")).is_some() {
                    None
                } else {
                    missing("page")
                }
            }
            Some(("command", name)) => {
                let label = name.strip_prefix('/').and_then(|name| self.word(&format!("command.{name}")));
                if label.is_some() { None } else { missing("command") }
            }
            Some(("key", name)) => {
                if self.has_key(name) {
                    None
                } else {
                    missing("key")
                }
            }
            Some(("path", name)) => {
                if self.has_path(name) {
                    None
                } else {
                    missing("path")
                }
            }
            Some(("cli", name)) => {
                if self.has_argument(name) {
                    None
                } else {
                    missing("argument")
                }
            }
            Some(("link", name)) => {
                if self.has_link(name) {
                    None
                } else {
                    missing("link")
                }
            }
            Some(("line", name)) => {
                if self.lines.contains(&format!("    set(\"{name}\", ")) {
                    None
                } else {
                    missing("line")
                }
            }
            Some(("word", key)) => match (self.word(key), bold(before)) {
                (Some(name_word), Some(preceding)) if name_word == preceding => None,
                (Some(name_word), preceding) => {
                    Some(format!("{code} is “{name_word}”, and it says {preceding:?}"))
                }
                (None, _) => missing("word"),
            },
            _ if looks_like_a_name(code) => Some(format!("{code} is not marked")),
            _ => None,
        }
    }

    fn has_key(&self, name: &str) -> bool {
        let digit = |key: &str| key.len() == 1 && key.bytes().all(|byte| byte.is_ascii_digit());
        let displayed =
            if name.strip_prefix("Ctrl+").is_some_and(digit) { "Ctrl+1 … Ctrl+9" } else { name };
        self.keys.iter().any(|key| key == displayed)
    }

    fn has_path(&self, name: &str) -> bool {
        match name.strip_prefix("~/.octo") {
            Some("") => true,
            Some(remaining) => {
                let first_part = remaining.trim_start_matches('/').split('/').next().unwrap_or_default();
                !first_part.is_empty() && self.sources.contains(&format!("\"{first_part}\""))
            }
            None => false,
        }
    }

    /// Returns whether a link's first word and every parameter are understood.
    fn has_link(&self, name: &str) -> bool {
        let Some(remaining) = name.strip_prefix("octo://") else { return false };
        let (path, query) = remaining.split_once('?').unwrap_or((remaining, ""));
        let host = path.split('/').next().unwrap_or_default();
        let names = query.split('&').filter_map(|pair| pair.split('=').next());
        let mut parameters = names.filter(|name| !name.is_empty());
        let is_known = self.links.contains(&format!("(Some(\"{host}\"), "));
        is_known && parameters.all(|name| self.links.contains(&format!("\"{name}\" => &mut {name},")))
    }

    fn has_argument(&self, name: &str) -> bool {
        match name.strip_prefix("--") {
            Some(option) => self.cli.contains(&format!("\n    pub {option}: ")),
            None => {
                let (sigil, remaining) = name.split_at(1);
                let variant = format!("\n    {}{remaining}", sigil.to_uppercase());
                [",", "("].iter().any(|end| self.cli.contains(&format!("{variant}{end}")))
            }
        }
    }
}

/// Returns the keys in the page's list of shortcuts, as written where Ctrl is the modifier.
fn keys(list: &str) -> Vec<String> {
    let lists = list.split("keys: [").skip(1).filter_map(|after| after.split(']').next());
    let quoted = lists.flat_map(|keys| keys.split('"').skip(1).step_by(2));
    quoted.map(|key| key.replace("Mod", "Ctrl")).collect()
}

/// Returns the bold words right before a mark in parentheses: `**Trash** (`.
fn bold(before: &str) -> Option<&str> {
    before.strip_suffix("** (")?.rsplit_once("**").map(|(_, text)| text)
}

fn looks_like_a_name(code: &str) -> bool {
    let slash = code.strip_prefix('/').is_some_and(|command| !command.is_empty() && !command.contains('/'));
    slash || code.starts_with("~/.octo") || code.starts_with("Ctrl+") || code.starts_with("octo://")
}

/// Faults of a document.
fn faults(app: &App, text: &str) -> Vec<String> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut positions = text.match_indices('`').map(|(index, _)| index);
    while let (Some(open), Some(close)) = (positions.next(), positions.next()) {
        let code = text.get(open + 1..close).unwrap_or_default().replace('\n', " ");
        let before = text.get(start..open).unwrap_or_default().replace("\n  ", " ").replace('\n', " ");
        found.extend(app.fault(&code, &before));
        start = close + 1;
    }
    found
}

fn root() -> PathBuf {
    let mut ancestors = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    ancestors.find(|folder| folder.join("words/en/start.json").is_file()).expect("the checkout").to_owned()
}

/// Returns the words of a language from all its files.
fn words(folder: &Path) -> Value {
    let files = below(folder).into_iter().map(|path| fs::read_to_string(path).unwrap());
    let parts = files.flat_map(|text| serde_json::from_str::<Map<String, Value>>(&text).unwrap());
    Value::Object(parts.collect())
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

#[test]
fn the_help_names_only_existing_things() {
    let app = App::read();
    let mut documents = below(&root().join("skills/product-help/docs"));
    documents.sort();
    assert!(documents.len() > 12, "the documents are where they are looked for");
    let mut failures = Vec::new();
    for path in documents {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.matches('`').count() % 2 == 0, "{name}: an open quote would hide what follows");
        failures.extend(faults(&app, &text).into_iter().map(|failure| format!("{name}: {failure}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn missing_names_are_found() {
    let app = App::read();
    for (text, expected) in [
        ("`setting:theme` `setting:trash.days` `setting:library.propose`", 0),
        ("`setting:colour` `setting:trash.weeks` `setting:`", 3),
        ("`page:browser` `page:channels`", 1),
        ("`command:/undo` `command:/config` `command:undo`", 2),
        ("`key:Ctrl+K` `key:Ctrl+1` `key:Esc Esc` `key:/`", 0),
        ("`key:Ctrl+Q` `key:F5` `key:Ctrl+10`", 3),
        ("`path:~/.octo` `path:~/.octo/policy.toml` `path:~/.octo/memories`", 0),
        ("`path:~/.octo/schedules.yml` `path:/etc/hosts`", 2),
        ("`cli:exec` `cli:serve` `cli:--budget`", 0),
        ("`cli:run` `cli:--no-memory`", 2),
        ("`link:octo://new?prompt=…&folder=…` `link:octo://session/…` `line:when` `line:tell`", 0),
        ("`link:octo://run` `link:octo://new?mode=…` `link:http://new` `line:every` `octo://new`", 5),
        (
            "**Trash** (`word:side.trash`) and **Bin** (`word:side.trash`), `word:side.trash`, **X** (`word:no.such`)",
            3,
        ),
        ("`/undo` `~/.octo/octo.db` `Ctrl+K` `/etc/hosts` `octo.db`", 3),
    ] {
        assert_eq!(faults(&app, text).len(), expected, "{text}: {:?}", faults(&app, text));
    }
}

/// The list of commands in the help is the whole list.
#[test]
fn the_help_names_every_command_and_every_key() {
    let app = App::read();
    let text = fs::read_to_string(root().join("skills/product-help/docs/commands.md")).unwrap();
    let entries = app.words.as_object().unwrap();
    // Text after a further dot is about a command.
    let commands =
        entries.keys().filter_map(|key| key.strip_prefix("command.").filter(|name| !name.contains('.')));
    let missing: Vec<_> = commands.filter(|name| !text.contains(&format!("`command:/{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(app.keys.len() > 15, "{:?}", app.keys);
    let is_listed =
        |key: &String| text.contains(&format!("| `key:{}` |", key.split(" … ").next().unwrap_or(key)));
    let missing: Vec<_> = app.keys.iter().filter(|key| !is_listed(key)).collect();
    assert!(missing.is_empty(), "no line for {missing:?}");
}

#[test]
fn the_settings_pages_for_the_agent_match_the_page() {
    let app = App::read();
    let mut offered: Vec<&str> = SettingsPage::ALL.iter().map(|page| page.name()).collect();
    let mut pages = app.pages();
    offered.sort_unstable();
    pages.sort_unstable();
    assert_eq!(offered, pages);
}
