//! The second reader: the bash grammar of tree-sitter.
//!
//! Alone it is not to be trusted with permission: it reports no error and no inner command for a backtick in an
//! unquoted here-document, for one. As a second opinion on lines [`crate::plain`] accepts it must see the same
//! commands, words, redirections and operators at the same places.

use crate::{
    plain,
    script::{Parsed, RedirectKind, Word},
};
use std::ops::Range;
use tree_sitter::{Node, Parser};

/// The maximum length of a parsed line; longer ones ask: parsing time grows with length, and people do not read
/// them.
pub(crate) const MAX_LINE: usize = 64 * 1024;

/// What the grammar saw.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The words of each simple command, name first, in order of their start.
    commands: Vec<(Range<usize>, Vec<Range<usize>>)>,
    /// The targets of redirections, in order.
    targets: Vec<Range<usize>>,
    /// The joining operators, in order.
    operators: Vec<(usize, &'static str)>,
    /// Whether anything else was seen.
    foreign: bool,
}

/// Parses a line; none when the grammar cannot.
pub(crate) fn outline(line: &str) -> Option<Outline> {
    if line.len() > MAX_LINE || line.contains('\0') {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(ascii(line), None)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut outline = Outline::default();
    // A stack of our own: a deep nest must not exhaust the thread's.
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        outline.take(node);
        let mut cursor = node.walk();
        stack.extend(node.children(&mut cursor));
    }
    outline.commands.sort_by_key(|(span, _)| (span.start, span.end));
    outline.targets.sort_by_key(|span| span.start);
    outline.operators.sort_unstable();
    Some(outline)
}

/// The line with a letter for each byte that is not ASCII. To bash such characters are letters like others; the
/// grammar's scanner (0.25.1) reads memory that is not its own when one follows a brace
/// (tree-sitter/tree-sitter-bash#337).
fn ascii(line: &str) -> Vec<u8> {
    line.bytes().map(|byte| if byte.is_ascii() { byte } else { b'a' }).collect()
}

impl Outline {
    fn take(&mut self, node: Node<'_>) {
        match node.kind() {
            "command" => {
                let mut cursor = node.walk();
                // The grammar hangs some redirections inside the command.
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
                self.foreign |= targets.len() != 1;
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
            _ => self.foreign = true,
        }
    }

    /// Whether the grammar saw exactly what the other reader saw.
    pub(crate) fn agrees(&self, line: &plain::PlainLine) -> bool {
        let words = line.commands.iter().map(|command| command.words.iter().map(|word| word.span.clone()));
        let targets =
            line.commands.iter().flat_map(|command| &command.redirects).map(|redirect| &redirect.target.span);
        !self.foreign
            && self.operators == line.operators
            && self.commands.len() == line.commands.len()
            && self.commands.iter().zip(words).all(|((_, seen), words)| seen.iter().cloned().eq(words))
            && self.targets.iter().eq(targets)
    }

    /// Whether the grammar saw the same simple commands, with the same words, and the same redirections, in a
    /// line of any form: no command that runs is seen by one parser alone. Declarations and tests are no
    /// commands to the grammar; on their own they run nothing, and the content of their expansions is compared.
    pub(crate) fn agrees_on_commands(&self, parsed: &Parsed) -> bool {
        const NO_COMMANDS: &[&str] =
            &["declare", "export", "local", "readonly", "typeset", "unset", "unsetenv", "[", "[["];
        let mut ours: Vec<Vec<Range<usize>>> = parsed
            .simples()
            .into_iter()
            .filter(|simple| {
                let name = simple.words.first().and_then(Word::literal);
                !simple.words.is_empty() && !name.is_some_and(|name| NO_COMMANDS.contains(&name.as_str()))
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
        let by_place = |words: &Vec<Range<usize>>| words.first().map(|word| (word.start, word.end));
        ours.sort_by_key(by_place);
        theirs.sort_by_key(by_place);
        targets.sort_by_key(|span| (span.start, span.end));
        let mut their_targets = self.targets.clone();
        their_targets.sort_by_key(|span| (span.start, span.end));
        ours == theirs && targets == their_targets
    }

    /// Where the simple commands stand.
    pub(crate) fn commands(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.commands.iter().map(|(span, _)| span.clone())
    }
}
