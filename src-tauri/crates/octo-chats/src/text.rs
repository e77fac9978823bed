//! Converts Markdown to the small markup of a chat service: Telegram's `HTML` style (b, i, s, code, pre, a,
//! blockquote).
//!
//! Elements without a form in the markup become plain text: a list with its marks, a table as lines of code, a
//! link to a file followed by its path.

use crate::post::units;
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::fmt::Write as _;

/// A self-contained block of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextBlock {
    /// With markup.
    pub rich: String,
    /// Without.
    pub plain: String,
}

impl TextBlock {
    /// Splits this part into pieces of at most `limit`. A piece keeps only the markup of code.
    pub(crate) fn split(&self, limit: usize) -> Vec<TextBlock> {
        if units(&self.rich) <= limit {
            return vec![self.clone()];
        }
        let frame = if self.rich.starts_with("<pre>") { ("<pre>", "</pre>") } else { ("", "") };
        let room = limit - frame.0.len() - frame.1.len();
        let mut parts = Vec::new();
        let mut part = String::new();
        let mut size = 0;
        // Best split position: after a line, otherwise after a word, otherwise anywhere.
        let mut line_break = None;
        let mut word_break = None;
        for c in self.plain.chars() {
            let length = units(&escape(c.encode_utf8(&mut [0; 4])));
            if size + length > room {
                let split = line_break.or(word_break).filter(|split| *split > 0).unwrap_or(part.len());
                let remaining = part.split_off(split);
                parts.push(std::mem::replace(&mut part, remaining));
                size = units(&escape(&part));
                (line_break, word_break) = (None, None);
            }
            part.push(c);
            size += length;
            match c {
                '\n' => line_break = Some(part.len()),
                c if c.is_whitespace() => word_break = Some(part.len()),
                _ => {}
            }
        }
        parts.push(part);
        parts
            .into_iter()
            .map(|part| part.trim_matches('\n').to_owned())
            .filter(|part| !part.trim().is_empty())
            .map(|plain| TextBlock { rich: format!("{}{}{}", frame.0, escape(&plain), frame.1), plain })
            .collect()
    }
}

/// Escapes text so it contains no markup.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Returns the parts of a Markdown text, in order; none is empty.
pub(crate) fn parse(markdown: &str) -> Vec<TextBlock> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = MarkupWriter::default();
    for event in Parser::new_ext(markdown, options) {
        writer.handle_event(event);
    }
    writer.end_part();
    writer.parts
}

#[derive(Default)]
struct MarkupWriter {
    parts: Vec<TextBlock>,
    part: TextBlock,
    /// Nesting depth inside blocks; a part ends when it returns to zero.
    depth: usize,
    /// Open lists; for numbered ones the next number.
    lists: Vec<Option<u64>>,
    /// Open links.
    links: Vec<LinkKind>,
    /// Whether inside a heading, which is bold as a whole.
    in_heading: bool,
    /// Whether inside a table, whose cells contain only text.
    in_table: bool,
    first_cell: bool,
}

enum LinkKind {
    /// Web link, which the markup supports.
    Web,
    /// Any other link, appended after its text.
    Place(String),
}

