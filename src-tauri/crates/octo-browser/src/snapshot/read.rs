//! Converts a part of a page to Markdown.

use super::clean::{clean_line, push_clean_line, truncate};
use super::layout::NONE;
use super::lines::LineKind;
use super::paint::HiddenReason;
use super::role::RolePart;
use super::tokens::estimate_tokens;
use super::tree::Node;
use super::view::Snapshot;

/// The part of the page to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagePart {
    /// The whole page.
    Whole,
    /// The element with this ref.
    Ref(u32),
    /// The content under the first heading with this text, up to the next heading of its level.
    Under(String),
}

/// One page of Markdown output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownPage {
    /// The text.
    pub text: String,
    /// Byte offset in the whole text of the next page, if any.
    pub next: Option<usize>,
    /// Length of the whole text, in bytes.
    pub total: usize,
}

/// The reason why no such part exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The ref or heading is not in the snapshot.
    #[error("that is not on the page")]
    NotThere,
    /// The text has fewer parts.
    #[error("it has {parts} parts")]
    OutOfRange {
        /// Number of parts.
        parts: usize,
    },
}

/// Maximum length of an address; longer ones are truncate, because they carry data.
const MAX_ADDRESS: usize = 200;
/// Maximum indentation depth of lists and quotes.
const MAX_INDENT: usize = 8;

impl Snapshot {
    /// Returns a part as Markdown, from an offset on (0, or [`MarkdownPage::next`]), in at most `budget` estimated
    /// tokens. `None` if the ref or heading is not in this snapshot.
    pub fn read(&self, part: &PagePart, start: usize, budget: usize) -> Option<MarkdownPage> {
        Some(page_from(&self.markdown(part)?, start, budget))
    }

    /// Returns the part with this number, counted from 1, where each part has at most `budget` estimated
    /// tokens. The text is generated only once. A ref or heading that the snapshot does not have is another error
    /// than a part that the text does not have.
    ///
    /// # Errors
    ///
    /// [`PartError`].
    pub fn part(&self, part_of: &PagePart, number: usize, budget: usize) -> Result<MarkdownPage, PartError> {
        let markdown = self.markdown(part_of).ok_or(PartError::NotThere)?;
        let mut parts = 1;
        let mut part = page_from(&markdown, 0, budget);
        while parts < number {
            let next = part.next.ok_or(PartError::OutOfRange { parts })?;
            part = page_from(&markdown, next, budget);
            parts += 1;
        }
        Ok(part)
    }

    fn markdown(&self, part: &PagePart) -> Option<String> {
        let (start, end) = match part {
            PagePart::Whole => (0, NONE),
            PagePart::Ref(number) => {
                let (key, _) = self.numbers.iter().find(|(_, reference)| *reference == number)?;
                let top = self.nodes.iter().position(|node| (node.frame, node.backend) == *key)?;
                (u32::try_from(top).ok()?, NONE)
            }
            PagePart::Under(text) => self.section(text)?,
        };
        Some(MarkdownWriter::of(self, start, end, matches!(part, PagePart::Under(_))))
    }

    /// Returns the nodes of the heading with this text and of the next heading of its level or above, or `NONE`.
    fn section(&self, text: &str) -> Option<(u32, u32)> {
        let heading = clean_line(text).to_lowercase();
        let heading = heading.trim_start_matches('#').trim_start();
        let headings = || {
            self.lines.lines.iter().filter_map(|line| match line.kind {
                LineKind::Heading(level) => {
                    Some((line.text.trim_start_matches('#').trim_start().to_lowercase(), level, line.node))
                }
                LineKind::Container | LineKind::Plain => None,
            })
        };
        let exact = headings().find(|(text, _, _)| text == heading);
        let (_, level, node) = exact.or_else(|| headings().find(|(text, _, _)| text.contains(heading)))?;
        let following = headings()
            .skip_while(|(_, _, other)| *other != node)
            .skip(1)
            .find(|(_, other, _)| *other <= level);
        Some((node, following.map_or(NONE, |(_, _, node)| node)))
    }
}

