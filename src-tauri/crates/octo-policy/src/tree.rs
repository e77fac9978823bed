//! The second parser: the bash grammar of tree-sitter.
//!
//! The grammar alone cannot be trusted with permission: for a backtick in an unquoted here-document, for example, it
//! reports neither an error nor the inner command. It is a second opinion: it must see the same commands, words,
//! redirections and operators at the same positions as our own parsers.

use crate::{
    plain,
    script::{Parsed, RedirectKind, Word},
};
use std::ops::Range;
use tree_sitter::{Node, Parser};

/// Maximum length of a parsed line, in bytes. A longer line asks, because parsing takes long and people do not read
/// such lines.
pub(crate) const MAX_LINE: usize = 64 * 1024;

/// The parts of a line that the grammar sees, as byte ranges.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The range of each simple command and of its words, name first, in order of their start.
    commands: Vec<(Range<usize>, Vec<Range<usize>>)>,
    /// The targets of redirections, in order.
    targets: Vec<Range<usize>>,
    /// The position and text of each joining operator, in order.
    operators: Vec<(usize, &'static str)>,
    /// Whether the syntax tree has a node of any other kind.
    has_other_nodes: bool,
}

/// Parses a line. Returns `None` if the grammar rejects it.
pub(crate) fn outline(line: &str) -> Option<Outline> {
    if line.len() > MAX_LINE || line.contains('\0') {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(replace_non_ascii(line), None)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut outline = Outline::default();
    // An explicit stack: deep nesting must not exhaust the thread's stack.
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        outline.add_node(node);
        let mut cursor = node.walk();
        stack.extend(node.children(&mut cursor));
    }
    outline.commands.sort_by_key(|(span, _)| (span.start, span.end));
    outline.targets.sort_by_key(|span| span.start);
    outline.operators.sort_unstable();
    Some(outline)
}

/// Replaces each byte that is not ASCII by a letter. To bash such characters are ordinary letters, but the grammar's
/// scanner (0.25.1) reads out of bounds if one follows a brace (tree-sitter/tree-sitter-bash#337).
fn replace_non_ascii(line: &str) -> Vec<u8> {
    line.bytes().map(|byte| if byte.is_ascii() { byte } else { b'a' }).collect()
}

impl Outline {
    fn add_node(&mut self, node: Node<'_>) {
        match node.kind() {
            "command" => {
                let mut cursor = node.walk();
                // The grammar puts some redirections inside the command's node.
                let words = node
                    .children(&mut cursor)
                    .filter(|child| {
                        !matches!(
                            child.kind(),
                            "file_redirect"
                                | "heredoc_redirect"
                                | "herestring_redirect"
                                | "variable_assignment"
                                | "<<<"
                        )
                    })
                    .map(|child| child.byte_range())
                    .collect();
                self.commands.push((node.byte_range(), words));
            }
            "file_redirect" => {
                let mut cursor = node.walk();
                let targets: Vec<_> = node
                    .children_by_field_name("destination", &mut cursor)
                    .map(|target| target.byte_range())
                    .collect();
                self.has_other_nodes |= targets.len() != 1;
                self.targets.extend(targets);
            }
            ";" => self.operators.push((node.start_byte(), ";")),
            "&&" => self.operators.push((node.start_byte(), "&&")),
            "||" => self.operators.push((node.start_byte(), "||")),
            "|" => self.operators.push((node.start_byte(), "|")),
            "program"
            | "list"
            | "pipeline"
            | "redirected_statement"
            | "command_name"
            | "word"
            | "number"
            | "string"
            | "string_content"
            | "raw_string"
            | "concatenation"
            | "file_descriptor"
            | "\""
            | ">"
            | ">>"
            | "&>"
            | "&>>"
            | ">&"
            | "<"
            | "\n"
            | "extglob_pattern" => {}
            _ => self.has_other_nodes = true,
        }
    }

    /// Returns whether the grammar sees exactly what [`crate::plain`] sees.
    pub(crate) fn agrees(&self, line: &plain::PlainLine) -> bool {
        let words = line.commands.iter().map(|command| command.words.iter().map(|word| word.span.clone()));
        let targets =
            line.commands.iter().flat_map(|command| &command.redirects).map(|redirect| &redirect.target.span);
        !self.has_other_nodes
            && self.operators == line.operators
            && self.commands.len() == line.commands.len()
            && self.commands.iter().zip(words).all(|((_, seen), words)| seen.iter().cloned().eq(words))
            && self.targets.iter().eq(targets)
    }

    /// Returns whether the grammar sees the same simple commands, words and redirections as [`crate::bash`] in a line
    /// of any form, so that no command that runs is seen by one parser alone. To the grammar, declarations and tests
    /// are not commands; they run nothing themselves, and the commands in their expansions are compared.
    pub(crate) fn agrees_on_commands(&self, parsed: &Parsed) -> bool {
        const NOT_COMMANDS: &[&str] =
            &["declare", "export", "local", "readonly", "typeset", "unset", "unsetenv", "[", "[["];
        let mut ours: Vec<Vec<Range<usize>>> = parsed
            .simple_commands()
            .into_iter()
            .filter(|simple| {
                let name = simple.words.first().and_then(Word::literal);
                !simple.words.is_empty() && !name.is_some_and(|name| NOT_COMMANDS.contains(&name.as_str()))
            })
            .map(|simple| simple.words.iter().map(|word| word.span.clone()).collect())
            .collect();
        let mut theirs: Vec<Vec<Range<usize>>> =
            self.commands.iter().map(|(_, words)| words.clone()).filter(|words| !words.is_empty()).collect();
        let mut targets: Vec<Range<usize>> = parsed
            .redirects()
            .into_iter()
            .filter(|redirect| !matches!(redirect.kind, RedirectKind::Document(_) | RedirectKind::Text))
            .map(|redirect| redirect.target.span.clone())
            .collect();
        let first_word_span = |words: &Vec<Range<usize>>| words.first().map(|word| (word.start, word.end));
        ours.sort_by_key(first_word_span);
        theirs.sort_by_key(first_word_span);
        targets.sort_by_key(|span| (span.start, span.end));
        let mut their_targets = self.targets.clone();
        their_targets.sort_by_key(|span| (span.start, span.end));
        ours == theirs && targets == their_targets
    }

    /// Returns the ranges of the simple commands, in order.
    pub(crate) fn commands(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.commands.iter().map(|(span, _)| span.clone())
    }
}
