//! Reads spreadsheets: each sheet as a table of its values.

use crate::{DocumentError, table};
use calamine::{Data, ExcelDateTime, Reader, open_workbook_auto_from_rs};
use std::{
    io::{Cursor, Read, Write},
    sync::Arc,
};

/// Maximum size of a file; it is kept in memory.
pub(crate) const MAX_FILE: u64 = 64 << 20;
/// Maximum rows shown of one sheet.
const MAX_ROWS: usize = 20_000;
/// Maximum columns shown of one sheet.
const MAX_COLUMNS: usize = 200;

pub(crate) fn read(mut source: impl Read, output: &mut dyn Write) -> Result<(), DocumentError> {
    let mut bytes = Vec::new();
    source.by_ref().take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(DocumentError::TooLarge(MAX_FILE >> 20));
    }
    let bytes: Arc<[u8]> = bytes.into();
    let mut book = open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(broken)?;
    let names = book.sheet_names();
    if names.is_empty() {
        return Err(DocumentError::NoText("the spreadsheet has no sheets".to_owned()));
    }
    for (index, name) in names.iter().enumerate() {
        writeln!(output, "{}### {name}\n", if index == 0 { "" } else { "\n" })?;
        let range = match book.worksheet_range(name) {
            Ok(range) => range,
            Err(error) => {
                writeln!(output, "(This sheet cannot be read: {error}.)")?;
                continue;
            }
        };
        let (height, width) = range.get_size();
        if height == 0 {
            writeln!(output, "(empty)")?;
            continue;
        }
        let columns = width.min(MAX_COLUMNS);
        for (row, cells) in range.rows().take(MAX_ROWS).enumerate() {
            let cells: Vec<String> = cells.iter().take(columns).map(value).collect();
            table::line(output, &cells, columns)?;
            if row == 0 {
                writeln!(output, "|{}", " --- |".repeat(columns))?;
            }
        }
        if height > MAX_ROWS {
            writeln!(output, "({MAX_ROWS} of {height} rows)")?;
        }
        if width > columns {
            writeln!(output, "({columns} of {width} columns)")?;
        }
    }
    Ok(())
}

fn broken(error: calamine::Error) -> DocumentError {
    let message = error.to_string();
    if message.to_ascii_lowercase().contains("password") {
        DocumentError::Locked
    } else {
        DocumentError::Broken(message)
    }
}

fn value(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::Bool(true) => "TRUE".to_owned(),
        Data::Bool(false) => "FALSE".to_owned(),
        Data::Error(error) => error.to_string(),
        Data::DateTime(moment) => format_moment(*moment),
    }
}

/// Formats a number as a date, a time or both.
fn format_moment(moment: ExcelDateTime) -> String {
    if moment.is_duration() {
        let seconds = (moment.as_f64() * 86_400.0).round() as i64;
        let (sign, seconds) = (if seconds < 0 { "-" } else { "" }, seconds.unsigned_abs());
        return format!("{sign}{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    let serial = moment.as_f64();
    if serial < 1.0 {
        time
    } else if serial.fract() == 0.0 {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02} {time}")
    }
}