/// Returns as much text from an offset on as fits, cut at a line end if possible.
fn page_from(markdown: &str, offset: usize, budget: usize) -> MarkdownPage {
    let length = markdown.len();
    let mut start = offset.min(length);
    while !markdown.is_char_boundary(start) {
        start -= 1;
    }
    let remaining = markdown.get(start..).unwrap_or_default();
    let mut end = 0;
    let mut tokens = 0;
    for line in remaining.split_inclusive('\n') {
        tokens += estimate_tokens(line);
        if tokens > budget {
            break;
        }
        end += line.len();
    }
    if end == 0 && !remaining.is_empty() {
        // The line is longer than a page: a character is at least a third of a token, so this many characters
        // always fit.
        end = remaining.char_indices().nth(budget.max(1)).map_or(remaining.len(), |(end, _)| end);
    }
    let text = remaining.get(..end).unwrap_or_default().to_owned();
    let next = (start + end < length).then_some(start + end);
    MarkdownPage { text, next, total: length }
}

struct MarkdownWriter<'s> {
    snapshot: &'s Snapshot,
    out: String,
    line: String,
    /// List and quote marks before every line.
    prefix: Vec<&'static str>,
    bullet: Option<String>,
    /// One entry for each open list.
    open_lists: Vec<Option<u32>>,
    inline: u32,
    code: u32,
    /// Number of rows written of each open table.
    table_rows: Vec<u32>,
}

enum MarkdownStep {
    Enter(u32),
    Leave(MarkdownUndo),
}

enum MarkdownUndo {
    Nothing,
    Block,
    /// Closes a link with its address.
    Link {
        start: usize,
        url: String,
        name: String,
    },
    Mark(String),
    Heading,
    List,
    Item,
    Quote,
    Code,
    Row,
    Table,
    Cell,
}

impl<'s> MarkdownWriter<'s> {
    fn of(snapshot: &'s Snapshot, start: u32, end: u32, is_section: bool) -> String {
        let mut writer = Self {
            snapshot,
            out: String::new(),
            line: String::new(),
            prefix: Vec::new(),
            bullet: None,
            open_lists: Vec::new(),
            inline: 0,
            code: 0,
            table_rows: Vec::new(),
        };
        let root = if is_section { 0 } else { start };
        let mut started = !is_section;
        let mut steps = vec![MarkdownStep::Enter(root)];
        while let Some(step) = steps.pop() {
            match step {
                MarkdownStep::Enter(index) => {
                    if is_section && index == end {
                        break;
                    }
                    started |= index == start;
                    let Some(node) = snapshot.nodes.get(index as usize) else { continue };
                    if !snapshot.visible.get(index as usize).copied().unwrap_or_default() {
                        continue;
                    }
                    // Until the part begins, nodes are traversed without output.
                    let undo = if started { writer.enter(node) } else { Some(MarkdownUndo::Nothing) };
                    let Some(undo) = undo else { continue };
                    steps.push(MarkdownStep::Leave(undo));
                    steps.extend(node.children.iter().rev().map(|child| MarkdownStep::Enter(*child)));
                }
                MarkdownStep::Leave(undo) => writer.leave(undo),
            }
        }
        writer.flush();
        writer.out
    }

