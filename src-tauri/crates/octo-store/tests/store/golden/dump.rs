//! A database as SQL, a row a line.

use rusqlite::Connection;
use std::fmt::Write as _;

/// What full text search makes of the rows of other tables; written anew from them.
const SEARCH: &str = "
INSERT INTO titles_fts (titles_fts) VALUES ('rebuild');
INSERT INTO blocks_fts (rowid, text) SELECT key, text || char(0xe000, 0xe000) FROM blocks WHERE text IS NOT NULL;
";

/// Where the rows of a dump end and what is made of them begins.
const AFTER_ROWS: &str = "-- made of the rows";

/// The first column of what a query finds.
pub fn texts(file: &Connection, sql: &str) -> Vec<String> {
    let mut read = file.prepare(sql).unwrap();
    read.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// All tables of a database but those in which SQLite keeps what belongs to its search tables and statistics.
pub fn tables(file: &Connection) -> Vec<String> {
    texts(
        file,
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN
           (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid",
    )
}

/// The commands that make a database as it is.
pub fn dump(file: &Connection) -> String {
    let number = |pragma: &str| -> i64 { file.pragma_query_value(None, pragma, |row| row.get(0)).unwrap() };
    let mut text = format!(
        "PRAGMA application_id = {};\nPRAGMA user_version = {};\n",
        number("application_id"),
        number("user_version")
    );
    let of_kind = |kinds: &str| {
        texts(
            file,
            &format!(
                "SELECT sql FROM sqlite_master WHERE type IN ({kinds}) AND sql IS NOT NULL
                   AND name NOT LIKE 'sqlite_%' AND name NOT IN
                   (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid"
            ),
        )
    };
    for sql in of_kind("'table'") {
        let _ = writeln!(text, "{sql};");
    }
    let stored = texts(
        file,
        "SELECT name FROM pragma_table_list
         WHERE schema = 'main' AND type = 'table' AND name NOT IN ('sqlite_schema', 'sqlite_sequence')",
    );
    let mut stored: Vec<String> = tables(file).into_iter().filter(|table| stored.contains(table)).collect();
    let _ = writeln!(text, "DELETE FROM sqlite_sequence;");
    stored.push("sqlite_sequence".to_owned());
    for table in stored {
        let columns = texts(file, &format!("SELECT name FROM pragma_table_info('{table}')"));
        for row in select(file, &table, &columns.join(", ")) {
            let _ = writeln!(text, "{row}");
        }
    }
    let _ = writeln!(text, "{AFTER_ROWS}{SEARCH}");
    for sql in of_kind("'index', 'trigger'") {
        let _ = writeln!(text, "{sql};");
    }
    text
}

/// The rows of a table as commands, by its key.
pub fn select(file: &Connection, table: &str, columns: &str) -> Vec<String> {
    let quoted: Vec<String> = columns.split(", ").map(|column| format!("quote({column})")).collect();
    let sql = format!(
        "SELECT 'INSERT INTO {table} ({columns}) VALUES (' || {} || ');' FROM {table} ORDER BY {}",
        quoted.join(" || ', ' || "),
        columns
    );
    let rows = texts(file, &sql);
    assert!(rows.iter().all(|row| !row.contains('\n')), "a row of {table} is longer than a line");
    rows
}

/// The rows of a dump. What SQLite counts for itself changes with every table that is added.
pub fn rows(text: &str) -> impl Iterator<Item = String> + '_ {
    let (rows, _) = text.split_once(AFTER_ROWS).unwrap();
    let rows = rows.lines().filter(|line| line.starts_with("INSERT INTO "));
    rows.filter(|line| !line.starts_with("INSERT INTO sqlite_sequence")).map(str::to_owned)
}

/// The rows that a database has in the tables and columns of a dump, in the dump's order.
pub fn rows_now<'a>(text: &'a str, file: &'a Connection) -> impl Iterator<Item = String> + 'a {
    let mut heads: Vec<(String, String)> = Vec::new();
    for row in rows(text) {
        let (head, _) = row.split_once(") VALUES (").unwrap();
        let (table, columns) = head.trim_start_matches("INSERT INTO ").split_once(" (").unwrap();
        let head = (table.to_owned(), columns.to_owned());
        if heads.last() != Some(&head) {
            heads.push(head);
        }
    }
    heads.into_iter().flat_map(|(table, columns)| select(file, &table, &columns))
}
