//! The blobs mentioned anywhere in the database.

use crate::{Reader, StoreError};
use octo_protocol::BlobHash;
use rusqlite::types::ValueRef;
use std::collections::HashSet;

/// The number of digits in a blob's name.
const HASH_DIGITS: usize = 64;

impl Reader<'_> {
    /// Removes from `candidates` every blob whose name occurs anywhere in the database: in any text or bytes of
    /// any table. It includes tables added later, so a new feature's blobs are safe even if its author forgot
    /// to register them. Slow (it reads everything): for cleanup.
    pub fn retain_unmentioned(&self, candidates: &mut HashSet<BlobHash>) -> Result<(), StoreError> {
        if candidates.is_empty() {
            return Ok(());
        }
        // The search indexes and their own tables contain no text that is not in one of our tables too.
        let tables = self.rows(
            "SELECT name FROM pragma_table_list
             WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
            [],
            |row| Ok(row.get::<_, String>(0)?),
        )?;
        for table in tables {
            let table = table.replace('"', "\"\"");
            let mut statement = self.connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                for column in 0..columns {
                    if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(column)? {
                        for_each_mention(bytes, |name| {
                            candidates.remove(&BlobHash(name.to_owned()));
                        });
                    }
                }
                if candidates.is_empty() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Calls `found` with everything in the bytes that could be a blob's name: each 64 digits of a run of hex
/// digits.
fn for_each_mention(bytes: &[u8], mut found: impl FnMut(&str)) {
    for run in bytes.split(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        for name in run.windows(HASH_DIGITS) {
            if let Ok(name) = std::str::from_utf8(name) {
                found(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use octo_protocol::{Block, Draft};

    #[test]
    fn blob_names_are_found_anywhere_in_a_text() {
        let name = "0123456789abcdef".repeat(4);
        for (text, expected) in [
            (name.clone(), 1),
            (format!("{{\"blob\":\"{name}\"}}"), 1),
            (format!("a{name}"), 2),
            (name.to_uppercase(), 0),
            (name.chars().skip(1).collect(), 0),
            (format!("{name} {name}"), 2),
        ] {
            let mut count = 0;
            for_each_mention(text.as_bytes(), |_| count += 1);
            assert_eq!(count, expected, "{text}");
        }
    }

    #[test]
    fn a_blob_named_in_any_table_is_kept() {
        let home = octo_testkit::test_folder();
        let store = Store::open(home.path()).unwrap();
        let blob = |digit: &str| BlobHash(digit.repeat(64));
        let draft = Draft {
            text: String::new(),
            attachments: vec![Block::Image {
                blob: blob("a"),
                media_type: "image/png".to_owned(),
                name: "a.png".to_owned(),
            }],
            foreign: false,
        };
        store
            .write_blocking(move |tx| {
                tx.set_new_draft(&draft)?;
                tx.connection.execute_batch(
                    "CREATE TABLE later (thing TEXT, raw BLOB) STRICT;
                     INSERT INTO later VALUES ('bbbb', CAST(printf('x%s', replace(hex(zeroblob(32)), '0', 'b')) AS BLOB));",
                )?;
                Ok(())
            })
            .unwrap();
        let mut candidates = HashSet::from([blob("a"), blob("b"), blob("c")]);
        store.read_blocking(|reader| reader.retain_unmentioned(&mut candidates)).unwrap();
        assert_eq!(candidates, HashSet::from([blob("c")]));
    }
}
