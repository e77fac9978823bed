//! Compound commands.

use super::{ParseFailure, Reader};
use crate::script::{Command, Compound, Doubt, Redirect, Script, Word};

impl Reader {
    /// Parses the compound command or function definition at this position, if there is one.
    pub(super) fn compound(&mut self) -> Result<Option<Command>, ParseFailure> {
        let compound = match (self.peek(), self.reserved_word()) {
            (Some('('), _) if self.ahead(1) == Some('(') => self.double_parentheses()?,
            (Some('('), _) => {
                self.at += 1;
                Compound::Subshell(self.closed_script(")")?)
            }
            (_, Some("{")) => {
                self.at += 1;
                let script = self.script(&["}"])?;
                self.keyword("}")?;
                Compound::Group(script)
            }
            (_, Some("if")) => self.if_command()?,
            (_, Some(word @ ("while" | "until"))) => {
                self.keyword(word)?;
                let condition = self.script(&["do"])?;
                let body = self.loop_body()?;
                Compound::While { condition, body }
            }
            (_, Some(word @ ("for" | "select"))) => self.for_loop(word)?,
            (_, Some("case")) => self.case_command()?,
            (_, Some("[[")) => self.double_brackets()?,
            (_, Some("function")) => {
                self.keyword("function")?;
                self.skip_blanks();
                let name = self.word()?.literal().ok_or(ParseFailure)?;
                self.skip_blanks();
                if self.eat("(") {
                    self.skip_blanks();
                    self.expect(")")?;
                }
                return self.function(name).map(Some);
            }
            (_, Some("coproc")) => {
                self.doubt(Doubt::UnfollowedConstruct);
                self.keyword("coproc")?;
                self.skip_blanks();
                return self.command().map(Some);
            }
            // `time` before a simple command counts as a command itself.
            (_, Some("time")) if self.is_timed_compound() => {
                self.doubt(Doubt::UnfollowedConstruct);
                self.keyword("time")?;
                self.skip_blanks();
                if self.is_reserved("-p") {
                    self.at += 2;
                    self.skip_blanks();
                }
                return self.command().map(Some);
            }
            (_, Some("time") | None) => return Ok(None),
            (_, Some(_)) => return Err(ParseFailure),
        };
        let redirects = self.redirects()?;
        Ok(Some(Command::Compound { compound, redirects }))
    }

    fn is_timed_compound(&self) -> bool {
        let mut by = 4;
        while matches!(self.ahead(by), Some(' ' | '\t')) {
            by += 1;
        }
        let rest: String = (by..by + 12).map_while(|by| self.ahead(by)).collect();
        let rest = rest.strip_prefix("-p").map_or(rest.as_str(), str::trim_start);
        ["(", "{ ", "{\n", "if ", "while ", "until ", "for ", "case ", "[[", "! ", "select "]
            .iter()
            .any(|start| rest.starts_with(start))
    }

    fn redirects(&mut self) -> Result<Vec<Redirect>, ParseFailure> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    fn keyword(&mut self, word: &str) -> Result<(), ParseFailure> {
        if self.is_reserved(word) {
            self.at += word.chars().count();
            Ok(())
        } else {
            Err(ParseFailure)
        }
    }

    fn loop_body(&mut self) -> Result<Script, ParseFailure> {
        self.keyword("do")?;
        let body = self.script(&["done"])?;
        self.keyword("done")?;
        Ok(body)
    }

    fn if_command(&mut self) -> Result<Compound, ParseFailure> {
        self.keyword("if")?;
        let mut scripts = vec![self.script(&["then"])?];
        self.keyword("then")?;
        loop {
            scripts.push(self.script(&["elif", "else", "fi"])?);
            match self.reserved_word() {
                Some("elif") => {
                    self.keyword("elif")?;
                    scripts.push(self.script(&["then"])?);
                    self.keyword("then")?;
                }
                Some("else") => {
                    self.keyword("else")?;
                    scripts.push(self.script(&["fi"])?);
                }
                _ => {
                    self.keyword("fi")?;
                    return Ok(Compound::If(scripts));
                }
            }
        }
    }

    fn for_loop(&mut self, keyword: &str) -> Result<Compound, ParseFailure> {
        self.keyword(keyword)?;
        if keyword == "select" {
            self.doubt(Doubt::UnfollowedConstruct);
        }
        self.skip_blanks();
        if self.starts_with("((") {
            let Compound::Arithmetic(mut scripts) = self.double_parentheses()? else {
                return Err(ParseFailure);
            };
            self.skip_blanks();
            self.eat(";");
            self.skip_trivia()?;
            scripts.push(self.loop_body()?);
            return Ok(Compound::Arithmetic(scripts));
        }
        let name = self.word()?.literal().ok_or(ParseFailure)?;
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(ParseFailure);
        }
        self.skip_trivia()?;
        let mut words = Vec::new();
        if self.is_reserved("in") {
            self.keyword("in")?;
            loop {
                self.skip_blanks();
                match self.peek() {
                    Some(';' | '\n') => break,
                    _ => words.push(self.word()?),
                }
            }
        } else {
            self.doubt(Doubt::UnfollowedConstruct);
        }
        self.eat(";");
        self.skip_trivia()?;
        let body = self.loop_body()?;
        Ok(Compound::For { name, words, body })
    }

    fn case_command(&mut self) -> Result<Compound, ParseFailure> {
        self.keyword("case")?;
        self.skip_blanks();
        let word = self.word()?;
        self.skip_trivia()?;
        self.keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_trivia()?;
            if self.is_reserved("esac") {
                self.keyword("esac")?;
                return Ok(Compound::Case { word, arms });
            }
            self.eat("(");
            let mut patterns: Vec<Word> = Vec::new();
            loop {
                self.skip_blanks();
                patterns.push(self.word()?);
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            let script = self.script(&["esac"])?;
            arms.push((patterns, script));
            if self.eat(";;&") || self.eat(";&") || self.eat(";;") {
                continue;
            }
            self.skip_trivia()?;
            if !self.is_reserved("esac") {
                return Err(ParseFailure);
            }
        }
    }

    fn double_brackets(&mut self) -> Result<Compound, ParseFailure> {
        self.keyword("[[")?;
        let mut words = Vec::new();
        loop {
            self.skip_trivia()?;
            if self.is_reserved("]]") {
                self.keyword("]]")?;
                return Ok(Compound::Test(words));
            }
            match self.peek().ok_or(ParseFailure)? {
                '<' | '>' if self.ahead(1) == Some('(') => words.push(self.word()?),
                '(' | ')' | '&' | '|' | '<' | '>' | '!' => self.at += 1,
                ';' => return Err(ParseFailure),
                _ => words.push(self.word()?),
            }
        }
    }

    /// Parses `((…))`: arithmetic, or a subshell in a subshell.
    fn double_parentheses(&mut self) -> Result<Compound, ParseFailure> {
        self.doubt(Doubt::Evaluation);
        let start = self.at;
        let (documents, pending) = (self.documents.len(), self.pending.len());
        self.at += 1;
        if let Ok(script) = self.closed_script(")") {
            return Ok(Compound::Arithmetic(vec![script]));
        }
        self.documents.truncate(documents);
        self.pending.truncate(pending);
        self.at = start + 2;
        let (mut depth, mut parts) = (2_usize, Vec::new());
        while depth > 0 {
            match self.peek().ok_or(ParseFailure)? {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {
                    self.quoted_part(&mut parts)?;
                    continue;
                }
            }
            self.at += 1;
        }
        let word = Word { parts, span: 0..0 };
        Ok(Compound::Arithmetic(word.scripts().cloned().collect()))
    }
}
