//! Writes tables in Markdown.

use std::io::{self, Write};

/// Writes rows as a table, with the first as its head. Rows may differ in length.
pub(crate) fn write(into: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return Ok(());
    }
    for (at, row) in rows.iter().enumerate() {
        line(into, row, width)?;
        if at == 0 {
            writeln!(into, "|{}", " --- |".repeat(width))?;
        }
    }
    Ok(())
}

/// Writes one row.
pub(crate) fn line(into: &mut dyn Write, row: &[String], width: usize) -> io::Result<()> {
    write!(into, "|")?;
    for at in 0..width {
        write!(into, " {} |", cell(row.get(at).map_or("", String::as_str)))?;
    }
    writeln!(into)
}

/// Returns a cell's text in one line, with its bars escaped.
fn cell(text: &str) -> String {
    text.trim().replace('|', r"\|").replace("\r\n", "\n").replace(['\n', '\r'], "<br>")
}
