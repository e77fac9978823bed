//! Reading a command's words by its row of the table.

use crate::{
    plain::{Form, Word},
    table::{Operands, Tool},
};

/// The reads of a read-only command: words that may name a path.
pub(crate) type Reads = Vec<String>;

/// Returns the reads of a command of this row; `None` if one of its words is not in the row.
pub(crate) fn reads(tool: &Tool, arguments: &[Word]) -> Option<Reads> {
    match tool.operands {
        Operands::Only(allowed) => match arguments {
            [word] if word.form == Form::Literal && allowed.contains(&word.text.as_str()) => {
                Some(Reads::new())
            }
            _ => None,
        },
        Operands::Find => crate::find::reads(arguments),
        Operands::Git => crate::git::reads(arguments),
        Operands::Format => format(arguments),
        Operands::Program => crate::filters::reads(tool, arguments),
        Operands::Test => crate::filters::test(tool.name, arguments),
        Operands::Text if matches!(tool.name, "echo" | "true" | "false") => Some(patterns(arguments)),
        _ => Options::read(tool, &arguments.iter().collect::<Vec<_>>())?.reads(tool),
    }
}

/// Words bash replaces by names of files: looking for them reads folders.
pub(crate) fn patterns(words: &[Word]) -> Reads {
    words.iter().filter(|word| word.form == Form::Pattern).map(|word| word.text.clone()).collect()
}

/// A command's words, told apart.
pub(crate) struct Options<'a> {
    /// Options by name (`n`, `lines`), in order.
    pub given: Vec<&'a str>,
    /// Words that are neither options nor their values.
    pub operands: Vec<&'a Word>,
    /// Values of options that are paths.
    pub files: Vec<String>,
    /// Values of options, by option.
    pub values: Vec<(&'a str, &'a str)>,
    /// Values that are words of their own and patterns.
    pub patterns: Reads,
    /// Whether an option came after an operand.
    late: bool,
}

