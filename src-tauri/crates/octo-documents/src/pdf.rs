//! Reads PDF documents: the text page by page.

use crate::DocumentError;
use pdf_extract::{Document, PlainTextOutput, output_doc_page};
use std::{
    io::{Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Maximum size of a file; it is kept in memory.
const MAX_FILE: u64 = 64 << 20;
/// Minimum number of characters of a document, below which it is assumed to consist of scanned pages: scans often
/// contain a stamp or a page number as text.
const MIN_TEXT: usize = 20;

pub(crate) fn read(mut source: impl Read, target: &mut dyn Write) -> Result<(), DocumentError> {
    let mut bytes = Vec::new();
    source.by_ref().take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(DocumentError::TooLarge(MAX_FILE >> 20));
    }
    let mut document =
        Document::load_mem(&bytes).map_err(|error| DocumentError::Broken(error.to_string()))?;
    drop(bytes);
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(DocumentError::Locked);
    }
    let (mut character_count, mut empty_pages) = (0, Vec::new());
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    for page in pages {
        // The library panics on many unexpected inputs; the other pages can be read nevertheless.
        let text = catch_unwind(AssertUnwindSafe(|| {
            let mut text = String::new();
            let mut output = PlainTextOutput::new(&mut text);
            output_doc_page(&document, &mut output, page).map(|()| text)
        }));
        match text {
            Ok(Ok(text)) => {
                character_count += text.chars().filter(|character| !character.is_whitespace()).count();
                writeln!(
                    target,
                    "{}## Page {page}\n\n{}",
                    if page == 1 { "" } else { "\n" },
                    collapse_blank_lines(&text)
                )?;
            }
            Ok(Err(_)) | Err(_) => empty_pages.push(page),
        }
    }
    if character_count < MIN_TEXT {
        return Err(DocumentError::NoText(
            "there is next to no text in it: it is probably a scan, or its fonts do not say which letters they show"
                .to_owned(),
        ));
    }
    if !empty_pages.is_empty() {
        let pages: Vec<String> = empty_pages.iter().map(u32::to_string).collect();
        writeln!(target, "\n(Pages that cannot be read: {}.)", pages.join(", "))?;
    }
    Ok(())
}

/// Returns the text with at most one consecutive empty line and no spaces at the ends of lines.
fn collapse_blank_lines(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 1;
    for line in text.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.trim_end().to_owned()
}
