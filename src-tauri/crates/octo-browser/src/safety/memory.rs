//! [`PageMemory`]: records which long texts the model has read at which site, so that they are not carried to
//! another one unnoticed. Keeps only hashes, of the latest text of the latest sites.
//!
//! A page can embed any number of frames of any sites. Text read only in frames has its own quota, and within
//! it the page with the most entries is evicted first: no page can make the memory forget text read elsewhere.

use super::{fold::fold, site::Site};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::percent_decode_str;
use std::{
    collections::{HashSet, VecDeque},
    hash::{BuildHasher, RandomState},
};

/// Number of consecutive words per hash. A Chinese, Japanese or Thai character counts as a word.
const SHINGLE_WORDS: usize = 6;
/// Number of consecutive words that make a long quote: more than a name, a title or a common phrase.
const QUOTE_WORDS: usize = 12;
/// Number of page sites remembered.
const MAX_SITES: usize = 16;
/// Number of additional sites that were read only in frames.
const MAX_FRAME_SITES: usize = 32;
/// Number of hashes kept per site; roughly the number of words.
const MAX_HASHES_PER_SITE: usize = 16_384;
/// Minimum length of an alphanumeric word that counts as a code: a key, a token, a booking.
const MIN_CODE_CHARS: usize = 16;
/// Minimum number of digits of an account or card number.
const MIN_NUMBER_DIGITS: usize = 12;
/// Maximum length of a displayed quote, in characters.
const MAX_EXCERPT: usize = 120;

/// A text read at one site and about to be sent to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteQuote {
    /// The site it was read at.
    pub from: Site,
    /// Its beginning, folded; for the person, not for logs.
    pub excerpt: String,
}

/// The record of texts read, by site.
#[derive(Clone, Debug, Default)]
pub struct PageMemory {
    hasher: RandomState,
    sites: VecDeque<SiteTexts>,
}

/// The role in which a site was read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ReadRole {
    /// As a page, even if it was also a frame.
    Page,
    /// Only as frames of this page; `None` for pages without an origin.
    FrameOf(Option<Site>),
}

#[derive(Clone, Debug)]
struct SiteTexts {
    site: Site,
    role: ReadRole,
    hashes: HashSet<u64>,
    insertion_order: VecDeque<u64>,
}

impl SiteTexts {
    fn learn(&mut self, hash: u64) {
        if !self.hashes.insert(hash) {
            return;
        }
        self.insertion_order.push_back(hash);
        if self.insertion_order.len() > MAX_HASHES_PER_SITE
            && let Some(oldest) = self.insertion_order.pop_front()
        {
            self.hashes.remove(&oldest);
        }
    }
}

impl PageMemory {
    /// Records that the model was shown a text of a site's page.
    pub fn record_text(&mut self, site: &Site, text: &str) {
        self.learn(site, ReadRole::Page, text);
    }

    /// Records that the model was shown a page and its frames, the page first: each text with its origin.
    pub fn record_page(&mut self, texts: &[(&str, String)]) {
        let page = texts.first().and_then(|(origin, _)| origin.parse::<Site>().ok());
        for (origin, text) in texts {
            let Ok(site) = origin.parse::<Site>() else { continue };
            let role =
                if page.as_ref() == Some(&site) { ReadRole::Page } else { ReadRole::FrameOf(page.clone()) };
            self.learn(&site, role, text);
        }
    }

