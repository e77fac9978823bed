//! Writes tables in Markdown.

use std::io::{self, Write};

/// Writes rows as a table, with the first as its head. Rows may differ in length.
pub(crate) fn write(output: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return Ok(());
    }
    for (index, row) in rows.iter().enumerate() {
        line(output, row, width)?;
        if index == 0 {
            writeln!(output, "|{}", " --- |".repeat(width))?;
        }
    }
    Ok(())
}

/// Writes one row.
pub(crate) fn line(output: &mut dyn Write, row: &[String], width: usize) -> io::Result<()> {
    write!(output, "|")?;
    for index in 0..width {
        write!(output, " {} |", cell(row.get(index).map_or("", String::as_str)))?;
    }
    writeln!(output)
}

/// Returns a cell's text in one line, with its bars escaped.
fn cell(text: &str) -> String {
    text.trim().replace('|', r"\|").replace("\r\n", "\n").replace(['\n', '\r'], "<br>")
}
