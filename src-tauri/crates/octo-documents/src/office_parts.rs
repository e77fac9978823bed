//! Reads the parts of an office document, which is a zip file.

use crate::{
    DocumentError,
    xml::{self, XmlPiece},
};
use std::{
    collections::HashMap,
    io::{Read, Seek},
};
use zip::{ZipArchive, result::ZipError};

/// Maximum bytes unpacked of one part: no part of a real document is nearly as large.
const MAX_PART: u64 = 512 << 20;

/// Parts of an office document.
pub(crate) struct OfficeParts<R>(ZipArchive<R>);

impl<R: Read + Seek> OfficeParts<R> {
    pub(crate) fn open(source: R) -> Result<Self, DocumentError> {
        ZipArchive::new(source).map(Self).map_err(broken)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.index_for_name(name).is_some()
    }

    /// Passes the pieces of a part's XML to `take`, in order. A missing part is an error.
    pub(crate) fn walk(
        &mut self,
        name: &str,
        take: impl FnMut(XmlPiece<'_>) -> Result<(), DocumentError>,
    ) -> Result<(), DocumentError> {
        let part = self.0.by_name(name).map_err(broken)?;
        xml::walk(part.take(MAX_PART), take)
    }

    /// Returns the targets of a part's references, by their ids; paths are relative to the document's root.
    /// Empty for a part without references.
    pub(crate) fn relations(&mut self, part: &str) -> Result<HashMap<String, Relation>, DocumentError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let mut found = HashMap::new();
        let list = format!("{folder}/_rels/{file}.rels");
        if !self.has(&list) {
            return Ok(found);
        }
        self.walk(&list, |element| {
            if let XmlPiece::Open(tag) = element
                && tag.name() == "Relationship"
                && let (Some(id), Some(target)) = (tag.get("Id"), tag.get("Target"))
            {
                let is_outside = tag.get("TargetMode").as_deref() == Some("External");
                let target = if is_outside { target } else { join(folder, &target) };
                found.insert(id, Relation { target, kind: tag.get("Type").unwrap_or_default() });
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Target of a reference.
pub(crate) struct Relation {
    /// Path of a part, or an external address.
    pub target: String,
    /// Kind of the reference, as the address that names it.
    pub kind: String,
}

impl Relation {
    /// Returns whether it has this kind: the last segment of the address that names it.
    pub(crate) fn is_kind(&self, kind: &str) -> bool {
        self.kind.rsplit('/').next() == Some(kind)
    }
}

fn join(folder: &str, target: &str) -> String {
    if let Some(rooted) = target.strip_prefix('/') {
        return rooted.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

pub(crate) fn broken(error: ZipError) -> DocumentError {
    match error {
        ZipError::FileNotFound => DocumentError::Broken("a part of it is missing".to_owned()),
        // Password-protected office documents are OLE files and not zip files.
        ZipError::InvalidArchive(_) => DocumentError::Broken("no zip file, or a locked one".to_owned()),
        other => DocumentError::Broken(other.to_string()),
    }
}
