//! Detects the format of a file.

/// A document's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// PDF.
    Pdf,
    /// Word since 2007: docx and related formats.
    Word,
    /// A spreadsheet: xlsx, xlsm, xlsb, xls, ods.
    Sheet,
    /// PowerPoint since 2007: pptx and related formats.
    Presentation,
    /// Word before 2007.
    OldWord,
    /// PowerPoint before 2007.
    OldPresentation,
    /// A zip archive.
    Zip,
    /// A tar archive.
    Tar,
    /// One gzip stream; a tar archive in it is listed.
    Gzip,
}

/// Name and description of each format. The name is the child's argument.
const NAMES: &[(Format, &str, &str)] = &[
    (Format::Pdf, "pdf", "a PDF document"),
    (Format::Word, "word", "a Word document"),
    (Format::Sheet, "sheet", "a spreadsheet"),
    (Format::Presentation, "presentation", "a PowerPoint presentation"),
    (Format::OldWord, "old-word", "a Word document of the old format (.doc)"),
    (Format::OldPresentation, "old-presentation", "a PowerPoint presentation of the old format (.ppt)"),
    (Format::Zip, "zip", "a zip archive"),
    (Format::Tar, "tar", "a tar archive"),
    (Format::Gzip, "gzip", "a gzip archive"),
];

/// First bytes of an OLE file: the office formats before 2007, and password-protected spreadsheets.
const OLE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

impl Format {
    /// Detects the format of a file from its first bytes (some hundred are enough) and, for formats with the
    /// same beginning, from its name; `None` if it is not a document.
    pub fn detect(name: &str, head: &[u8]) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let extension = lower.rsplit_once('.').map_or("", |(_, extension)| extension);
        if head.starts_with(b"%PDF-") {
            return Some(Self::Pdf);
        }
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            return Some(match extension {
                "docx" | "docm" | "dotx" | "dotm" => Self::Word,
                "xlsx" | "xlsm" | "xltx" | "xltm" | "xlsb" | "ods" => Self::Sheet,
                "pptx" | "pptm" | "potx" | "ppsx" | "ppsm" => Self::Presentation,
                "zip" | "jar" | "apk" | "epub" | "whl" | "xpi" => Self::Zip,
                _ => Self::in_zip(head),
            });
        }
        if head.starts_with(OLE) {
            return match extension {
                "doc" | "dot" => Some(Self::OldWord),
                "ppt" | "pps" | "pot" => Some(Self::OldPresentation),
                "xls" | "xlt" | "xlsx" | "xlsm" | "xlsb" => Some(Self::Sheet),
                // Password-protected ones are OLE files, whatever their content.
                "docx" | "docm" => Some(Self::Word),
                "pptx" | "pptm" => Some(Self::Presentation),
                _ => None,
            };
        }
        if head.starts_with(b"\x1F\x8B") {
            return Some(Self::Gzip);
        }
        if head.get(257..262) == Some(b"ustar") {
            return Some(Self::Tar);
        }
        None
    }

    /// Detects the format of a zip file without a known extension, from the names of its first entries.
    fn in_zip(head: &[u8]) -> Self {
        let has = |part: &[u8]| head.windows(part.len()).any(|window| window == part);
        if has(b"word/") {
            Self::Word
        } else if has(b"xl/") {
            Self::Sheet
        } else if has(b"ppt/") {
            Self::Presentation
        } else {
            Self::Zip
        }
    }

    /// Returns its name, as a child's argument.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns a description of such a file: "a Word document".
    pub fn description(self) -> &'static str {
        self.row().2
    }

    /// Returns the format with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, format_name, _)| *format_name == name).map(|(format, _, _)| *format)
    }

    fn row(self) -> (Self, &'static str, &'static str) {
        // Every format has a row; the test below verifies that.
        NAMES.iter().find(|(format, _, _)| *format == self).copied().unwrap_or((self, "", "a document"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_detected_by_content_then_by_name() {
        let tar = {
            let mut head = vec![0_u8; 512];
            head[257..262].copy_from_slice(b"ustar");
            head
        };
        let word = b"PK\x03\x04....word/document.xml".to_vec();
        for (name, head, format) in [
            ("a.txt", b"%PDF-1.4".to_vec(), Some(Format::Pdf)),
            ("a.pdf", b"hello".to_vec(), None),
            ("A.DOCX", b"PK\x03\x04".to_vec(), Some(Format::Word)),
            ("a.bin", word, Some(Format::Word)),
            ("a.xlsb", b"PK\x03\x04".to_vec(), Some(Format::Sheet)),
            ("a.pptx", b"PK\x03\x04".to_vec(), Some(Format::Presentation)),
            ("a", b"PK\x05\x06".to_vec(), Some(Format::Zip)),
            ("a.zip", b"PK\x03\x04xl/".to_vec(), Some(Format::Zip)),
            ("a.doc", OLE.to_vec(), Some(Format::OldWord)),
            ("a.xls", OLE.to_vec(), Some(Format::Sheet)),
            ("a.ppt", OLE.to_vec(), Some(Format::OldPresentation)),
            ("a.msi", OLE.to_vec(), None),
            ("a.tar", tar, Some(Format::Tar)),
            ("a.tgz", b"\x1F\x8B\x08".to_vec(), Some(Format::Gzip)),
            ("a", Vec::new(), None),
        ] {
            assert_eq!(Format::detect(name, &head), format, "{name}");
        }
    }

    #[test]
    fn every_format_has_a_name_of_its_own() {
        for (format, name, description) in NAMES {
            assert_eq!((format.name(), format.description()), (*name, *description));
            assert_eq!(Format::from_name(name), Some(*format));
        }
        assert_eq!(NAMES.len(), 9);
        assert_eq!(Format::from_name(""), None);
    }
}
