//! Reads PowerPoint presentations: slide by slide, with titles, lists, tables and notes.

use crate::{
    DocumentError,
    office_parts::OfficeParts,
    table,
    xml::{Tag, XmlPiece},
};
use std::io::{Read, Seek, Write};

/// Maximum level of items; deeper ones are shown at this level.
const MAX_LEVEL: usize = 8;

pub(crate) fn read(source: impl Read + Seek, output: &mut dyn Write) -> Result<(), DocumentError> {
    let mut parts = OfficeParts::open(source)?;
    let main = "ppt/presentation.xml";
    let relations = parts.relations(main)?;
    let mut order = Vec::new();
    parts.walk(main, |element| {
        if let XmlPiece::Open(tag) = element
            && tag.name() == "sldId"
            && let Some(relation) = tag.get("r:id").and_then(|id| relations.get(&id))
        {
            order.push(relation.target.clone());
        }
        Ok(())
    })?;
    if order.is_empty() {
        return Err(DocumentError::NoText("the presentation has no slides".to_owned()));
    }
    for (index, part) in order.iter().enumerate() {
        if !parts.has(part) {
            writeln!(output, "\n## Slide {} (missing in the file)", index + 1)?;
            continue;
        }
        let slide = slide(&mut parts, part)?;
        let title = if slide.title.is_empty() { String::new() } else { format!(": {}", slide.title) };
        writeln!(output, "{}## Slide {}{title}", if index == 0 { "" } else { "\n" }, index + 1)?;
        if !slide.text.is_empty() {
            write!(output, "\n{}", slide.text)?;
        }
        let notes = parts.relations(part)?.into_values().find(|relation| relation.is_kind("notesSlide"));
        if let Some(notes) = notes.filter(|notes| parts.has(&notes.target)) {
            let notes = self::slide(&mut parts, &notes.target)?;
            if !notes.body.trim().is_empty() {
                writeln!(output, "\nNotes: {}", notes.body.trim())?;
            }
        }
    }
    Ok(())
}

/// Content of a slide.
#[derive(Default)]
struct Slide {
    title: String,
    text: String,
    /// Text of the body placeholder alone: on a notes page, the notes.
    body: String,
    shape: ShapeRole,
    paragraph: SlideParagraph,
    table: Option<Vec<Vec<String>>>,
    cell: String,
    in_text: bool,
}

/// Purpose of a shape.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ShapeRole {
    #[default]
    Text,
    Title,
    Body,
    /// A slide's number or date: nothing to read.
    Decoration,
}

#[derive(Default)]
struct SlideParagraph {
    text: String,
    level: usize,
}

fn slide<R: Read + Seek>(parts: &mut OfficeParts<R>, part: &str) -> Result<Slide, DocumentError> {
    let mut slide = Slide::default();
    parts.walk(part, |element| {
        match &element {
            XmlPiece::Open(tag) => slide.open(tag),
            XmlPiece::Close(name) => slide.close(name)?,
            XmlPiece::Text(text) if slide.in_text => slide.paragraph.text.push_str(text),
            XmlPiece::Text(_) => {}
        }
        Ok(())
    })?;
    Ok(slide)
}

impl Slide {
    fn open(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            "sp" => self.shape = ShapeRole::Text,
            "ph" => {
                self.shape = match tag.get("type").as_deref() {
                    Some("title" | "ctrTitle") => ShapeRole::Title,
                    Some("sldNum" | "dt" | "ftr" | "hdr" | "sldImg") => ShapeRole::Decoration,
                    Some("body") => ShapeRole::Body,
                    Some(_) | None => ShapeRole::Text,
                };
            }
            "p" => self.paragraph = SlideParagraph::default(),
            "pPr" => self.paragraph.level = tag.number("lvl").unwrap_or(0),
            "t" => self.in_text = true,
            "br" => self.paragraph.text.push(' '),
            "tbl" => self.table = Some(Vec::new()),
            "tr" => {
                if let Some(table) = &mut self.table {
                    table.push(Vec::new());
                }
            }
            "tc" => self.cell.clear(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentError> {
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            "tc" => {
                if let Some(row) = self.table.as_mut().and_then(|table| table.last_mut()) {
                    row.push(std::mem::take(&mut self.cell));
                }
            }
            "tbl" => {
                let mut text = Vec::new();
                table::write(&mut text, &self.table.take().unwrap_or_default())?;
                self.text.push_str(&String::from_utf8_lossy(&text));
            }
            "sp" => self.shape = ShapeRole::Text,
            _ => {}
        }
        Ok(())
    }

    fn end_paragraph(&mut self) {
        let SlideParagraph { text, level } = std::mem::take(&mut self.paragraph);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.table.is_some() {
            if !self.cell.is_empty() {
                self.cell.push('\n');
            }
            self.cell.push_str(text);
            return;
        }
        match self.shape {
            ShapeRole::Decoration => {}
            ShapeRole::Title => {
                if !self.title.is_empty() {
                    self.title.push(' ');
                }
                self.title.push_str(text);
            }
            ShapeRole::Text | ShapeRole::Body => {
                self.text.push_str(&format!("{}- {text}\n", "  ".repeat(level.min(MAX_LEVEL))));
                if self.shape == ShapeRole::Body {
                    self.body.push_str(text);
                    self.body.push('\n');
                }
            }
        }
    }
}
