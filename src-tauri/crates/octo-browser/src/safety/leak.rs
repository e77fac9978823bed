//! Detects data that an address would disclose to its server: a page can make the model put text that it read
//! elsewhere into an address.

use super::{
    memory::{PageMemory, SiteQuote, readings},
    site::Site,
};
use idna::uts46::{AsciiDenyList, Hyphens, Uts46};
use url::{Host, Url};

/// Maximum length of query and fragment that needs no question, in characters; enough for a search, a filter
/// and a few ids.
const MAX_QUERY: usize = 200;
/// Maximum length of a path that needs no question, in characters.
const MAX_PATH: usize = 400;
/// Maximum length of a host that needs no question, in characters. The hosts that services assign are shorter;
/// DNS allows 253.
const MAX_HOST: usize = 120;
/// Maximum length of a word in a host that needs no question. Natural words are shorter; DNS allows 63.
const MAX_HOST_WORD: usize = 40;
/// Minimum length of a run treated as encoded data.
const MIN_ENCODED_RUN: usize = 32;

/// The reason why an address is not opened without a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressLeak {
    /// It contains more data than an ordinary address.
    Long {
        /// Number of characters.
        characters: usize,
    },
    /// It contains encoded data or a key.
    Encoded,
    /// It contains an e-mail address.
    Mail,
    /// It contains a card or account number.
    Number,
    /// It contains text read at another site.
    Quote(SiteQuote),
}

/// Prefixes of keys and tokens that services issue.
const KEY_PREFIXES: [&str; 22] = [
    "sk-",
    "sk_live_",
    "pk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "akia",
    "asia",
    "aiza",
    "ya29.",
    "eyj",
    "npm_",
    "pypi-",
    "hf_",
    "-----begin",
    "ssh-rsa",
];

/// Minimum length of a host label part that can be a piece of encoded data.
const MIN_LABEL_PART: usize = 6;

/// Returns the data that a model-written address would disclose. An address that some page showed discloses
/// nothing new.
pub(crate) fn leak(url: &Url, memory: &PageMemory) -> Option<AddressLeak> {
    if memory.has_address(url.as_str()) {
        return None;
    }
    let host = HostName::of(url);
    let (query, fragment) = (url.query().unwrap_or_default(), url.fragment().unwrap_or_default());
    let combined = [url.path(), query, fragment].join(" ");
    let destination = Site::of(url);
    let quote = host.readings().find_map(|text| memory.find_quote(&text, destination.as_ref()));
    if let Some(quote) = quote.or_else(|| memory.find_quote(&combined, destination.as_ref())) {
        return Some(AddressLeak::Quote(quote));
    }
    let readings: Vec<String> = readings(&combined);
    if readings.iter().any(|text| contains_mail_address(text)) {
        return Some(AddressLeak::Mail);
    }
    if readings.iter().chain([&host.labels_with_spaces()]).any(|text| contains_card_number(text)) {
        return Some(AddressLeak::Number);
    }
    // Hosts are not searched for keys: `asia-` is a key prefix but also begins many cloud regions, and the rest
    // of a key is found as encoded data anyway.
    if readings.iter().any(|text| contains_key(text))
        || contains_encoded_run(&combined)
        || host.contains_encoded_data()
    {
        return Some(AddressLeak::Encoded);
    }
    if host.characters() > MAX_HOST {
        return Some(AddressLeak::Long { characters: host.characters() });
    }
    let characters = query.chars().count() + fragment.chars().count();
    if characters > MAX_QUERY {
        return Some(AddressLeak::Long { characters });
    }
    let path = url.path().chars().count();
    (path > MAX_PATH).then_some(AddressLeak::Long { characters: path })
}

/// The host name of an address, which the owner of its domain sees in full. Empty for an IP address.
struct HostName {
    labels: Vec<String>,
}

impl HostName {
    fn of(url: &Url) -> Self {
        let Some(Host::Domain(name)) = url.host() else { return Self { labels: Vec::new() } };
        Self { labels: name.split('.').filter(|label| !label.is_empty()).map(decode_punycode).collect() }
    }

    /// Returns the labels, separated by spaces.
    fn labels_with_spaces(&self) -> String {
        self.labels.join(" ")
    }

    /// Returns the labels as words, and joined in the ways in which a code may be spread over several of them.
    fn readings(&self) -> impl Iterator<Item = String> {
        const MAX_JOINED_LABELS: usize = 8;
        let join_runs = |separator: &str| {
            let runs = (1..=MAX_JOINED_LABELS).flat_map(|size| self.labels.windows(size));
            runs.map(|labels| labels.join(separator)).collect::<Vec<_>>().join(" ")
        };
        [self.labels_with_spaces(), join_runs("-"), join_runs("."), join_runs("")].into_iter()
    }

    fn characters(&self) -> usize {
        self.labels.iter().map(|label| label.chars().count() + 1).sum()
    }

