//! Reads Word documents: headings by their styles, lists, bold, links and tables as Markdown.

use crate::{
    DocumentError,
    office_parts::{OfficeParts, Relation},
    table,
    xml::{Tag, XmlPiece},
};
use std::{
    collections::HashMap,
    io::{Read, Seek, Write},
};

/// Maximum level of headings; deeper ones are shown at this level.
const MAX_HEADING: usize = 6;
/// Maximum level of list items; deeper ones are shown at this level.
const MAX_ITEM_LEVEL: usize = 8;
/// Maximum styles or lists that are inspected.
const MAX_STYLES: usize = 10_000;

pub(crate) fn read(source: impl Read + Seek, output: &mut dyn Write) -> Result<(), DocumentError> {
    let mut parts = OfficeParts::open(source)?;
    let body = body(&mut parts)?;
    let folder = body.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let sibling = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let headings = headings(&mut parts, &sibling("styles.xml"))?;
    let lists = lists(&mut parts, &sibling("numbering.xml"))?;
    let links = parts.relations(&body)?;
    let mut reading = WordBody {
        into: output,
        headings,
        lists,
        links,
        paragraph: WordParagraph::default(),
        tables: Vec::new(),
        run: TextRun::default(),
        in_text: false,
        link: None,
        after_item: false,
    };
    parts.walk(&body, |element| reading.handle_element(&element))
}

/// Returns the path of the part with the text, which varies between documents.
fn body<R: Read + Seek>(parts: &mut OfficeParts<R>) -> Result<String, DocumentError> {
    let usual = "word/document.xml";
    if parts.has(usual) {
        return Ok(usual.to_owned());
    }
    let main = parts.relations("")?.into_values().find(|relation| relation.is_kind("officeDocument"));
    main.map(|relation| relation.target)
        .ok_or_else(|| DocumentError::Broken("it has no text part".to_owned()))
}

