//! The single catalogue of the words a person sees, in English and Chinese.
//!
//! The JSON files in `words/` at the repository's root are the source; the page imports the same files, except
//! `chats.json` and `native.json`, which only Rust uses. Rust uses words wherever there is no page: headless
//! output, dialogs, notifications, chats. A key is in one file only.

use crate::{ApiError, Language};
use std::{collections::BTreeMap, sync::LazyLock};

// `EN` and `ZH`: the texts of all files of a language (see `build.rs`).
include!(concat!(env!("OUT_DIR"), "/words.rs"));

/// Separates the items of a list argument until rendering replaces it with the language's own separator.
pub const LIST_SEPARATOR: &str = "\u{1f}";

static CATALOGUES: LazyLock<[BTreeMap<String, String>; 2]> = LazyLock::new(|| [read(EN), read(ZH)]);

fn read(files: &[&str]) -> BTreeMap<String, String> {
    // A file that does not parse shows its keys instead of words; this module's tests prevent that.
    files
        .iter()
        .flat_map(|file| serde_json::from_str::<BTreeMap<String, String>>(file).unwrap_or_default())
        .collect()
}

/// Returns the words for `key` with `{name}` placeholders filled from `args`, or the key itself if it is
/// unknown.
pub fn say(language: Language, key: &str, args: &BTreeMap<String, String>) -> String {
    let [en, zh] = &*CATALOGUES;
    let chosen = if resolve_language(language) == Language::Zh { zh } else { en };
    let template = chosen.get(key).or_else(|| en.get(key)).map_or(key, String::as_str);
    let comma = chosen.get("list.comma").map_or(", ", String::as_str);
    fill(template, args).replace(LIST_SEPARATOR, comma)
}

/// Returns the words for an error, followed by its detail.
pub fn explain(language: Language, error: &ApiError) -> String {
    let message = say(language, &format!("error.{}", error.key), &error.args);
    match &error.detail {
        Some(detail) => format!("{message}\n{detail}"),
        None => message,
    }
}

/// Resolves [`Language::System`] to a language: from this run's environment, or from the person's system.
pub fn resolve_language(language: Language) -> Language {
    match language {
        Language::System => {
            let variable = |name| std::env::var(name).ok();
            language_of_locales(
                variable,
                cfg!(any(windows, target_os = "macos")).then(sys_locale::get_locale).flatten(),
            )
        }
        definite => definite,
    }
}

/// On macOS and Windows a program not started from a terminal finds no locale in its environment; there `LANG`
/// also belongs to a terminal and is not the person's choice for their system. `LC_ALL` is deliberate
/// everywhere.
fn language_of_locales(
    variable: impl Fn(&'static str) -> Option<String>,
    system: Option<String>,
) -> Language {
    let non_empty = |name| variable(name).filter(|value| !value.is_empty());
    let locale =
        non_empty("LC_ALL").or(system).or_else(|| non_empty("LC_MESSAGES")).or_else(|| non_empty("LANG"));
    if locale.is_some_and(|value| value.to_ascii_lowercase().starts_with("zh")) {
        Language::Zh
    } else {
        Language::En
    }
}

fn fill(template: &str, args: &BTreeMap<String, String>) -> String {
    let mut output = String::with_capacity(template.len());
    let mut remaining = template;
    while let Some((before, after)) = remaining.split_once('{') {
        output.push_str(before);
        match after.split_once('}') {
            Some((name, tail)) if args.contains_key(name) => {
                output.push_str(&args[name]);
                remaining = tail;
            }
            _ => {
                output.push('{');
                remaining = after;
            }
        }
    }
    output.push_str(remaining);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders(text: &str) -> Vec<String> {
        let mut names: Vec<String> = text
            .split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}'))
            .map(|(name, _)| name.to_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn both_languages_have_the_same_keys_and_placeholders() {
        let [en, zh] = &*CATALOGUES;
        assert!(en.len() > 20, "the English catalogue was read");
        assert_eq!(en.keys().collect::<Vec<_>>(), zh.keys().collect::<Vec<_>>());
        for (key, words) in en {
            assert_eq!(placeholders(words), placeholders(&zh[key]), "placeholders of {key}");
        }
    }

    #[test]
    fn the_language_comes_from_the_option_then_the_system_then_the_terminal() {
        for (lc_all, messages, lang, system, expected) in [
            ("", "", "", None, Language::En),
            ("", "", "zh_CN.UTF-8", None, Language::Zh),
            ("", "zh_TW", "en_US.UTF-8", None, Language::Zh),
            ("C.UTF-8", "", "zh_CN.UTF-8", Some("zh-Hans-CN"), Language::En),
            ("", "", "", Some("zh-Hans-CN"), Language::Zh),
            ("", "", "en_US.UTF-8", Some("ZH-Hant"), Language::Zh),
            ("", "", "zh_CN.UTF-8", Some("de-DE"), Language::En),
        ] {
            let variable = |name: &str| {
                Some(match name {
                    "LC_ALL" => lc_all.to_owned(),
                    "LC_MESSAGES" => messages.to_owned(),
                    _ => lang.to_owned(),
                })
            };
            let found = language_of_locales(variable, system.map(str::to_owned));
            assert_eq!(found, expected, "{lc_all:?} {messages:?} {lang:?} {system:?}");
        }
    }

    #[test]
    fn placeholders_are_filled_and_unknown_ones_stay() {
        let args = BTreeMap::from([("path".to_owned(), "/tmp/{x}".to_owned())]);
        assert_eq!(fill("No {path} and {other}", &args), "No /tmp/{x} and {other}");
    }

    #[test]
    fn a_list_has_the_separator_of_the_language() {
        let error = ApiError::new("skill.unknown_near").arg("name", "mdel").list("near", ["/model", "/mode"]);
        assert!(explain(Language::En, &error).contains("/model, /mode?"));
        assert!(explain(Language::Zh, &error).contains("/model、/mode？"));
    }

    /// Consistent address and the language's own punctuation: half-width marks between Chinese characters look
    /// like errors.
    #[test]
    fn the_chinese_has_one_form_of_address_and_its_own_punctuation() {
        let han = |c: &char| ('\u{4e00}'..='\u{9fff}').contains(c) || "”」）".contains(*c);
        for (key, text) in &CATALOGUES[1] {
            assert!(!text.contains('您'), "{key} says 您, the others 你");
            let chars: Vec<char> = text.chars().collect();
            let ascii_mark = chars.windows(2).find(|pair| han(&pair[0]) && ",;:!?".contains(pair[1]));
            assert_eq!(ascii_mark, None, "{key} has a half-width mark: {text}");
        }
    }

    #[test]
    fn a_secret_is_never_formatted() {
        let secret = crate::Secret::new("sk-live-1234");
        assert!(!format!("{secret:?}").contains("1234"));
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"[redacted]\"");
    }
}
