//! How a file's bytes say its text: UTF-16 where a byte order mark says so, else bytes as they are.

use crate::ToolError;
use octo_workspace::{Files, FilesError};
use std::{io::Read, path::Path};

/// How a file's bytes say its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As they are; UTF-8, as a rule.
    Bytes,
    /// UTF-16, the lower byte of a pair first, with its mark.
    Utf16Le,
    /// UTF-16, the higher byte of a pair first, with its mark.
    Utf16Be,
}

impl Encoding {
    /// What a file's first bytes say.
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [0xFF, 0xFE, ..] => Self::Utf16Le,
            [0xFE, 0xFF, ..] => Self::Utf16Be,
            _ => Self::Bytes,
        }
    }

    /// The encoding of the file at a path; that of a new one where there is none.
    pub(crate) fn at(files: &Files, path: &Path) -> Result<Self, FilesError> {
        let mut head = Vec::new();
        match files.open(path) {
            // What cannot be read says nothing; writing says what is wrong.
            Ok((file, _)) => {
                let _unreadable = file.take(2).read_to_end(&mut head);
            }
            Err(FilesError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(Self::of(&head))
    }

    /// The text, without its mark. `name` is the file's in the refusal of what no text begins like this.
    pub(crate) fn decode(self, content: Vec<u8>, name: &str) -> Result<Vec<u8>, ToolError> {
        if self == Self::Bytes {
            return Ok(content);
        }
        let is_whole = content.len().is_multiple_of(2);
        let text: Result<String, _> = char::decode_utf16(self.units(&content)).collect();
        match text {
            Ok(text) if is_whole => Ok(text.into_bytes()),
            _ => Err(ToolError::new(format!(
                "{name} begins like UTF-16 text and is none: an edit could damage it. Nothing was changed."
            ))),
        }
    }

    /// The text, without its mark; what is none is replaced.
    pub(crate) fn decode_lossy(self, content: Vec<u8>) -> Vec<u8> {
        if self == Self::Bytes {
            return content;
        }
        let text: String = char::decode_utf16(self.units(&content))
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        text.into_bytes()
    }

    /// The bytes of a file with this text.
    pub(crate) fn encode(self, text: Vec<u8>) -> Vec<u8> {
        let pair: fn(u16) -> [u8; 2] = match self {
            Self::Bytes => return text,
            Self::Utf16Le => u16::to_le_bytes,
            Self::Utf16Be => u16::to_be_bytes,
        };
        let text = String::from_utf8_lossy(&text);
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(pair).collect()
    }

    /// The units behind the mark.
    fn units(self, content: &[u8]) -> impl Iterator<Item = u16> {
        let unit = if self == Self::Utf16Be { u16::from_be_bytes } else { u16::from_le_bytes };
        content.get(2..).unwrap_or_default().chunks_exact(2).map(move |pair| match pair {
            [one, two] => unit([*one, *two]),
            _ => 0xFFFD,
        })
    }
}