/// Returns the level of each heading style.
fn headings<R: Read + Seek>(
    parts: &mut OfficeParts<R>,
    part: &str,
) -> Result<HashMap<String, usize>, DocumentError> {
    let (mut found, mut style) = (HashMap::new(), None::<String>);
    if !parts.has(part) {
        return Ok(found);
    }
    parts.walk(part, |element| {
        match element {
            XmlPiece::Open(tag) => match tag.name() {
                "style" => style = tag.get("styleId"),
                "name" => {
                    let name = tag.get("val").unwrap_or_default().to_ascii_lowercase();
                    let level = match name.strip_prefix("heading ") {
                        Some(level) => level.trim().parse().ok(),
                        None if name == "title" => Some(1),
                        None => None,
                    };
                    add_heading(&mut found, style.as_ref(), level);
                }
                "outlineLvl" => {
                    // Nine means ordinary text.
                    let level = tag.number("val").filter(|level| *level < 9).map(|level| level + 1);
                    add_heading(&mut found, style.as_ref(), level);
                }
                _ => {}
            },
            XmlPiece::Close("style") => style = None,
            XmlPiece::Close(_) | XmlPiece::Text(_) => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn add_heading(found: &mut HashMap<String, usize>, style: Option<&String>, level: Option<usize>) {
    if let (Some(style), Some(level)) = (style, level)
        && level > 0
        && found.len() < MAX_STYLES
    {
        found.entry(style.clone()).or_insert(level);
    }
}

/// Mark of a list's items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListMark {
    Bullet,
    Number,
}

/// Returns the marks of each list (`numId`) by level.
fn lists<R: Read + Seek>(
    parts: &mut OfficeParts<R>,
    part: &str,
) -> Result<HashMap<String, HashMap<usize, ListMark>>, DocumentError> {
    let mut abstracts: HashMap<String, HashMap<usize, ListMark>> = HashMap::new();
    let mut lists = HashMap::new();
    if !parts.has(part) {
        return Ok(lists);
    }
    let (mut definition, mut level, mut list) = (None::<String>, 0, None::<String>);
    parts.walk(part, |element| {
        match element {
            XmlPiece::Open(tag) => match tag.name() {
                "abstractNum" => definition = tag.get("abstractNumId"),
                "lvl" => level = tag.number("ilvl").unwrap_or(0),
                "numFmt" => {
                    let marker = match tag.get("val").as_deref() {
                        Some("bullet" | "none") | None => ListMark::Bullet,
                        Some(_) => ListMark::Number,
                    };
                    if let Some(definition) = definition.as_ref().filter(|_| abstracts.len() < MAX_STYLES) {
                        abstracts.entry(definition.clone()).or_default().insert(level, marker);
                    }
                }
                "num" => list = tag.get("numId"),
                "abstractNumId" => {
                    let markers = tag.get("val").and_then(|id| abstracts.get(&id).cloned());
                    if let (Some(list), Some(markers)) = (list.clone(), markers)
                        && lists.len() < MAX_STYLES
                    {
                        lists.insert(list, markers);
                    }
                }
                _ => {}
            },
            XmlPiece::Close("abstractNum") => definition = None,
            XmlPiece::Close("num") => list = None,
            XmlPiece::Close(_) | XmlPiece::Text(_) => {}
        }
        Ok(())
    })?;
    Ok(lists)
}

/// The text read so far.
struct WordBody<'a> {
    into: &'a mut dyn Write,
    headings: HashMap<String, usize>,
    lists: HashMap<String, HashMap<usize, ListMark>>,
    links: HashMap<String, Relation>,
    paragraph: WordParagraph,
    /// Tables that enclose the current position, the outermost first.
    tables: Vec<Table>,
    run: TextRun,
    /// Whether text is visible text (`w:t`), and not a field's code or deleted text.
    in_text: bool,
    link: Option<String>,
    /// Whether the last block was a list item: items of a list have no empty lines between them.
    after_item: bool,
}

#[derive(Default)]
struct WordParagraph {
    text: String,
    style: Option<String>,
    list: Option<String>,
    level: usize,
}

#[derive(Default)]
struct TextRun {
    bold: bool,
    text: String,
    /// Whether the current properties belong to the run, and not to the paragraph mark.
    in_properties: bool,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: String,
}

impl WordBody<'_> {
    fn handle_element(&mut self, element: &XmlPiece<'_>) -> Result<(), DocumentError> {
        match element {
            XmlPiece::Open(tag) => self.open(tag),
            XmlPiece::Close(name) => self.close(name)?,
            XmlPiece::Text(text) if self.in_text => self.run.text.push_str(text),
            XmlPiece::Text(_) => {}
        }
        Ok(())
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            "p" => self.paragraph = WordParagraph::default(),
            "pStyle" => self.paragraph.style = tag.get("val"),
            "numId" => self.paragraph.list = tag.get("val").filter(|list| list != "0"),
            "ilvl" => self.paragraph.level = tag.number("val").unwrap_or(0),
            "r" => self.run = TextRun { in_properties: true, ..TextRun::default() },
            "b" if self.run.in_properties => self.run.bold = tag.is_on(),
            "t" => self.in_text = true,
            "tab" if self.run.in_properties => self.run.text.push('\t'),
            "br" | "cr" => self.run.text.push('\n'),
            "noBreakHyphen" => self.run.text.push('-'),
            "hyperlink" => {
                let target = tag.get("r:id").and_then(|id| self.links.get(&id));
                self.link = target.map(|relation| relation.target.clone());
                if self.link.is_some() {
                    self.paragraph.text.push('[');
                }
            }
            "tbl" => self.tables.push(Table::default()),
            "tr" => self.table(|table| table.row.clear()),
            "tc" => self.table(|table| table.cell.clear()),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentError> {
        match name {
            "t" => self.in_text = false,
            "r" => {
                let run = std::mem::take(&mut self.run);
                add_run(&mut self.paragraph.text, &run);
            }
            "hyperlink" => {
                if let Some(target) = self.link.take() {
                    self.paragraph.text.push_str(&format!("]({target})"));
                }
            }
            "p" => self.end_paragraph()?,
            "tc" => self.table(|table| {
                let cell = std::mem::take(&mut table.cell);
                table.row.push(cell);
            }),
            "tr" => self.table(|table| {
                let row = std::mem::take(&mut table.row);
                table.rows.push(row);
            }),
            "tbl" => {
                if let Some(table) = self.tables.pop() {
                    self.end_table(&table)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn table(&mut self, change: impl FnOnce(&mut Table)) {
        if let Some(table) = self.tables.last_mut() {
            change(table);
        }
    }

    fn end_paragraph(&mut self) -> Result<(), DocumentError> {
        let WordParagraph { text, style, list, level } = std::mem::take(&mut self.paragraph);
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        if let Some(table) = self.tables.last_mut() {
            if !table.cell.is_empty() {
                table.cell.push('\n');
            }
            table.cell.push_str(text);
            return Ok(());
        }
        let heading = style.and_then(|style| self.headings.get(&style)).copied();
        let was_item = self.after_item;
        self.after_item = heading.is_none() && list.is_some();
        match (heading, list) {
            (Some(level), _) => {
                // Bold adds nothing to a heading, and a heading is one line.
                let text = text.replace("**", "").replace('\n', " ");
                writeln!(self.into, "\n{} {text}", "#".repeat(level.min(MAX_HEADING)))?;
            }
            (None, Some(list)) => {
                if !was_item {
                    writeln!(self.into)?;
                }
                let marker = self.lists.get(&list).and_then(|markers| markers.get(&level));
                let marker = if marker == Some(&ListMark::Number) { "1." } else { "-" };
                writeln!(self.into, "{}{marker} {text}", "  ".repeat(level.min(MAX_ITEM_LEVEL)))?;
            }
            (None, None) => writeln!(self.into, "\n{text}")?,
        }
        Ok(())
    }

    fn end_table(&mut self, table: &Table) -> Result<(), DocumentError> {
        match self.tables.last_mut() {
            // A nested table becomes text of its cell.
            Some(outer) => {
                for row in &table.rows {
                    if !outer.cell.is_empty() {
                        outer.cell.push('\n');
                    }
                    outer.cell.push_str(&row.join(" / "));
                }
            }
            None => {
                writeln!(self.into)?;
                table::write(self.into, &table.rows)?;
                self.after_item = false;
            }
        }
        Ok(())
    }
}

/// Adds a run; bold marks enclose its words but not the surrounding spaces, where Markdown ignores them.
fn add_run(text: &mut String, run: &TextRun) {
    let trimmed = run.text.trim();
    if !run.bold || trimmed.is_empty() {
        text.push_str(&run.text);
        return;
    }
    let (before, trailing) = run.text.split_once(trimmed).unwrap_or(("", ""));
    // One bold text is often split into several runs.
    let joined = before.is_empty() && text.ends_with("**") && !text.ends_with(" **");
    if joined {
        text.truncate(text.len() - 2);
    } else {
        text.push_str(before);
        text.push_str("**");
    }
    text.push_str(trimmed);
    text.push_str("**");
    text.push_str(trailing);
}
