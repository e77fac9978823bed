//! Text encoding of files: UTF-16 if there is a byte order mark, otherwise the raw bytes.

use crate::ToolError;
use octo_workspace::{Files, FilesError};
use std::{io::Read, path::Path};

/// Text encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Raw bytes; usually UTF-8.
    Bytes,
    /// UTF-16, little-endian, with its mark.
    Utf16Le,
    /// UTF-16, big-endian, with its mark.
    Utf16Be,
}

impl Encoding {
    /// Detects the encoding from a file's first bytes.
    pub(crate) fn detect(head: &[u8]) -> Self {
        match head {
            [0xFF, 0xFE, ..] => Self::Utf16Le,
            [0xFE, 0xFF, ..] => Self::Utf16Be,
            _ => Self::Bytes,
        }
    }

    /// Returns the encoding of the file at a path, or that of a new file if it does not exist.
    pub(crate) fn of_file(files: &Files, path: &Path) -> Result<Self, FilesError> {
        let mut head = Vec::new();
        match files.open(path) {
            // An unreadable file has no known encoding; writing reports the error.
            Ok((file, _)) => {
                let _unreadable = file.take(2).read_to_end(&mut head);
            }
            Err(FilesError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(Self::detect(&head))
    }

    /// Decodes the text, without its mark. `name` is the file's name in the refusal of invalid text.
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

    /// Decodes the text, without its mark; invalid parts are replaced.
    pub(crate) fn decode_lossy(self, content: Vec<u8>) -> Vec<u8> {
        if self == Self::Bytes {
            return content;
        }
        let text: String = char::decode_utf16(self.units(&content))
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        text.into_bytes()
    }

    /// Encodes a file's text.
    pub(crate) fn encode(self, text: Vec<u8>) -> Vec<u8> {
        let pair: fn(u16) -> [u8; 2] = match self {
            Self::Bytes => return text,
            Self::Utf16Le => u16::to_le_bytes,
            Self::Utf16Be => u16::to_be_bytes,
        };
        let text = String::from_utf8_lossy(&text);
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(pair).collect()
    }

    /// Returns the code units after the mark.
    fn units(self, content: &[u8]) -> impl Iterator<Item = u16> {
        let unit = if self == Self::Utf16Be { u16::from_be_bytes } else { u16::from_le_bytes };
        content.get(2..).unwrap_or_default().chunks_exact(2).map(move |pair| match pair {
            [one, two] => unit([*one, *two]),
            _ => 0xFFFD,
        })
    }
}
