//! Compound commands.

use super::{ParseFailure, Reader};
use crate::script::{Command, Compound, Doubt, Redirect, Script, Word};

impl Reader {
    /// A compound command or a function, if one begins here.
    pub(super) fn compound(&mut self) -> Result<Option<Command>, ParseFailure> {
        let what = match (self.peek(), self.reserved()) {
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
            (_, Some("if")) => self.branches()?,
            (_, Some(word @ ("while" | "until"))) => {
                self.keyword(word)?;
                let condition = self.script(&["do"])?;
                let body = self.body()?;
                Compound::While { condition, body }
            }
            (_, Some(word @ ("for" | "select"))) => self.through(word)?,
            (_, Some("case")) => self.case()?,
            (_, Some("[[")) => self.test()?,
            (_, Some("function")) => {
                self.keyword("function")?;
                self.blanks();
                let name = self.word()?.literal().ok_or(ParseFailure)?;
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    self.expect(")")?;
                }
                return self.function(name).map(Some);
            }
            (_, Some("coproc")) => {
                self.doubt(Doubt::Construct);
                self.keyword("coproc")?;
                self.blanks();
                return self.command().map(Some);
            }
            // Before a simple command `time` is read as if it were a command itself.
            (_, Some("time")) if self.is_timed_compound() => {
                self.doubt(Doubt::Construct);
                self.keyword("time")?;
                self.blanks();
                if self.is_reserved("-p") {
                    self.at += 2;
                    self.blanks();
                }
                return self.command().map(Some);
            }
            (_, Some("time") | None) => return Ok(None),
            (_, Some(_)) => return Err(ParseFailure),
        };
        let redirects = self.redirects()?;
        Ok(Some(Command::Compound { what, redirects }))
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
            self.blanks();
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

    fn body(&mut self) -> Result<Script, ParseFailure> {
        self.keyword("do")?;
        let body = self.script(&["done"])?;
        self.keyword("done")?;
        Ok(body)
    }

    fn branches(&mut self) -> Result<Compound, ParseFailure> {
        self.keyword("if")?;
        let mut scripts = vec![self.script(&["then"])?];
        self.keyword("then")?;
        loop {
            scripts.push(self.script(&["elif", "else", "fi"])?);
            match self.reserved() {
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

    fn through(&mut self, kind: &str) -> Result<Compound, ParseFailure> {
        self.keyword(kind)?;
        if kind == "select" {
            self.doubt(Doubt::Construct);
        }
        self.blanks();
        if self.starts_with("((") {
            let Compound::Arithmetic(mut scripts) = self.double_parentheses()? else {
                return Err(ParseFailure);
            };
            self.blanks();
            self.eat(";");
            self.gap()?;
            scripts.push(self.body()?);
            return Ok(Compound::Arithmetic(scripts));
        }
        let name = self.word()?.literal().ok_or(ParseFailure)?;
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(ParseFailure);
        }
        self.gap()?;
        let mut words = Vec::new();
        if self.is_reserved("in") {
            self.keyword("in")?;
            loop {
                self.blanks();
                match self.peek() {
                    Some(';' | '\n') => break,
                    _ => words.push(self.word()?),
                }
            }
        } else {
            self.doubt(Doubt::Construct);
        }
        self.eat(";");
        self.gap()?;
        let body = self.body()?;
        Ok(Compound::For { name, words, body })
    }

    fn case(&mut self) -> Result<Compound, ParseFailure> {
        self.keyword("case")?;
        self.blanks();
        let word = self.word()?;
        self.gap()?;
        self.keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.gap()?;
            if self.is_reserved("esac") {
                self.keyword("esac")?;
                return Ok(Compound::Case { word, arms });
            }
            self.eat("(");
            let mut patterns: Vec<Word> = Vec::new();
            loop {
                self.blanks();
                patterns.push(self.word()?);
                self.blanks();
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
            self.gap()?;
            if !self.is_reserved("esac") {
                return Err(ParseFailure);
            }
        }
    }

    fn test(&mut self) -> Result<Compound, ParseFailure> {
        self.keyword("[[")?;
        let mut words = Vec::new();
        loop {
            self.gap()?;
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

    /// `((…))`: arithmetic, or a subshell in a subshell.
    fn double_parentheses(&mut self) -> Result<Compound, ParseFailure> {
        self.doubt(Doubt::Evaluates);
        let begin = self.at;
        let (documents, pending) = (self.documents.len(), self.pending.len());
        self.at += 1;
        if let Ok(script) = self.closed_script(")") {
            return Ok(Compound::Arithmetic(vec![script]));
        }
        self.documents.truncate(documents);
        self.pending.truncate(pending);
        self.at = begin + 2;
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
