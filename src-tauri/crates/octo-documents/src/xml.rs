//! Reads XML as a flat sequence of tags and text. Nothing already read is kept, so depth costs nothing;
//! entities defined by a document are not resolved, so none can expand.

use crate::DocumentError;
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};
use std::io::{BufReader, Read};

/// A part of an XML document.
pub(crate) enum XmlPiece<'a> {
    /// An element begins.
    Open(Tag<'a>),
    /// An element ends; its name without prefix.
    Close(&'a str),
    /// Text.
    Text(&'a str),
}

/// Start of an element.
pub(crate) struct Tag<'a> {
    start: &'a BytesStart<'a>,
    name: &'a str,
}

impl Tag<'_> {
    /// Returns its name without prefix.
    pub(crate) fn name(&self) -> &str {
        self.name
    }

    /// Returns the attribute with that name, including its prefix (`r:id`), or otherwise without (`val` for
    /// `w:val`).
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let find = |fits: &dyn Fn(&str) -> bool| {
            let mut attributes = self.start.attributes();
            attributes.with_checks(false).flatten().find(|attribute| fits(attribute.key.0))
        };
        let found =
            find(&|key| key == name).or_else(|| find(&|key| !name.contains(':') && local(key) == name))?;
        let value = quick_xml::escape::unescape(&found.value).ok()?;
        Some(value.into_owned())
    }

    /// Returns the attribute as a number.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.get(name)?.trim().parse().ok()
    }

    /// Returns whether a switch (`<w:b/>`, `<w:b w:val="0"/>`) is on.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.get("val").as_deref(), Some("0" | "false" | "off" | "none"))
    }
}

/// Passes every piece of a document to `take`, in order. Omits the content of a `Fallback`: it repeats earlier
/// content for older programs.
pub(crate) fn walk(
    source: impl Read,
    mut take: impl FnMut(XmlPiece<'_>) -> Result<(), DocumentError>,
) -> Result<(), DocumentError> {
    let mut reader = Reader::from_reader(BufReader::new(source));
    reader.config_mut().expand_empty_elements = true;
    reader.config_mut().check_end_names = false;
    let (mut buffer, mut fallback) = (Vec::new(), 0_usize);
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).map_err(|error| broken(&error))?;
        match event {
            Event::Eof => return Ok(()),
            Event::Start(start) => {
                let name = start.name();
                let name = local(name.0);
                if fallback > 0 || name == "Fallback" {
                    fallback += 1;
                } else {
                    take(XmlPiece::Open(Tag { start: &start, name }))?;
                }
            }
            Event::End(_) if fallback > 0 => fallback -= 1,
            Event::End(end) => take(XmlPiece::Close(local(end.name().0)))?,
            _ if fallback > 0 => {}
            Event::Text(text) => take(XmlPiece::Text(&text.xml10_content()))?,
            Event::CData(text) => take(XmlPiece::Text(&text.xml10_content()))?,
            Event::GeneralRef(entity) => {
                if let Ok(Some(character)) = entity.resolve_char_ref() {
                    take(XmlPiece::Text(character.encode_utf8(&mut [0; 4])))?;
                } else if let Some(text) = quick_xml::escape::resolve_xml_entity(&entity.xml10_content()) {
                    take(XmlPiece::Text(text))?;
                }
            }
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

fn broken(error: &quick_xml::Error) -> DocumentError {
    DocumentError::Broken(error.to_string())
}
