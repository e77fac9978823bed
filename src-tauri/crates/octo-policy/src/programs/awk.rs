//! The language of `awk`: the part that only prints.
//!
//! The reader follows the language far enough to tell a comparison from a redirection and a pattern from a division. It
//! refuses everything that starts programs or names files: `system`, `getline`, pipes, redirections other than those to
//! files with a literal name, the list of arguments, the environment, and `@`, which loads files and calls by name.

mod tokens;

use crate::{
    context::UNKNOWN,
    grammar::{OptionGrammar, Reads},
    plain::{Form, Word},
};
use tokens::{Token, tokens};

/// `-f` takes a program from a file; gawk's long options load, dump and write.
pub(crate) const OPTIONS: &str = "-Fv=TEXT !-f=FILE";

/// Names that a program must not contain.
const REFUSED: &[&str] = &[
    "ARGC",
    "ARGIND",
    "ARGV",
    "ENVIRON",
    "FUNCTAB",
    "PROCINFO",
    "SYMTAB",
    "close",
    "extension",
    "fflush",
    "getline",
    "system",
];

/// Returns the files `awk` would read; `None` if its program may do more than print.
pub(crate) fn reads(grammar: &OptionGrammar, arguments: &[Word]) -> Option<Reads> {
    touched(grammar, arguments).filter(|(_, writes)| writes.is_empty()).map(|(reads, _)| reads)
}

/// Returns the files `awk` would read, and those its program would write by a literal name.
pub(crate) fn touched(grammar: &OptionGrammar, arguments: &[Word]) -> Option<(Reads, Vec<String>)> {
    let options = grammar.read(&arguments.iter().collect::<Vec<_>>())?;
    let mut operands = options.operands.iter();
    let program = operands.next().filter(|word| word.form == Form::Literal)?;
    if !options.patterns.is_empty() || !options.values_of(&["v"]).all(is_assignment) {
        return None;
    }
    let writes = writes(&program.text)?;
    // An operand with `=` assigns a variable. Taken for a file, it lies in the folder.
    let files = operands.filter(|word| word.form != Form::Pipe).map(|word| word.text.clone());
    Some((options.option_reads().into_iter().chain(files).collect(), writes))
}

/// Returns whether the value of `-v` assigns a variable that only the program itself uses.
fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !REFUSED.contains(&name)
    })
}

/// Returns the files a program writes; `None` if it may do more than print and write to files with a literal name.
pub(crate) fn writes(program: &str) -> Option<Vec<String>> {
    if program.contains(UNKNOWN) {
        return None;
    }
    written_files(&tokens(program)?)
}

/// Returns the files that the redirections of a program name; `None` if a token is refused. In a `print` outside
/// parentheses `>` is a redirection, elsewhere a comparison.
fn written_files(tokens: &[Token<'_>]) -> Option<Vec<String>> {
    let mut written = Vec::new();
    // The depth of the current `print` statement.
    let mut print: Option<usize> = None;
    let mut depth = 0_usize;
    let mut tokens = tokens.iter();
    let mut before = None;
    while let Some(token) = tokens.next() {
        let before = before.replace(token);
        match token {
            Token::Name(name) if REFUSED.contains(name) => return None,
            Token::Name("print" | "printf") => print = Some(depth),
            Token::Sign("(" | "[" | "{") => depth += 1,
            Token::Sign(")" | "]") => depth = depth.checked_sub(1)?,
            Token::Sign("}") => {
                depth = depth.checked_sub(1)?;
                print = None;
            }
            Token::Sign("\n") if before.is_some_and(continues) => {}
            Token::Sign(";" | "\n") if print.is_none_or(|at| at >= depth) => print = None,
            Token::Sign(">" | ">>") if print.is_some_and(|at| at >= depth) => {
                let Some(Token::Text(name)) = tokens.next() else { return None };
                let ends_statement =
                    matches!(tokens.as_slice().first(), None | Some(Token::Sign(";" | "}" | "\n")));
                // An escape would change the name.
                if !ends_statement || name.contains('\\') || name.is_empty() {
                    return None;
                }
                if !matches!(*name, "/dev/stderr" | "/dev/stdout") {
                    written.push((*name).to_owned());
                }
            }
            Token::Sign(">>") => return None,
            Token::Sign("|" | "|&" | "&" | "@" | "`" | "\\") => return None,
            _ => {}
        }
    }
    (depth == 0).then_some(written)
}

/// Returns whether a statement may continue after a line end that follows this token.
fn continues(token: &Token<'_>) -> bool {
    matches!(token, Token::Sign(sign) if !matches!(*sign, ")" | "]" | "}" | ";" | "++" | "--"))
}