    fn enter(&mut self, node: &Node) -> Option<MarkdownUndo> {
        match node.part {
            RolePart::Text => {
                if matches!(node.hidden, None | Some(HiddenReason::SameColour)) {
                    self.write_text(&node.name);
                }
                None
            }
            RolePart::Hidden => None,
            RolePart::Break => {
                if self.code > 0 {
                    self.line.push('\n')
                } else {
                    self.end_block()
                }
                None
            }
            RolePart::Heading => {
                self.end_block();
                self.line = format!("{} ", "#".repeat(usize::from(node.level.clamp(1, 6))));
                self.inline += 1;
                Some(MarkdownUndo::Heading)
            }
            RolePart::Field => {
                let mut text = self.control_text(node);
                // The full value, since a line of the snapshot shows only its beginning. Secret values are not
                // stored.
                if !node.value.is_empty() {
                    text.push_str(" = ");
                    text.push_str(&node.value);
                }
                self.write_word(&text);
                None
            }
            RolePart::Control if &*node.role == "link" => {
                let start = self.line.len();
                Some(MarkdownUndo::Link {
                    start,
                    url: truncate(&node.url, MAX_ADDRESS).into_owned(),
                    name: node.name.clone(),
                })
            }
            RolePart::Control if node.role.is_empty() => Some(if node.block {
                self.end_block();
                MarkdownUndo::Block
            } else {
                MarkdownUndo::Nothing
            }),
            RolePart::Control => {
                self.write_word(&self.control_text(node));
                (node.name.is_empty() || matches!(&*node.role, "treeitem" | "canvas"))
                    .then_some(MarkdownUndo::Nothing)
            }
            RolePart::Picture => {
                if !node.name.is_empty() {
                    self.write_word(&format!("![{}]", truncate(&node.name, 200)));
                }
                None
            }
            RolePart::List => {
                self.end_block();
                self.open_lists.push(None);
                Some(MarkdownUndo::List)
            }
            RolePart::Item => {
                self.end_block();
                let depth = self.open_lists.len().clamp(1, MAX_INDENT) - 1;
                self.bullet = Some(format!("{}- ", "  ".repeat(depth)));
                Some(MarkdownUndo::Item)
            }
            RolePart::Quote => {
                self.end_block();
                if self.prefix.len() < MAX_INDENT {
                    self.prefix.push("> ");
                }
                Some(MarkdownUndo::Quote)
            }
            RolePart::Code if node.block => {
                self.end_block();
                self.code += 1;
                Some(MarkdownUndo::Code)
            }
            RolePart::Code if self.code == 0 && self.inline == 0 => {
                self.write_word("`");
                Some(MarkdownUndo::Mark("`".to_owned()))
            }
            RolePart::Table => {
                self.end_block();
                self.table_rows.push(0);
                Some(MarkdownUndo::Table)
            }
            RolePart::Row if !self.table_rows.is_empty() && self.inline == 0 => {
                self.flush();
                self.inline += 1;
                self.line.push('|');
                Some(MarkdownUndo::Row)
            }
            RolePart::Cell if self.inline > 0 => Some(MarkdownUndo::Cell),
            _ if node.block => {
                self.end_block();
                Some(MarkdownUndo::Block)
            }
            _ => Some(MarkdownUndo::Nothing),
        }
    }

    fn leave(&mut self, undo: MarkdownUndo) {
        match undo {
            MarkdownUndo::Nothing => {}
            MarkdownUndo::Block => self.end_block(),
            MarkdownUndo::Mark(markup) => {
                self.line.truncate(self.line.trim_end().len());
                self.line.push_str(&markup);
                self.line.push(' ');
            }
            MarkdownUndo::Link { start, url, name } => self.link(start, &url, &name),
            MarkdownUndo::Heading => {
                self.inline = self.inline.saturating_sub(1);
                self.end_block();
            }
            MarkdownUndo::List => {
                self.flush();
                self.open_lists.pop();
                if self.open_lists.is_empty() {
                    self.end_paragraph();
                }
            }
            MarkdownUndo::Item => {
                self.flush();
                self.bullet = None;
            }
            MarkdownUndo::Quote => {
                self.end_block();
                self.prefix.pop();
            }
            MarkdownUndo::Code => {
                let code = std::mem::take(&mut self.line);
                self.code = self.code.saturating_sub(1);
                if self.code == 0 {
                    self.end_paragraph();
                    self.out.push_str(&format!(
                        "```\n{}\n```\n\n",
                        code.trim_matches('\n').replace("```", "'''")
                    ));
                } else {
                    self.line = code;
                }
            }
            MarkdownUndo::Cell => {
                self.line.truncate(self.line.trim_end().len());
                self.line.push_str(" |");
            }
            MarkdownUndo::Row => {
                self.inline = self.inline.saturating_sub(1);
                let cells = self.line.matches(" |").count();
                self.flush();
                if let Some(rows) = self.table_rows.last_mut() {
                    *rows += 1;
                    if *rows == 1 {
                        self.out.push_str(&format!("|{}\n", " --- |".repeat(cells.max(1))));
                    }
                }
            }
            MarkdownUndo::Table => {
                self.table_rows.pop();
                self.end_paragraph();
            }
        }
    }

