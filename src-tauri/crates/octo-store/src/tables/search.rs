//! Full-text search of sessions.

use crate::{
    Reader, StoreError,
    column::id,
    key::{self, SessionKey},
    tables::{
        filter::{FilterParams, filtered},
        sessions::{head, head_columns, list_order},
    },
};
use octo_protocol::{MessageId, SessionFilter, SessionHit, SessionInfo, TextMark};
use rusqlite::params;
use std::collections::{HashMap, HashSet};

/// The shortest word in the trigram index.
const SHORTEST_INDEXED: usize = 3;
/// The number of newest texts scanned for a word that the index does not contain as a whole.
const SCANNED_TEXTS: u32 = 4_000;
/// The number of characters shown before a match.
const SNIPPET_CHARS_BEFORE: usize = 40;
/// The number of characters shown from the start of the match on.
const SNIPPET_CHARS_FROM: usize = 120;

/// The words of a search. All must occur, in any order; letter case does not matter.
pub(crate) struct SearchWords {
    /// The words long enough for the index.
    long: Vec<String>,
    /// The words too short for it.
    short: Vec<String>,
}

impl SearchWords {
    /// Creates a search for the whole text.
    pub(crate) fn new(text: &str) -> Self {
        Self::from_words(std::iter::once(text))
    }

    /// Creates a search for the text's words.
    fn from_text(text: &str) -> Self {
        Self::from_words(text.split_whitespace())
    }

    fn from_words<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        // The index's query language ends at a NUL.
        let words = words.map(|word| word.replace('\0', "")).filter(|word| !word.is_empty());
        let (long, short) = words.partition(|word| word.chars().count() >= SHORTEST_INDEXED);
        Self { long, short }
    }

    /// Returns the long words in the index's query language, each as a quoted phrase; `None` if there are none.
    pub(crate) fn phrase(&self) -> Option<String> {
        if self.long.is_empty() {
            return None;
        }
        let quoted: Vec<String> =
            self.long.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
        Some(quoted.join(" AND "))
    }

    /// Returns whether the short words occur too; the index or LIKE has checked the rest.
    fn contains_short_words(&self, text: &str) -> bool {
        self.short.iter().all(|word| find_word(text, word).is_some())
    }

    /// Returns the text around the first match, and the positions of the matches in it.
    fn snippet(&self, text: &str) -> (String, Vec<TextMark>) {
        let position =
            self.long.iter().chain(&self.short).find_map(|word| find_word(text, word)).unwrap_or(0);
        let chars: Vec<char> = text.chars().collect();
        let start = position.saturating_sub(SNIPPET_CHARS_BEFORE);
        let end = (position + SNIPPET_CHARS_FROM).min(chars.len());
        let excerpt: String = chars.get(start..end).unwrap_or_default().iter().collect();
        let mut snippet = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        if start > 0 {
            snippet.insert(0, '…');
        }
        if end < chars.len() {
            snippet.push('…');
        }
        let marks = self.find_marks(&snippet);
        (snippet, marks)
    }

    /// Returns the positions of the words in a text.
    fn find_marks(&self, text: &str) -> Vec<TextMark> {
        let folded: Vec<char> = text.chars().map(fold).collect();
        // The start of each character, in the page's units; the last entry is the end.
        let mut units = vec![0];
        for c in text.chars() {
            let width = u32::try_from(c.len_utf16()).unwrap_or(1);
            units.push(units.last().copied().unwrap_or(0) + width);
        }
        let mut found: Vec<TextMark> = Vec::new();
        for word in self.long.iter().chain(&self.short) {
            let word: Vec<char> = word.chars().map(fold).collect();
            for (index, part) in folded.windows(word.len().max(1)).enumerate() {
                if part == word
                    && let (Some(start), Some(end)) = (units.get(index), units.get(index + word.len()))
                {
                    found.push(TextMark { start: *start, end: *end });
                }
            }
        }
        found.sort_by_key(|mark| (mark.start, mark.end));
        let mut disjoint: Vec<TextMark> = Vec::new();
        for mark in found {
            match disjoint.last_mut() {
                Some(before) if mark.start <= before.end => before.end = before.end.max(mark.end),
                _ => disjoint.push(mark),
            }
        }
        disjoint
    }
}

