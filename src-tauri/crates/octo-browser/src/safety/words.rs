//! Words on a control that announce its effect, in the languages of web pages.
//!
//! A page can declare any language, so all languages are always searched; the declaration can only reduce false
//! alarms for the few words that mean something else in another language.

use super::fold::{fold, fold_look_alikes, fold_look_alikes_first};
use std::{collections::HashMap, sync::LazyLock};

/// An irreversible effect of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ControlEffect {
    /// Buys, orders, pays, books or donates.
    Buy,
    /// Sends a message or other content to another person.
    Send,
    /// Makes something public.
    Publish,
    /// Deletes or removes.
    Delete,
    /// Moves money or goods.
    Transfer,
    /// Confirms, signs or consents.
    Confirm,
    /// Starts a subscription.
    Subscribe,
    /// Ends a subscription or cancels an order.
    Unsubscribe,
    /// Closes an account.
    CloseAccount,
    /// Installs a program.
    Install,
}

/// The words; their sources are in the file itself.
const LEXICON_TEXT: &str = include_str!("words/sinks.txt");

/// Languages whose words are matched inside texts, because they are written without gaps or attached to other
/// words.
const UNSPACED_LANGUAGES: [&str; 6] = ["zh", "ja", "ko", "th", "ar", "hi"];

/// A word or phrase.
#[derive(Clone, Debug)]
struct LexiconEntry {
    effect: ControlEffect,
    language: &'static str,
    words: Vec<String>,
    joined: String,
    matching: WordMatch,
}

/// The way in which an entry must occur in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordMatch {
    /// Anywhere in a text.
    Words,
    /// Anywhere in a text, the last word only as a prefix.
    Beginning,
    /// Only as the whole text.
    Whole,
    /// Anywhere in a text, unless the page declares another language, in which the word may mean something else.
    Ambiguous,
}

/// All words in folded form.
#[derive(Default)]
struct Lexicon {
    languages: Vec<&'static str>,
    /// Entries by their first word; phrases also by their joined words.
    by_word: HashMap<String, Vec<LexiconEntry>>,
    prefix_entries: Vec<LexiconEntry>,
    infix_entries: Vec<LexiconEntry>,
    /// Harmless phrases, by their first word.
    harmless: HashMap<String, Vec<Vec<String>>>,
    harmless_infixes: Vec<String>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::parse(LEXICON_TEXT));

impl Lexicon {
    fn parse(text: &'static str) -> Self {
        let mut lexicon = Self::default();
        let mut language = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                language = name;
                lexicon.languages.push(name);
            } else if let Some((kind, words)) = line.split_once('=') {
                let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
                match effect_of_name(kind.trim()) {
                    Some(effect) => words.for_each(|word| lexicon.add(language, effect, word)),
                    None => words.for_each(|word| lexicon.add_harmless(language, word)),
                }
            }
        }
        lexicon
    }

    fn add(&mut self, language: &'static str, effect: ControlEffect, word: &str) {
        let (word, matching) = if let Some(word) = word.strip_suffix('*') {
            (word, WordMatch::Beginning)
        } else if let Some(word) = word.strip_prefix('=') {
            (word, WordMatch::Whole)
        } else if let Some(word) = word.strip_prefix('~') {
            (word, WordMatch::Ambiguous)
        } else {
            (word, WordMatch::Words)
        };
        let words = plain_words(&fold_look_alikes(word));
        let joined = words.concat();
        let entry = LexiconEntry { effect, language, joined: joined.clone(), words, matching };
        if UNSPACED_LANGUAGES.contains(&language) {
            self.infix_entries.push(entry);
            return;
        }
        if matching == WordMatch::Beginning {
            self.prefix_entries.push(entry);
            return;
        }
        let Some(first) = entry.words.first().cloned() else { return };
        if entry.words.len() > 1 {
            self.by_word.entry(joined).or_default().push(entry.clone());
        }
        self.by_word.entry(first).or_default().push(entry);
    }

    fn add_harmless(&mut self, language: &str, phrase: &str) {
        let words = plain_words(&fold_look_alikes(phrase));
        if UNSPACED_LANGUAGES.contains(&language) {
            self.harmless_infixes.push(words.concat());
        } else if let Some(first) = words.first().cloned() {
            self.harmless.entry(first).or_default().push(words);
        }
    }
}

