//! An agent's questions about the settings. It changes none: it proposes, and the person decides.

use octo_protocol::Settings;
use octo_tools::{SettingsQuery, ToolError};
use serde::Deserialize;
use std::{collections::BTreeMap, fmt, sync::LazyLock};

pub(super) fn answer(settings: &Settings, query: SettingsQuery) -> Result<String, ToolError> {
    // It contains no keys or passwords: those are in the keychain.
    let settings = serde_json::to_value(settings).map_err(|error| ToolError::new(error.to_string()))?;
    let serde_json::Value::Object(settings) = settings else { return Ok(String::new()) };
    match query {
        SettingsQuery::List => Ok(settings.iter().map(|(key, value)| format!("{key}: {value}\n")).collect()),
        SettingsQuery::Show { key } => match settings.get(&key) {
            Some(value) => Ok(format!("{key}: {value}")),
            None => {
                let pages: Vec<&str> = settings.keys().map(String::as_str).collect();
                Err(ToolError::new(format!("There is no setting {key}. There are: {}.", pages.join(", "))))
            }
        },
        SettingsQuery::Open { page, proposal } => {
            let page = page.name();
            let advice = match &proposal {
                Some((key, value)) => {
                    check_proposal(page, key, value)?;
                    format!(
                        "There the person sees that you propose {key}: {value}, and sets it or leaves it."
                    )
                }
                None => "Tell the person what to set there.".to_owned(),
            };
            Ok(format!(
                "The card of this call has a button that opens Settings > {page}. Nothing was changed. {advice}"
            ))
        }
    }
}

/// The values that can be proposed for a setting.
#[derive(Deserialize)]
#[serde(untagged)]
enum Range {
    Words { may: Vec<String> },
    Numbers { from: u64, to: u64 },
}

impl Range {
    fn contains(&self, value: &str) -> bool {
        match self {
            Self::Words { may } => may.iter().any(|choice| choice == value),
            Self::Numbers { from, to } => {
                value.parse().is_ok_and(|number: u64| (*from..=*to).contains(&number))
            }
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words { may } => write!(formatter, "one of {}", may.join(", ")),
            Self::Numbers { from, to } => write!(formatter, "a number from {from} to {to}"),
        }
    }
}

/// The settings that can be proposed, by page and key: those whose value is a single word or number, excluding
/// all that decide which actions run without asking, where data is sent, cost limits, or what data is kept. The
/// page reads the same list, which also gives each setting's position.
static PROPOSED: LazyLock<BTreeMap<String, Range>> = LazyLock::new(|| {
    // An invalid list, which its test rules out, proposes nothing.
    serde_json::from_str(include_str!("proposed-settings.json")).unwrap_or_default()
});

/// Whether a value can be proposed for a setting of a page.
fn check_proposal(page: &str, key: &str, value: &str) -> Result<(), ToolError> {
    let Some(range) = PROPOSED.get(&format!("{page} {key}")) else {
        let settings: Vec<&str> = PROPOSED.keys().map(String::as_str).collect();
        return Err(ToolError::new(format!(
            "Not done: {key} of {page} cannot be proposed. These can: {}. For anything else, open the page and tell the \
             person what to set.",
            settings.join(", ")
        )));
    };
    if range.contains(value) {
        Ok(())
    } else {
        Err(ToolError::new(format!("Not done: {key} cannot be {value}: it is {range}.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::SettingsPage;

    fn open(page: &str, proposal: Option<(&str, &str)>) -> Result<String, ToolError> {
        let proposal = proposal.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let page = SettingsPage::by_name(page).unwrap();
        answer(&Settings::default(), SettingsQuery::Open { page, proposal })
    }

    /// Returns the settings the page would save, with the value at the place the list names.
    fn set(path: &[String], value: serde_json::Value) -> Result<Settings, serde_json::Error> {
        let mut settings = serde_json::to_value(Settings::default())?;
        let target = path.iter().fold(&mut settings, |object, name| {
            object.get_mut(name).unwrap_or_else(|| panic!("there is no {name} at {path:?}"))
        });
        *target = value;
        serde_json::from_value(settings)
    }

    #[test]
    fn each_value_that_can_be_proposed_is_one_the_setting_can_have_and_no_other_is() {
        #[derive(Deserialize)]
        struct SettingEntry {
            at: Vec<String>,
            #[serde(flatten)]
            range: Range,
        }
        let list: BTreeMap<String, SettingEntry> =
            serde_json::from_str(include_str!("proposed-settings.json")).unwrap();
        for (setting, SettingEntry { at, range }) in &list {
            let (page, key) = setting.split_once(' ').unwrap();
            let (fit, unfit): (Vec<serde_json::Value>, Vec<String>) = match range {
                Range::Words { may } => (
                    may.iter().map(|choice| choice.as_str().into()).collect(),
                    vec!["maybe".to_owned(), "1".to_owned()],
                ),
                Range::Numbers { from, to } => (
                    [*from, *to].map(serde_json::Value::from).to_vec(),
                    vec![(from - 1).to_string(), (to + 1).to_string(), "many".to_owned()],
                ),
            };
            for value in fit {
                let value_text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let answer = open(page, Some((key, &value_text))).unwrap();
                assert!(
                    answer.contains(&format!("you propose {key}: {value_text}")),
                    "{setting} {value_text}: {answer}"
                );
                let settings = set(at, value.clone()).unwrap();
                // Reading replaces invalid values with valid ones.
                let stored = serde_json::to_value(settings).unwrap();
                assert_eq!(at.iter().fold(&stored, |inside, name| &inside[name]), &value, "{setting}");
            }
            for value in unfit {
                open(page, Some((key, &value))).expect_err(&format!("{setting} {value}"));
            }
        }
    }

    #[test]
    fn a_page_is_opened_without_a_proposal_too() {
        assert!(open("rules", None).unwrap().contains("opens Settings > rules"));
    }

    #[test]
    fn what_decides_what_may_run_is_not_proposed_nor_is_nonsense() {
        for (page, key, value) in [
            ("behaviour", "confinement", "off"),
            ("general", "default_mode", "autonomous"),
            ("general", "theme", "dark"),
            ("appearance", "theme", "pink"),
            ("behaviour", "live_turns", "99"),
            ("behaviour", "live_turns", "many"),
            ("behaviour", "keep_warm", "1"),
            ("behaviour", "trash_days", "1"),
            ("models", "proxy", "off"),
            ("knowledge", "other_agents", "on"),
            ("general", "at", "on"),
        ] {
            let error = open(page, Some((key, value))).unwrap_err().text;
            assert!(error.starts_with("Not done: "), "{page} {key} {value}: {error}");
        }
    }
}