impl MarkupWriter {
    fn handle_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.add_text(&text),
            Event::Code(text) => self.add_wrapped("code", &text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.add_wrapped("code", &text),
            Event::FootnoteReference(name) => self.add_text(&format!("[{name}]")),
            Event::SoftBreak | Event::HardBreak => self.add_text("\n"),
            Event::Rule => {
                self.add_text("———");
                self.block_ended();
            }
            Event::TaskListMarker(checked) => self.add_text(if checked { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.depth += 1,
            Tag::Heading { .. } => {
                self.depth += 1;
                self.in_heading = true;
                self.add_markup("<b>");
            }
            Tag::BlockQuote(_) => {
                // The markup does not allow nesting it.
                if self.depth == 0 {
                    self.add_markup("<blockquote>");
                }
                self.depth += 1;
            }
            Tag::CodeBlock(kind) => {
                self.new_line();
                self.depth += 1;
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                match language {
                    "" => self.add_markup("<pre>"),
                    language => {
                        let class = escape(language);
                        self.add_markup(&format!("<pre><code class=\"language-{class}\">"));
                    }
                }
            }
            Tag::List(start_number) => {
                self.new_line();
                self.depth += 1;
                self.lists.push(start_number);
            }
            Tag::Item => {
                self.new_line();
                let depth = self.lists.len().saturating_sub(1);
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number += 1;
                        marker
                    }
                    Some(None) | None => "• ".to_owned(),
                };
                self.add_text(&format!("{}{marker}", "    ".repeat(depth)));
                self.depth += 1;
            }
            Tag::Table(alignments) => self.start_table(&alignments),
            Tag::TableHead | Tag::TableRow => {
                self.new_line();
                self.first_cell = true;
            }
            Tag::TableCell => {
                if !std::mem::take(&mut self.first_cell) {
                    self.add_text(" | ");
                }
            }
            Tag::Emphasis => self.style("<i>"),
            Tag::Strong if self.in_heading => {}
            Tag::Strong => self.style("<b>"),
            Tag::Strikethrough => self.style("<s>"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let is_web = dest_url.starts_with("https://") || dest_url.starts_with("http://");
                if is_web && !self.in_table {
                    self.add_markup(&format!("<a href=\"{}\">", escape(&dest_url)));
                    self.links.push(LinkKind::Web);
                } else {
                    self.links.push(LinkKind::Place(dest_url.into_string()));
                }
            }
            Tag::FootnoteDefinition(name) => {
                self.depth += 1;
                self.add_text(&format!("[{name}] "));
            }
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::FootnoteDefinition => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth > 0 {
                    self.new_line();
                }
                self.block_ended();
            }
            TagEnd::Heading(_) => {
                self.in_heading = false;
                self.add_markup("</b>");
                self.depth = self.depth.saturating_sub(1);
                self.block_ended();
            }
            TagEnd::BlockQuote(_) => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.trim();
                    self.add_markup("</blockquote>");
                }
                self.block_ended();
            }
            TagEnd::CodeBlock => {
                self.trim();
                let is_named = self.part.rich.rfind("<pre>").is_some_and(|start| {
                    self.part
                        .rich
                        .get(start..)
                        .is_some_and(|opening| opening.starts_with("<pre><code class="))
                });
                self.add_markup(if is_named { "</code></pre>" } else { "</pre>" });
                self.depth = self.depth.saturating_sub(1);
                self.block_ended();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.depth = self.depth.saturating_sub(1);
                self.block_ended();
            }
            TagEnd::Item => self.depth = self.depth.saturating_sub(1),
            TagEnd::Table => {
                self.in_table = false;
                self.trim();
                self.add_markup("</pre>");
                self.depth = self.depth.saturating_sub(1);
                self.block_ended();
            }
            TagEnd::Emphasis => self.style("</i>"),
            TagEnd::Strong if self.in_heading => {}
            TagEnd::Strong => self.style("</b>"),
            TagEnd::Strikethrough => self.style("</s>"),
            TagEnd::Link | TagEnd::Image => match self.links.pop() {
                Some(LinkKind::Web) => self.add_markup("</a>"),
                Some(LinkKind::Place(address)) => self.add_text(&format!(" ({address})")),
                None => {}
            },
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn start_table(&mut self, _alignments: &[Alignment]) {
        self.new_line();
        self.depth += 1;
        self.in_table = true;
        self.add_markup("<pre>");
    }

    /// Adds text, escaped.
    fn add_text(&mut self, text: &str) {
        self.part.rich.push_str(&escape(text));
        self.part.plain.push_str(text);
    }

    fn add_wrapped(&mut self, tag: &str, text: &str) {
        if self.in_table {
            return self.add_text(text);
        }
        // Writing to a string cannot fail.
        let _written = write!(self.part.rich, "<{tag}>{}</{tag}>", escape(text));
        self.part.plain.push_str(text);
    }

    fn add_markup(&mut self, markup: &str) {
        self.part.rich.push_str(markup);
    }

    /// Adds inline markup; a table has none inside.
    fn style(&mut self, markup: &str) {
        if !self.in_table {
            self.add_markup(markup);
        }
    }

    /// Makes the following text begin on a line of its own.
    fn new_line(&mut self) {
        let is_begun = !self.part.plain.is_empty() && !self.part.plain.ends_with('\n');
        if is_begun {
            self.add_text("\n");
        }
    }

    fn trim(&mut self) {
        for text in [&mut self.part.rich, &mut self.part.plain] {
            text.truncate(text.trim_end().len());
        }
    }

    fn block_ended(&mut self) {
        if self.depth == 0 {
            self.end_part();
        }
    }

    fn end_part(&mut self) {
        self.trim();
        let part = std::mem::take(&mut self.part);
        if !part.plain.trim().is_empty() {
            self.parts.push(part);
        }
    }
}
