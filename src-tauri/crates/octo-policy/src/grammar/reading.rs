//! Parses a command's words by a grammar.

use super::{Attachment, Clusters, OptionGrammar, OptionRule, Standing, ValueKind};
use crate::plain::{Form, Word};

/// Words that may name a path that is read.
pub(crate) type Reads = Vec<String>;

/// Returns the patterns among the words. Bash reads folders to replace them with the names of files.
pub(crate) fn patterns(words: &[Word]) -> Reads {
    words.iter().filter(|word| word.form == Form::Pattern).map(|word| word.text.clone()).collect()
}

/// A command's words by kind: options, their values, operands.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    /// The names of the options in order (`n`, `lines`), never abbreviated.
    pub given: Vec<&'a str>,
    /// Words that are neither options nor their values.
    pub operands: Vec<&'a Word>,
    /// The values of options that are paths.
    pub files: Reads,
    /// The name of each option with a value, and the value.
    pub values: Vec<(&'a str, &'a str)>,
    /// The patterns among the values that are separate words.
    pub patterns: Reads,
    /// The values that are separate words after an operand. To a program that stops parsing at its first operand, these
    /// are operands.
    pub late_values: Reads,
    /// Whether an option came after an operand.
    pub late: bool,
    /// The number of operands after `--`.
    pub after_end: usize,
}

impl OptionGrammar {
    /// Separates the words into options, values and operands; `None` if a word is an option that the grammar does not
    /// allow, or may be one.
    pub(crate) fn read<'a>(&self, arguments: &[&'a Word]) -> Option<Options<'a>> {
        let mut options = Options::default();
        let mut words = arguments.iter().copied();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if matches!(word.form, Form::Unknown | Form::Split | Form::Number) {
                // The word may be an option.
                return None;
            } else if word.form == Form::Pipe {
                options.operands.push(word);
            } else if text == "--" {
                for word in words.by_ref() {
                    if word.form == Form::Split {
                        return None;
                    }
                    options.operands.push(word);
                    options.after_end += 1;
                }
            } else if let Some(long) = text.strip_prefix("--") {
                options.late |= !options.operands.is_empty();
                self.read_long(&mut options, long, &mut words)?;
            } else if let Some(short) = text.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                options.late |= !options.operands.is_empty();
                self.read_short(&mut options, short, &mut words)?;
            } else {
                options.operands.push(word);
            }
        }
        Some(options)
    }

    fn read_long<'a>(
        &self,
        options: &mut Options<'a>,
        text: &'a str,
        words: &mut impl Iterator<Item = &'a Word>,
    ) -> Option<()> {
        let (written, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let (name, rule) = self.long(written).filter(|(_, rule)| rule.standing == Standing::Allowed)?;
        options.given.push(name);
        match (rule.attachment, value) {
            (Attachment::None, Some(_)) => return None,
            (Attachment::Required | Attachment::Optional, Some(value)) => {
                options.add_value(name, value, rule)
            }
            (Attachment::Required, None) => options.take_next_word(name, rule, words)?,
            (Attachment::None | Attachment::Optional, None) => {}
        }
        Some(())
    }

    fn read_short<'a>(
        &self,
        options: &mut Options<'a>,
        text: &'a str,
        words: &mut impl Iterator<Item = &'a Word>,
    ) -> Option<()> {
        if self.numbers && text.chars().all(|c| c.is_ascii_digit()) {
            options.given.push(text);
            return Some(());
        }
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let name = rest.get(..letter.len_utf8())?;
            rest = rest.get(letter.len_utf8()..)?;
            let rule = self.short(letter).filter(|rule| rule.standing == Standing::Allowed)?;
            options.given.push(name);
            match rule.attachment {
                Attachment::None if self.clusters == Clusters::FirstLetter && !rest.is_empty() => {
                    return None;
                }
                Attachment::None => continue,
                Attachment::Required if rest.is_empty() => options.take_next_word(name, rule, words)?,
                Attachment::Required | Attachment::Optional => options.add_value(name, rest, rule),
            }
            return Some(());
        }
        Some(())
    }
}

impl<'a> Options<'a> {
    /// Consumes the next word as the value of an option; `None` if it cannot be one.
    fn take_next_word(
        &mut self,
        name: &'a str,
        rule: OptionRule,
        words: &mut impl Iterator<Item = &'a Word>,
    ) -> Option<()> {
        let word = words.next().filter(|word| word.form != Form::Split)?;
        if word.form == Form::Pattern {
            self.patterns.push(word.text.clone());
        }
        if !self.operands.is_empty() {
            self.late_values.push(word.text.clone());
        }
        self.add_value(name, &word.text, rule);
        Some(())
    }

    fn add_value(&mut self, name: &'a str, value: &'a str, rule: OptionRule) {
        self.values.push((name, value));
        if rule.value == ValueKind::File && !value.is_empty() {
            self.files.push(value.to_owned());
        }
    }

    /// Returns whether an option was given, by any of its names.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.given.iter().any(|given| names.contains(given))
    }

    /// Returns the values of an option, by any of its names.
    pub(crate) fn values_of<'b>(&'b self, names: &'b [&str]) -> impl Iterator<Item = &'a str> + 'b {
        self.values.iter().filter(|(name, _)| names.contains(name)).map(|(_, value)| *value)
    }

    /// Returns the operands that name paths: all but the pipes that bash makes.
    pub(crate) fn paths(&self) -> Reads {
        self.operands.iter().filter(|word| word.form != Form::Pipe).map(|word| word.text.clone()).collect()
    }

    /// Returns every path that the options name.
    pub(crate) fn option_reads(&self) -> Reads {
        self.files.iter().chain(&self.patterns).chain(&self.late_values).cloned().collect()
    }

    /// Returns whether an operand or a value is a pattern.
    pub(crate) fn has_pattern(&self) -> bool {
        self.operands.iter().any(|word| word.form == Form::Pattern) || !self.patterns.is_empty()
    }
}