    fn learn(&mut self, site: &Site, role: ReadRole, text: &str) {
        let units = split_units(&fold(text));
        let hashes: Vec<u64> = units
            .windows(SHINGLE_WORDS)
            .map(|window| self.hash(window))
            .chain(codes(text).iter().map(|code| self.hash_code(code)))
            .chain(addresses(text).map(|address| self.hasher.hash_one(address)))
            .collect();
        // An empty text leaves nothing to remember and evicts nothing.
        if hashes.is_empty() {
            return;
        }
        let index = self.sites.iter().position(|texts| texts.site == *site);
        let mut texts = index.and_then(|index| self.sites.remove(index)).unwrap_or_else(|| SiteTexts {
            site: site.clone(),
            role: role.clone(),
            hashes: HashSet::new(),
            insertion_order: VecDeque::new(),
        });
        // A frame in two pages counts towards the one with fewer entries, so the other cannot evict it.
        let keeps_role = texts.role == ReadRole::Page
            || role != ReadRole::Page && self.count_with_role(&texts.role) <= self.count_with_role(&role);
        if !keeps_role {
            texts.role = role;
        }
        hashes.into_iter().for_each(|hash| texts.learn(hash));
        self.sites.push_back(texts);
        self.make_room();
    }

    fn count_with_role(&self, role: &ReadRole) -> usize {
        self.sites.iter().filter(|texts| texts.role == *role).count()
    }

    fn make_room(&mut self) {
        let pages = self.count_with_role(&ReadRole::Page);
        if pages > MAX_SITES {
            self.forget_oldest(&ReadRole::Page);
        } else if self.sites.len() - pages > MAX_FRAME_SITES {
            let frames = self.sites.iter().map(|texts| &texts.role).filter(|role| **role != ReadRole::Page);
            if let Some(fullest_role) = frames.max_by_key(|role| self.count_with_role(role)).cloned() {
                self.forget_oldest(&fullest_role);
            }
        }
    }

    fn forget_oldest(&mut self, role: &ReadRole) {
        if let Some(index) = self.sites.iter().position(|texts| texts.role == *role) {
            self.sites.remove(index);
        }
    }

    /// Returns the long quote of another site's text, or a code from there, that a text sent to `to` contains.
    /// `None` for `to` means a target without an origin, at which nothing was read.
    pub fn find_quote(&self, text: &str, to: Option<&Site>) -> Option<SiteQuote> {
        let texts = readings(text);
        texts.iter().find_map(|text| self.find_literal_quote(text, to))
    }

    fn find_literal_quote(&self, text: &str, to: Option<&Site>) -> Option<SiteQuote> {
        let target_texts = to.and_then(|to| self.sites.iter().find(|texts| texts.site == *to));
        let is_known_to_target =
            |hash: &u64| target_texts.is_some_and(|target_texts| target_texts.hashes.contains(hash));
        let units = split_units(&fold(text));
        let hashes: Vec<u64> = units.windows(SHINGLE_WORDS).map(|window| self.hash(window)).collect();
        let codes = codes(text);
        self.sites.iter().filter(|texts| Some(&texts.site) != to).find_map(|texts| {
            let is_from_site = |hash: &u64| texts.hashes.contains(hash) && !is_known_to_target(hash);
            let code = codes.iter().find(|code| is_from_site(&self.hash_code(code)));
            let excerpt = code.cloned().or_else(|| {
                let first = find_run(&hashes, QUOTE_WORDS - SHINGLE_WORDS + 1, is_from_site)?;
                Some(units.get(first..first + QUOTE_WORDS)?.join(" "))
            })?;
            Some(SiteQuote { from: texts.site.clone(), excerpt: excerpt.chars().take(MAX_EXCERPT).collect() })
        })
    }

    /// Returns whether some page showed exactly this address: following it discloses nothing new.
    pub fn has_address(&self, address: &str) -> bool {
        let hash = self.hasher.hash_one(address);
        self.sites.iter().any(|texts| texts.hashes.contains(&hash))
    }

    fn hash(&self, window: &[String]) -> u64 {
        self.hasher.hash_one(window)
    }

    /// Hashes a code in lower case, as it appears in a host name.
    fn hash_code(&self, code: &str) -> u64 {
        self.hasher.hash_one(code.to_ascii_lowercase())
    }
}