    fn write_text(&mut self, text: &str) {
        if self.code > 0 {
            self.line.push_str(&super::clean::clean_text(text));
        } else if self.inline > 0 && !self.table_rows.is_empty() {
            if self.line.ends_with('|') {
                self.line.push(' ');
            }
            push_clean_line(&mut self.line, &text.replace('|', "\\|"));
        } else {
            push_clean_line(&mut self.line, text);
        }
    }

    fn write_word(&mut self, text: &str) {
        if !self.line.is_empty() && !self.line.ends_with([' ', '`', '[']) {
            self.line.push(' ');
        }
        self.line.push_str(text);
        if text != "`" {
            self.line.push(' ');
        }
    }

    /// Turns the text written since `start` into a link.
    fn link(&mut self, start: usize, url: &str, name: &str) {
        let start =
            if self.line.is_char_boundary(start) { start.min(self.line.len()) } else { self.line.len() };
        let inner = clean_line(self.line.get(start..).unwrap_or_default());
        let inner = if inner.is_empty() { name.to_owned() } else { inner };
        if inner.is_empty() {
            return;
        }
        let starts_with_space = self.line.get(start..).is_some_and(|text| text.starts_with(' '));
        self.line.truncate(start);
        if starts_with_space || self.line.ends_with('|') {
            self.line.push(' ');
        }
        let address = url.split(['(', ')', ' ']).next().unwrap_or_default();
        match address.is_empty() || address.starts_with("javascript:") {
            true => self.line.push_str(&inner),
            false => self.line.push_str(&format!("[{inner}]({address})")),
        }
    }

    fn control_text(&self, node: &Node) -> String {
        let number = self.snapshot.numbers.get(&(node.frame, node.backend));
        let number = number.map(|number| format!(" [{number}]")).unwrap_or_default();
        format!("{} \"{}\"{number}", node.role, truncate(&node.name, 120))
    }

    /// Ends a block: ends the line and, outside lists and tables, the paragraph.
    fn end_block(&mut self) {
        if self.code > 0 {
            if !self.line.is_empty() && !self.line.ends_with('\n') {
                self.line.push('\n');
            }
        } else if self.inline > 0 {
            if !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
        } else {
            let flushed = self.flush();
            if flushed && self.open_lists.is_empty() {
                self.end_paragraph();
            }
        }
    }

    fn end_paragraph(&mut self) {
        self.flush();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Ends the line. Returns whether it had content.
    fn flush(&mut self) -> bool {
        let line = std::mem::take(&mut self.line);
        let line = line.trim();
        if line.is_empty() || line.trim_matches('#').is_empty() {
            return false;
        }
        self.prefix.iter().for_each(|prefix| self.out.push_str(prefix));
        if let Some(bullet) = &mut self.bullet {
            self.out.push_str(bullet);
            // Further lines of an item are aligned with its first line.
            *bullet = " ".repeat(bullet.len());
        }
        self.out.push_str(line);
        self.out.push('\n');
        true
    }
}
