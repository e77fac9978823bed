//! The language of `jq`: the part that reads only its input.

use crate::{
    context::UNKNOWN,
    grammar::{OptionGrammar, Reads},
    plain::{Form, Word},
};

/// `-f` and `-L` take programs from files, `--slurpfile` and `--rawfile` read files, `--args` changes the meaning of
/// the operands.
pub(crate) const OPTIONS: &str = "-acCeMnrRsSj --compact-output --exit-status --join-output --monochrome-output --color-output --null-input --raw-input --raw-output --ascii-output --slurp --sort-keys --tab --indent=NUM !-f=FILE !--from-file=FILE !-L=FILE !--slurpfile=FILE !--rawfile=FILE !--args !--jsonargs !--stream !--seq";

/// Returns the files `jq` would read; `None` if its program may read anything else.
pub(crate) fn reads(grammar: &OptionGrammar, arguments: &[Word]) -> Option<Reads> {
    let words = without_variables(arguments)?;
    let options = grammar.read(&words)?;
    let mut operands = options.operands.iter();
    let program = operands.next().filter(|word| word.form == Form::Literal)?;
    if !options.patterns.is_empty() || !reads_input_only(&program.text) {
        return None;
    }
    let files = operands.filter(|word| word.form != Form::Pipe).map(|word| word.text.clone());
    Some(options.option_reads().into_iter().chain(files).collect())
}

/// Returns the words without `--arg name value`, which are files after `--`.
fn without_variables(arguments: &[Word]) -> Option<Vec<&Word>> {
    let mut rest = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(word.text.as_str(), "--arg" | "--argjson") && word.form == Form::Literal {
            words.next().filter(|name| name.form == Form::Literal)?;
            words.next().filter(|value| !matches!(value.form, Form::Split | Form::Pattern))?;
        } else {
            rest.push(word);
            if word.text == "--" {
                rest.extend(words.by_ref());
            }
        }
    }
    Some(rest)
}

/// Returns whether a program reads neither the environment nor other files. Names in strings count, because a string
/// may contain `\(env)`.
fn reads_input_only(program: &str) -> bool {
    const REFUSED: &[&str] = &[
        "env",
        "$ENV",
        "import",
        "include",
        "input_filename",
        "modulemeta",
        "get_search_list",
        "$__prog_args",
        "debug",
        "stderr",
        "halt_error",
    ];
    let names = program.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    !program.contains(UNKNOWN) && !names.into_iter().any(|name| REFUSED.contains(&name))
}
