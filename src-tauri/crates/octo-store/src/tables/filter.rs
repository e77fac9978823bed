//! Session filters in SQL.

use crate::{
    Reader, StoreError,
    column::{read_count, to_word},
    tables::{
        search::{SearchWords, like},
        sessions::{head, head_columns, list_order},
    },
};
use octo_protocol::{SessionFilter, SessionFolder, SessionInfo};
use rusqlite::{Row, ToSql};

/// The condition of a filter, on the columns of `sessions`. [`FilterParams`] provides its parameters.
macro_rules! filtered {
    () => {
        " AND (:source IS NULL OR source = :source) AND (:profile IS NULL OR profile = :profile)
          AND (:folder IS NULL OR folder = :folder)
          AND (:since IS NULL OR updated_at >= :since) AND (:until IS NULL OR updated_at < :until)
          AND CASE WHEN :status IS NULL THEN 1
                   WHEN :status = 'unread'
                     THEN status IN ('idle', 'failed') AND updated_at > coalesce(read_at, 0)
                   ELSE status = :status END"
    };
}
pub(crate) use filtered;

/// A filter as parameters.
pub(crate) struct FilterParams {
    source: Option<String>,
    status: Option<String>,
    profile: Option<String>,
    folder: Option<String>,
    since: Option<i64>,
    until: Option<i64>,
}

impl FilterParams {
    pub(crate) fn new(filter: &SessionFilter) -> Result<Self, StoreError> {
        Ok(Self {
            source: filter.source.as_ref().map(to_word).transpose()?,
            status: filter.status.as_ref().map(to_word).transpose()?,
            profile: filter.profile.as_ref().map(to_word).transpose()?,
            folder: filter.folder.clone(),
            since: filter.since,
            until: filter.until,
        })
    }

    /// Combines these parameters with a statement's own.
    pub(crate) fn with_params<'a>(
        &'a self,
        additional: &[(&'a str, &'a dyn ToSql)],
    ) -> Vec<(&'a str, &'a dyn ToSql)> {
        let mut params: Vec<(&str, &dyn ToSql)> = vec![
            (":source", &self.source),
            (":status", &self.status),
            (":profile", &self.profile),
            (":folder", &self.folder),
            (":since", &self.since),
            (":until", &self.until),
        ];
        params.extend_from_slice(additional);
        params
    }
}

impl Reader<'_> {
    /// Returns the working folders of the listed sessions, most recently used first; see [`SessionFolder`] for
    /// the ones that count.
    pub fn session_folders(&self) -> Result<Vec<SessionFolder>, StoreError> {
        self.rows(
            "SELECT folder, count(*), max(updated_at) AS newest FROM sessions
             WHERE deleted_at IS NULL AND source <> 'sub_agent' AND status <> 'waiting' AND NOT pinned
             GROUP BY folder ORDER BY newest DESC, folder",
            [],
            |row| Ok(SessionFolder { path: row.get(0)?, sessions: row.get(1)?, updated_at: row.get(2)? }),
        )
    }

    /// Returns [`Reader::sessions`] restricted by a filter.
    pub fn sessions_where(
        &self,
        query: &str,
        filter: &SessionFilter,
        offset: u32,
        limit: u32,
    ) -> Result<(Vec<SessionInfo>, u64), StoreError> {
        if *filter == SessionFilter::default() {
            return self.sessions(query, offset, limit);
        }
        let query = query.trim();
        let bound = FilterParams::new(filter)?;
        let phrase = SearchWords::new(query).phrase();
        let pattern = (phrase.is_none() && !query.is_empty()).then(|| like(query));
        macro_rules! meant {
            () => {
                concat!(
                    " FROM sessions WHERE deleted_at IS NULL AND source <> 'sub_agent'
                      AND (:phrase IS NULL
                           OR +key IN (SELECT rowid FROM titles_fts WHERE titles_fts MATCH :phrase))
                      AND (:pattern IS NULL OR title LIKE :pattern ESCAPE '\\')",
                    filtered!()
                )
            };
        }
        let page = self.rows(
            concat!("SELECT ", head_columns!(), meant!(), list_order!(), " LIMIT :limit OFFSET :offset"),
            &*bound.with_params(&[
                (":phrase", &phrase),
                (":pattern", &pattern),
                (":limit", &limit),
                (":offset", &offset),
            ]),
            head,
        )?;
        let total = self.row(
            concat!("SELECT count(*)", meant!()),
            &*bound.with_params(&[(":phrase", &phrase), (":pattern", &pattern)]),
            |row: &Row<'_>| read_count(row, 0),
        )?;
        Ok((page, total.unwrap_or(0)))
    }
}