fn effect_of_name(name: &str) -> Option<ControlEffect> {
    Some(match name {
        "buy" => ControlEffect::Buy,
        "send" => ControlEffect::Send,
        "publish" => ControlEffect::Publish,
        "delete" => ControlEffect::Delete,
        "transfer" => ControlEffect::Transfer,
        "confirm" => ControlEffect::Confirm,
        "subscribe" => ControlEffect::Subscribe,
        "unsubscribe" => ControlEffect::Unsubscribe,
        "close" => ControlEffect::CloseAccount,
        "install" => ControlEffect::Install,
        _ => return None,
    })
}

/// A word of a text.
#[derive(Clone, Debug)]
struct TextWord {
    text: String,
    /// True if no space separates it from the previous word, but at most punctuation.
    is_attached: bool,
    /// True if it is part of a harmless phrase.
    is_harmless: bool,
}

/// Returns the effect that a text announces, if any; of several, the first in the order of [`ControlEffect`]. `language`
/// is the page's declared language (BCP 47), if any.
pub(crate) fn effect_of(text: &str, language: Option<&str>) -> Option<ControlEffect> {
    let reversed = text.contains(['\u{202d}', '\u{202e}']).then(|| text.chars().rev().collect::<String>());
    let spaced = space_before_capitals(text);
    let texts = [Some(text), (spaced != text).then_some(spaced.as_str()), reversed.as_deref()];
    texts
        .into_iter()
        .flatten()
        .flat_map(|text| {
            let (folded, look_alikes_first) = (fold_look_alikes(text), fold_look_alikes_first(text));
            let has_special_letters = !fold(text).eq_ignore_ascii_case(text.trim());
            let alternative = (look_alikes_first != folded)
                .then(|| effect_in(&look_alikes_first, language, has_special_letters))
                .flatten();
            [effect_in(&folded, language, has_special_letters), alternative]
        })
        .flatten()
        .min()
}

fn effect_in(folded: &str, language: Option<&str>, has_special_letters: bool) -> Option<ControlEffect> {
    let lexicon = &*LEXICON;
    let all_words = parse_words(folded, lexicon);
    let words = all_words.as_slice();
    let word_effects =
        words.iter().enumerate().filter(|(_, word)| !word.is_harmless).flat_map(|(index, word)| {
            let entries = lexicon.by_word.get(&word.text).into_iter().flatten();
            let found = entries.filter(move |entry| {
                applies(entry, language, has_special_letters)
                    && (entry.joined == word.text || matches_at(words, index, &entry.words))
                    && (entry.matching != WordMatch::Whole || words.len() == entry.words.len())
            });
            let prefixes = lexicon
                .prefix_entries
                .iter()
                .filter(move |entry| matches_prefix_at(words, index, &entry.words));
            found.chain(prefixes).map(|entry| entry.effect)
        });
    let compact = compact(folded, lexicon);
    let infixes = lexicon.infix_entries.iter().filter(|entry| match entry.matching {
        WordMatch::Whole => compact == entry.joined,
        WordMatch::Words | WordMatch::Beginning | WordMatch::Ambiguous => compact.contains(&entry.joined),
    });
    word_effects.chain(infixes.map(|entry| entry.effect)).min()
}

fn applies(entry: &LexiconEntry, language: Option<&str>, has_special_letters: bool) -> bool {
    if entry.matching != WordMatch::Ambiguous || has_special_letters {
        return true;
    }
    let primary = language.and_then(|language| language.split(['-', '_']).next()).unwrap_or_default();
    let is_known_language = LEXICON.languages.iter().any(|listed| primary.eq_ignore_ascii_case(listed));
    !is_known_language || primary.eq_ignore_ascii_case(entry.language)
}

fn matches_at(words: &[TextWord], index: usize, pattern: &[String]) -> bool {
    words
        .get(index..index + pattern.len())
        .is_some_and(|found| found.iter().zip(pattern).all(|(word, pattern)| word.text == *pattern))
}

/// Like [`matches_at`], but the last word only needs to match as a prefix.
fn matches_prefix_at(words: &[TextWord], index: usize, pattern: &[String]) -> bool {
    let Some((last, before)) = pattern.split_last() else { return false };
    matches_at(words, index, before)
        && words
            .get(index + before.len())
            .is_some_and(|word| !word.is_harmless && word.text.starts_with(last.as_str()))
}