    /// Returns whether it contains encoded data, in one label or spread over several.
    fn contains_encoded_data(&self) -> bool {
        // Punycode labels are decoded to their own script.
        let all_words = || self.labels.iter().flat_map(|label| label.split(['-', '_']));
        let long_enough = |word: &&str| word.is_ascii() && word.len() >= MIN_LABEL_PART;
        let total_length = |is: fn(&str) -> bool| {
            all_words().filter(long_enough).filter(|word| is(word)).map(str::len).sum()
        };
        let (mixed, unpronounceable): (usize, usize) =
            (total_length(is_mixed), total_length(is_unpronounceable));
        // Some real words are unpronounceable. Next to non-words they count as pieces of encoded data.
        mixed > 0 && mixed + unpronounceable >= MIN_ENCODED_RUN
            || all_words().any(|word| word.chars().count() > MAX_HOST_WORD || is_hex_run(word))
    }
}

/// Decodes a punycode label to its own letters.
fn decode_punycode(label: &str) -> String {
    let (letters, outcome) = Uts46::new().to_unicode(label.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow);
    if outcome.is_ok() { letters.into_owned() } else { label.to_owned() }
}

fn is_mixed(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Returns whether a word has only letters, with more consecutive consonants than real words.
fn is_unpronounceable(word: &str) -> bool {
    const MIN_CONSONANT_RUN: usize = 5;
    word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && word.split(['a', 'e', 'i', 'o', 'u', 'y']).any(|run| run.len() >= MIN_CONSONANT_RUN)
}

fn contains_mail_address(text: &str) -> bool {
    text.match_indices('@').any(|(index, _)| {
        let (before, after) = text.split_at(index);
        let name = before.chars().next_back().is_some_and(|character| character.is_alphanumeric());
        let domain: String = after
            .chars()
            .skip(1)
            .take_while(|character| character.is_alphanumeric() || matches!(character, '.' | '-'))
            .collect();
        // `@1.2.3` is a version, as in the paths of package servers.
        let top_level = domain.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
        name && domain.contains('.') && top_level.len() >= 2 && top_level.chars().all(char::is_alphabetic)
    })
}

/// Returns whether a text contains a card number: 14 to 19 digits with a valid check digit. A time in milliseconds
/// has 13.
fn contains_card_number(text: &str) -> bool {
    let compact: String = text.chars().filter(|character| !matches!(character, ' ' | '-')).collect();
    compact
        .split(|character: char| !character.is_ascii_digit())
        .filter(|digits| (14..=19).contains(&digits.len()))
        .any(has_check_digit)
}

fn has_check_digit(digits: &str) -> bool {
    let sum: u32 = digits
        .chars()
        .rev()
        .filter_map(|digit| digit.to_digit(10))
        .enumerate()
        .map(|(index, digit)| match (index % 2, digit * 2) {
            (0, _) => digit,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    sum > 0 && sum.is_multiple_of(10)
}

fn contains_key(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    KEY_PREFIXES.iter().any(|prefix| {
        lower.match_indices(prefix).any(|(index, _)| {
            let (before, rest) = lower.split_at(index);
            let is_long_enough =
                rest.chars().take_while(|character| is_key_character(*character)).count() >= 20;
            let is_at_word_start =
                !before.chars().next_back().is_some_and(|character| character.is_alphanumeric());
            is_at_word_start && (is_long_enough || prefix.contains("begin"))
        })
    })
}

fn is_key_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Returns whether a text contains a run that looks like encoded data: hexadecimal, or mixed-case letters with
/// digits. Words joined by hyphens do not count, nor do UUIDs with four hyphens.
fn contains_encoded_run(text: &str) -> bool {
    text.split(|character: char| !(character.is_ascii_alphanumeric() || matches!(character, '+' | '_' | '%')))
        .any(|run| {
            let run = run.trim_matches('_');
            let digits = run.chars().filter(char::is_ascii_digit).count();
            let upper = run.chars().filter(char::is_ascii_uppercase).count();
            let lower = run.chars().filter(char::is_ascii_lowercase).count();
            let mixed = run.len() >= MIN_ENCODED_RUN
                && !run.contains('%')
                && upper >= 4
                && lower >= 4
                && (digits >= 2 || upper >= 8);
            mixed || is_hex_run(run) || is_base32_run(run)
        })
}

fn is_hex_run(run: &str) -> bool {
    // Commit hashes have 40 digits and appear in many addresses; other long runs do not.
    let is_hex = run.chars().all(|digit| digit.is_ascii_hexdigit());
    is_hex && run.len() >= MIN_ENCODED_RUN && run.len() != 40
}

fn is_base32_run(run: &str) -> bool {
    let is_base32 = run.chars().all(|sign| sign.is_ascii_uppercase() || matches!(sign, '2'..='7'));
    is_base32 && run.len() >= MIN_ENCODED_RUN && run.chars().any(|sign| sign.is_ascii_digit())
}