impl<'a> Options<'a> {
    /// Tells the words apart by the row; none when one is not in it.
    pub(crate) fn read(tool: &Tool, arguments: &[&'a Word]) -> Option<Self> {
        let mut options = Self {
            given: Vec::new(),
            operands: Vec::new(),
            files: Vec::new(),
            values: Vec::new(),
            patterns: Reads::new(),
            late: false,
        };
        let mut words = arguments.iter().copied();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if matches!(word.form, Form::Unknown | Form::Split) {
                // It could be an option.
                return None;
            } else if text == "--" {
                for word in words.by_ref() {
                    if word.form == Form::Split {
                        return None;
                    }
                    options.operands.push(word);
                }
            } else if let Some(long) = text.strip_prefix("--") {
                options.late |= !options.operands.is_empty();
                options.long(tool, long, &mut words)?;
            } else if let Some(short) = text.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                options.late |= !options.operands.is_empty();
                options.short(tool, short, &mut words)?;
            } else {
                options.operands.push(word);
            }
        }
        Some(options)
    }

    fn long(&mut self, tool: &Tool, text: &'a str, words: &mut impl Iterator<Item = &'a Word>) -> Option<()> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let row = tool.long.iter().find(|row| row.trim_end_matches(['=', '?', '@']) == name)?;
        self.given.push(name);
        match (row.chars().last(), value) {
            (Some('=' | '@'), None) => {
                let word = words.next().filter(|word| word.form != Form::Split)?;
                self.value(name, &word.text, if row.ends_with('@') { Value::File } else { Value::Text });
                self.pattern(word);
            }
            (Some('@'), Some(value)) => self.value(name, value, Value::File),
            (Some('=' | '?'), Some(value)) => self.value(name, value, Value::Text),
            (Some('?'), None) => {}
            (_, Some(_)) => return None,
            (_, None) => {}
        }
        Some(())
    }

    fn short(
        &mut self,
        tool: &Tool,
        text: &'a str,
        words: &mut impl Iterator<Item = &'a Word>,
    ) -> Option<()> {
        if tool.flags.contains('#') && text.chars().all(|c| c.is_ascii_digit()) {
            return Some(());
        }
        // `xxd -ps` is `xxd -p`: it looks at the first letter alone, and the next word is a file.
        if tool.name == "xxd"
            && text.chars().nth(1).is_some()
            && !text.starts_with(|c| tool.values.contains(c))
        {
            return None;
        }
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let name = rest.get(..letter.len_utf8())?;
            rest = rest.get(letter.len_utf8()..)?;
            let kind = match letter {
                '#' | '=' => return None,
                _ if tool.flags.contains(letter) => None,
                _ if tool.values.contains(letter) => Some(Value::Text),
                _ if tool.attached.contains(letter) => {
                    self.given.push(name);
                    self.value(name, rest, Value::Text);
                    return Some(());
                }
                _ if tool.files.contains(letter) => Some(Value::File),
                _ => return None,
            };
            self.given.push(name);
            if let Some(kind) = kind {
                if rest.is_empty() {
                    let word = words.next().filter(|word| word.form != Form::Split)?;
                    self.value(name, &word.text, kind);
                    self.pattern(word);
                } else {
                    self.value(name, rest, kind);
                }
                return Some(());
            }
        }
        Some(())
    }

    fn value(&mut self, name: &'a str, value: &'a str, kind: Value) {
        self.values.push((name, value));
        if kind == Value::File {
            self.files.push(value.to_owned());
        }
    }

    fn pattern(&mut self, word: &Word) {
        if word.form == Form::Pattern {
            self.patterns.push(word.text.clone());
        }
    }

    /// Whether an option was given, by any of its names.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.given.iter().any(|given| names.contains(given))
    }

    /// The values of an option, by any of its names.
    pub(crate) fn of<'b>(&'b self, names: &'b [&str]) -> impl Iterator<Item = &'a str> + 'b {
        self.values.iter().filter(|(name, _)| names.contains(name)).map(|(_, value)| *value)
    }

    fn reads(self, tool: &Tool) -> Option<Reads> {
        let texts = |words: &[&Word]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        let pattern =
            self.operands.iter().any(|word| word.form == Form::Pattern) || !self.patterns.is_empty();
        let named = match tool.operands {
            Operands::Paths => texts(&self.operands),
            Operands::PatternThenPaths => {
                let elsewhere = self.has(&["e", "f", "regexp", "file", "files", "type-list", "version"]);
                let first_is_pattern =
                    !elsewhere && self.operands.first().is_some_and(|word| word.form == Form::Literal);
                let paths = texts(self.operands.get(usize::from(first_is_pattern)..).unwrap_or_default());
                // Without a path `rg` and a recursive `grep` search where they are.
                if paths.is_empty() { vec![".".to_owned()] } else { paths }
            }
            Operands::AtMost(most) if self.operands.len() <= most && !pattern && !self.late => {
                texts(&self.operands)
            }
            Operands::Text => self
                .operands
                .iter()
                .filter(|word| word.form == Form::Pattern)
                .map(|word| word.text.clone())
                .collect(),
            Operands::DateFormat
                if !pattern && self.operands.iter().all(|word| word.text.starts_with('+')) =>
            {
                Reads::new()
            }
            Operands::None if self.operands.is_empty() && !pattern => Reads::new(),
            Operands::Folder => match self.operands.as_slice() {
                [folder] if !pattern && folder.text != "-" && !folder.text.is_empty() => {
                    texts(&self.operands)
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(self.files.into_iter().chain(self.patterns).chain(named).collect())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Text,
    File,
}

/// The format of `printf` and its arguments. Only conversions that print; `%n` assigns.
fn format(arguments: &[Word]) -> Option<Reads> {
    let (format, rest) = arguments.split_first()?;
    if format.form != Form::Literal || format.text.starts_with('-') {
        return None;
    }
    let mut parts = format.text.split('%').skip(1).peekable();
    while let Some(part) = parts.next() {
        let conversion = part.trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, '-' | '+' | ' ' | '#' | '.' | '*' | '\'')
        });
        match conversion.chars().next() {
            Some(
                's' | 'd' | 'i' | 'o' | 'u' | 'x' | 'X' | 'c' | 'b' | 'q' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G',
            ) => {}
            // `%%`: what follows the second is text.
            None if part.is_empty() => {
                parts.next();
            }
            _ => return None,
        }
    }
    Some(patterns(rest))
}