/// Returns the index at which the first run of `length` matching hashes starts.
fn find_run(hashes: &[u64], length: usize, matches: impl Fn(&u64) -> bool) -> Option<usize> {
    let mut run_length = 0;
    for (index, hash) in hashes.iter().enumerate() {
        run_length = if matches(hash) { run_length + 1 } else { 0 };
        if run_length == length {
            return Some(index + 1 - length);
        }
    }
    None
}

/// Splits a text into words or, in scripts without gaps, into characters.
fn split_units(folded: &str) -> Vec<String> {
    let mut units = Vec::new();
    let mut word = String::new();
    for character in folded.chars() {
        let stands_alone = is_unspaced_script(character);
        if (stands_alone || !character.is_alphanumeric()) && !word.is_empty() {
            units.push(std::mem::take(&mut word));
        }
        if stands_alone {
            units.push(character.to_string());
        } else if character.is_alphanumeric() {
            word.push(character);
        }
    }
    if !word.is_empty() {
        units.push(word);
    }
    units
}

/// Returns whether a character belongs to a script written without gaps: Thai to Myanmar, Khmer, kana and Han.
fn is_unspaced_script(character: char) -> bool {
    let in_script = matches!(
        character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}'
    );
    in_script && character.is_alphanumeric()
}

/// Returns the words that count as codes, and long numbers however they are grouped.
fn codes(text: &str) -> Vec<String> {
    let mut codes = Vec::new();
    for word in text.split(|character: char| {
        !(character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.' | '+' | '/'))
    }) {
        let word = word.trim_matches(|character: char| !character.is_ascii_alphanumeric());
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let letters = word.chars().filter(char::is_ascii_alphabetic).count();
        if word.len() >= MIN_CODE_CHARS && digits >= 3 && letters >= 1 && !word.contains('/') {
            codes.push(word.to_owned());
        }
    }
    let mut digits = String::new();
    let mut gap_length = 0;
    for character in text.chars().chain(['\n']) {
        if character.is_ascii_digit() {
            digits.push(character);
            gap_length = 0;
        } else if matches!(character, ' ' | '-' | '\u{a0}') && gap_length == 0 {
            gap_length = 1;
        } else {
            if digits.len() >= MIN_NUMBER_DIGITS {
                codes.push(digits.clone());
            }
            digits.clear();
            gap_length = 0;
        }
    }
    codes
}

fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| {
        character.is_whitespace() || matches!(character, '"' | '\'' | '<' | '>' | '(' | ')' | '[' | ']')
    })
    .filter(|word| word.starts_with("http://") || word.starts_with("https://"))
    .map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?']))
}

/// Returns the texts as which a text can be read: as it is, decoded, and reversed.
pub(crate) fn readings(text: &str) -> Vec<String> {
    let mut readings = vec![text.to_owned()];
    let spaced = text.replace('+', " ");
    let mut decoded = percent_decode_str(&spaced).decode_utf8_lossy().into_owned();
    // Three rounds are more than any legitimate address needs.
    for _ in 0..3 {
        let decoded_again = percent_decode_str(&decoded).decode_utf8_lossy().into_owned();
        let is_stable = decoded_again == decoded;
        readings.push(std::mem::replace(&mut decoded, decoded_again));
        if is_stable {
            break;
        }
    }
    for word in
        text.split(|character: char| !is_base64(character)).filter(|word| word.len() >= MIN_CODE_CHARS)
    {
        let unpadded = word.trim_end_matches('=');
        let bytes = STANDARD_NO_PAD.decode(unpadded).or_else(|_| URL_SAFE_NO_PAD.decode(unpadded));
        let texts = [bytes.ok(), decode_hex(unpadded)].into_iter().flatten();
        readings.extend(texts.filter_map(|bytes| String::from_utf8(bytes).ok()));
    }
    readings.push(text.chars().rev().collect());
    readings.dedup();
    readings
}

fn is_base64(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '-' | '_' | '=')
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit)).collect())
}