/// Returns the position of `word` in `text`, in characters, ignoring case.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let text: Vec<char> = text.chars().map(fold).collect();
    let word: Vec<char> = word.chars().map(fold).collect();
    text.windows(word.len().max(1)).position(|part| part == word)
}

/// Folds the case of a character, like the index.
fn fold(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Returns a LIKE pattern (with `\` as its escape) that matches a text anywhere.
pub(crate) fn like(text: &str) -> String {
    let mut pattern = String::from("%");
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

impl Reader<'_> {
    /// Returns the sessions matching a filter that contain all words of `query`: in the title (at most half of
    /// `limit`), then in one text of the person or the model, newest session first; each session once in each
    /// group. Deleted sessions are excluded.
    pub fn search(
        &self,
        query: &str,
        filter: &SessionFilter,
        limit: u32,
    ) -> Result<Vec<SessionHit>, StoreError> {
        let needle = SearchWords::from_text(query);
        let filter = FilterParams::new(filter)?;
        let mut hits = self.search_titles(&needle, &filter, limit.div_ceil(2) as usize)?;
        let limit = limit as usize;
        let mut progress = SearchProgress { filter, hit: HashSet::new(), looked_up: HashMap::new() };
        if hits.len() < limit {
            self.search_texts(&needle, limit, &mut progress, &mut hits)?;
        }
        Ok(hits)
    }

    fn search_titles(
        &self,
        needle: &SearchWords,
        filter: &FilterParams,
        limit: usize,
    ) -> Result<Vec<SessionHit>, StoreError> {
        let mut hits = Vec::new();
        let (sql, pattern) = match (needle.phrase(), needle.short.first()) {
            (Some(phrase), _) => (
                concat!(
                    "SELECT ",
                    head_columns!(),
                    " FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent'
                     AND +key IN (SELECT rowid FROM titles_fts WHERE titles_fts MATCH :pattern)",
                    filtered!(),
                    list_order!()
                ),
                phrase,
            ),
            (None, Some(word)) => (
                concat!(
                    "SELECT ",
                    head_columns!(),
                    " FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent'
                     AND title LIKE :pattern ESCAPE '\\'",
                    filtered!(),
                    list_order!()
                ),
                like(word),
            ),
            (None, None) => return Ok(hits),
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(&*filter.with_params(&[(":pattern", &pattern)]))?;
        while hits.len() < limit
            && let Some(row) = rows.next()?
        {
            let info = head(row)?;
            if needle.contains_short_words(&info.title) {
                let (snippet, marks) = needle.snippet(&info.title);
                hits.push(SessionHit { info, message: None, snippet, marks });
            }
        }
        Ok(hits)
    }

    fn search_texts(
        &self,
        needle: &SearchWords,
        limit: usize,
        progress: &mut SearchProgress,
        hits: &mut Vec<SessionHit>,
    ) -> Result<(), StoreError> {
        if let Some(phrase) = needle.phrase() {
            // Only row numbers, newest first: further rows of a session already found cost nothing.
            let mut statement = self.connection.prepare_cached(
                "SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH ?1 ORDER BY rowid DESC",
            )?;
            let mut rows = statement.query([phrase])?;
            while hits.len() < limit
                && let Some(row) = rows.next()?
            {
                let block: i64 = row.get(0)?;
                if let Some(info) = self.session_to_search(block, progress)? {
                    hits.extend(self.to_hit(block, info, needle, progress)?);
                }
            }
        } else if let Some(word) = needle.short.first() {
            // Common words are found among the newest texts; looking up rare ones in the index is quick because
            // they are rare.
            let oldest = self.search_newest(&like(word), needle, limit, progress, hits)?;
            if let (Some(oldest), true) = (oldest, hits.len() < limit) {
                self.search_older(word, oldest, needle, limit, progress, hits)?;
            }
        }
        Ok(())
    }

    /// Scans the newest texts one by one. Returns the last one scanned, if there are older ones.
    fn search_newest(
        &self,
        pattern: &str,
        needle: &SearchWords,
        limit: usize,
        progress: &mut SearchProgress,
        hits: &mut Vec<SessionHit>,
    ) -> Result<Option<i64>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, text LIKE ?1 ESCAPE '\\' FROM blocks WHERE key > 0 AND key < ?2 AND text IS NOT NULL
             ORDER BY key DESC LIMIT ?3",
        )?;
        let (mut looked_at, mut last_key) = (0, None);
        let mut upper = i64::MAX;
        'sessions: loop {
            let mut rows = statement.query(params![pattern, upper, SCANNED_TEXTS - looked_at])?;
            while hits.len() < limit
                && let Some(row) = rows.next()?
            {
                let block: i64 = row.get(0)?;
                looked_at += 1;
                last_key = Some(block);
                if !row.get::<_, bool>(1)? {
                    continue;
                }
                if let Some(info) = self.session_to_search(block, progress)? {
                    hits.extend(self.to_hit(block, info, needle, progress)?);
                }
                let session = key::session_of(block);
                if progress.is_done(session) {
                    // Skips the rest of the session, however long.
                    upper = *session.rows().start();
                    continue 'sessions;
                }
            }
            break;
        }
        Ok(last_key.filter(|_| looked_at == SCANNED_TEXTS))
    }

    /// Looks up texts older than a block by the trigrams that begin with a short word.
    fn search_older(
        &self,
        word: &str,
        oldest: i64,
        needle: &SearchWords,
        limit: usize,
        progress: &mut SearchProgress,
        hits: &mut Vec<SessionHit>,
    ) -> Result<(), StoreError> {
        let low: String = word.chars().map(fold).collect();
        let high = format!("{low}{}{}", char::MAX, char::MAX);
        let mut blocks = self.rows(
            "SELECT DISTINCT doc FROM blocks_vocab WHERE term >= ?1 AND term <= ?2 AND doc < ?3",
            params![low, high, oldest],
            |row| Ok(row.get::<_, i64>(0)?),
        )?;
        blocks.sort_unstable_by(|a, b| b.cmp(a));
        for block in blocks {
            if hits.len() >= limit {
                break;
            }
            if let Some(info) = self.session_to_search(block, progress)? {
                hits.extend(self.to_hit(block, info, needle, progress)?);
            }
        }
        Ok(())
    }

    /// Returns the block's session, unless it already has a hit, is deleted or is filtered out.
    fn session_to_search(
        &self,
        block: i64,
        progress: &mut SearchProgress,
    ) -> Result<Option<SessionInfo>, StoreError> {
        let session = key::session_of(block);
        if progress.hit.contains(&session) {
            return Ok(None);
        }
        if let Some(info) = progress.looked_up.get(&session) {
            return Ok(info.clone());
        }
        let info = self.row(
            concat!(
                "SELECT ",
                head_columns!(),
                " FROM sessions WHERE key = :key AND deleted_at IS NULL AND source <> 'sub_agent'",
                filtered!()
            ),
            &*progress.filter.with_params(&[(":key", &session.0)]),
            head,
        )?;
        progress.looked_up.insert(session, info.clone());
        Ok(info)
    }

    fn to_hit(
        &self,
        block: i64,
        info: SessionInfo,
        needle: &SearchWords,
        progress: &mut SearchProgress,
    ) -> Result<Option<SessionHit>, StoreError> {
        let found = self.row(
            "SELECT messages.id, blocks.text FROM blocks, messages WHERE blocks.key = ?1 AND messages.key = ?2",
            [block, key::message_of(block)],
            |row| Ok((id::<MessageId>(row, 0)?, row.get::<_, String>(1)?)),
        )?;
        Ok(found.filter(|(_, text)| needle.contains_short_words(text)).map(|(message, text)| {
            progress.hit.insert(key::session_of(block));
            let (snippet, marks) = needle.snippet(&text);
            SessionHit { info, message: Some(message), snippet, marks }
        }))
    }
}

struct SearchProgress {
    filter: FilterParams,
    /// Sessions that already have a hit.
    hit: HashSet<SessionKey>,
    /// Sessions that were looked up; `None` for deleted and filtered ones.
    looked_up: HashMap<SessionKey, Option<SessionInfo>>,
}

impl SearchProgress {
    /// Returns whether a session needs no further search.
    fn is_done(&self, session: SessionKey) -> bool {
        self.hit.contains(&session) || self.looked_up.get(&session).is_some_and(Option::is_none)
    }
}