/// Splits a folded text into words, marking those of harmless phrases. A row of single letters also counts as
/// one word, as do words separated only by punctuation.
fn parse_words(folded: &str, lexicon: &Lexicon) -> Vec<TextWord> {
    let mut words: Vec<TextWord> = Vec::new();
    let mut is_attached = true;
    for part in split_words(folded) {
        match part {
            TextPart::Space => is_attached = false,
            TextPart::Sign => {}
            TextPart::Word(text) => {
                words.push(TextWord { text, is_attached, is_harmless: false });
                is_attached = true;
            }
        }
    }
    for index in 0..words.len() {
        let Some(phrases) = words.get(index).and_then(|word| lexicon.harmless.get(&word.text)) else {
            continue;
        };
        for phrase in phrases {
            if matches_at(&words, index, phrase) {
                words.iter_mut().skip(index).take(phrase.len()).for_each(|word| word.is_harmless = true);
            }
        }
    }
    let mut joined_words: Vec<TextWord> = Vec::new();
    for run in runs(&words, |_, next| next.is_attached) {
        joined_words.push(join(run));
    }
    for run in runs(&words, |word, next| is_single(word) && is_single(next)) {
        joined_words.push(join(run));
    }
    // Check these one by one, since no phrase continues after them.
    for word in joined_words {
        words.push(TextWord { text: String::new(), is_attached: false, is_harmless: true });
        words.push(word);
    }
    words
}

/// Returns runs of two or more words that belong together.
fn runs(words: &[TextWord], belongs_together: impl Fn(&TextWord, &TextWord) -> bool) -> Vec<&[TextWord]> {
    words.chunk_by(belongs_together).filter(|run| run.len() > 1).collect()
}

/// Returns whether a word is one letter. An `m` folds to the two letters `rn`.
fn is_single(word: &TextWord) -> bool {
    word.text == "rn" || word.text.chars().count() == 1
}

fn join(run: &[TextWord]) -> TextWord {
    TextWord {
        text: run.iter().map(|word| word.text.as_str()).collect(),
        is_attached: false,
        is_harmless: run.iter().all(|word| word.is_harmless),
    }
}

enum TextPart {
    Word(String),
    Space,
    Sign,
}

fn split_words(folded: &str) -> Vec<TextPart> {
    let mut parts = Vec::new();
    let mut word = String::new();
    for character in folded.chars() {
        // An apostrophe is part of a word.
        if is_letter(character) {
            word.push(character);
        } else if !is_apostrophe(character) {
            if !word.is_empty() {
                parts.push(TextPart::Word(std::mem::take(&mut word)));
            }
            parts.push(if character.is_whitespace() { TextPart::Space } else { TextPart::Sign });
        }
    }
    if !word.is_empty() {
        parts.push(TextPart::Word(word));
    }
    parts
}

fn plain_words(folded: &str) -> Vec<String> {
    let parts = split_words(folded).into_iter();
    parts.filter_map(|part| if let TextPart::Word(word) = part { Some(word) } else { None }).collect()
}

/// Returns whether a character is a letter, a digit, or an Indic or Thai sign that occurs inside words.
fn is_letter(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '\u{93c}' | '\u{94d}' | '\u{e31}'..='\u{e4e}')
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '`' | '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{b4}')
}

/// Returns only the letters, with harmless phrases cut out. The result is empty if all letters are ASCII, because
/// words of such scripts are matched one by one.
fn compact(folded: &str, lexicon: &Lexicon) -> String {
    let mut text: String = folded.chars().filter(|character| is_letter(*character)).collect();
    if text.is_ascii() {
        return String::new();
    }
    for phrase in &lexicon.harmless_infixes {
        if text.contains(phrase.as_str()) {
            text = text.replace(phrase.as_str(), "\n");
        }
    }
    text
}

/// Inserts a gap before each capital after a lower-case letter: `btnSendMail` becomes three words.
fn space_before_capitals(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut follows_lowercase = false;
    for character in text.chars() {
        if follows_lowercase && character.is_uppercase() {
            spaced.push(' ');
        }
        follows_lowercase = character.is_lowercase();
        spaced.push(character);
    }
    spaced
}
