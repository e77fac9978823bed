//! The parts of an office document, which is a zip file.

use crate::{
    DocumentError,
    xml::{self, Piece},
};
use std::{
    collections::HashMap,
    io::{Read, Seek},
};
use zip::{ZipArchive, result::ZipError};

/// The most that is unpacked of one part: no part of a document anyone wrote comes near it.
const MAX_PART: u64 = 512 << 20;

/// An office document's parts.
pub(crate) struct Parts<R>(ZipArchive<R>);

impl<R: Read + Seek> Parts<R> {
    pub(crate) fn open(source: R) -> Result<Self, DocumentError> {
        ZipArchive::new(source).map(Self).map_err(broken)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.index_for_name(name).is_some()
    }

    /// Walks a part. One that is not there is an error.
    pub(crate) fn walk(
        &mut self,
        name: &str,
        take: impl FnMut(Piece<'_>) -> Result<(), DocumentError>,
    ) -> Result<(), DocumentError> {
        let part = self.0.by_name(name).map_err(broken)?;
        xml::walk(part.take(MAX_PART), take)
    }

    /// What a part's references lead to, by their ids; paths are from the document's root. A part without
    /// references has none.
    pub(crate) fn relations(&mut self, part: &str) -> Result<HashMap<String, Relation>, DocumentError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let mut found = HashMap::new();
        let list = format!("{folder}/_rels/{file}.rels");
        if !self.has(&list) {
            return Ok(found);
        }
        self.walk(&list, |piece| {
            if let Piece::Open(tag) = piece
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

/// Where a reference leads.
pub(crate) struct Relation {
    /// A part's path, or an address outside.
    pub target: String,
    /// What it is, as the address that names the kind.
    pub kind: String,
}

impl Relation {
    /// Whether it is of the kind, by its last word.
    pub(crate) fn is(&self, kind: &str) -> bool {
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
        // Locked office documents are no zip files at all but OLE files.
        ZipError::InvalidArchive(_) => DocumentError::Broken("no zip file, or a locked one".to_owned()),
        other => DocumentError::Broken(other.to_string()),
    }
}
