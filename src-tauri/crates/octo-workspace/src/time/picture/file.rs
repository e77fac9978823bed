//! A picture as a file of the home, so that the first one after a start need not read everything again.
//!
//! A file that is not whole or not of this version is as none: the picture is taken anew.

use super::{Item, Kept, Picture, Relative};
use crate::time::{
    bytes::{bytes_of, path_of},
    folder::Stamp,
};
use octo_protocol::Unsaved;
use std::{
    collections::HashMap,
    fs,
    io::{self, Write},
    path::Path,
    sync::Arc,
};

const MAGIC: &[u8] = b"octo picture 1\n";
const HASH: usize = 32;

/// Every reason, by its number in the file.
const REASONS: [Unsaved; 11] = [
    Unsaved::TooLarge,
    Unsaved::Budget,
    Unsaved::Unreadable,
    Unsaved::Special,
    Unsaved::Outside,
    Unsaved::VersionControl,
    Unsaved::Dependencies,
    Unsaved::BuildOutput,
    Unsaved::Cache,
    Unsaved::OctoHome,
    Unsaved::Forgotten,
];

impl Picture {
    /// Writes the picture; the file is the old one or the new one at every moment.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        crate::private_folder(folder)?;
        let mut bytes = MAGIC.to_vec();
        put(&mut bytes, &bytes_of(&self.folder));
        match &self.repository {
            Some(repository) => put(&mut bytes, &bytes_of(repository)),
            None => put(&mut bytes, &[]),
        }
        number(&mut bytes, self.unknown.len() as u64);
        for (path, why) in &self.unknown {
            put(&mut bytes, path);
            bytes.push(reason(*why));
        }
        number(&mut bytes, self.folders.len() as u64);
        for (path, items) in &self.folders {
            put(&mut bytes, path);
            number(&mut bytes, items.len() as u64);
            for item in items.iter() {
                write_item(&mut bytes, item);
            }
        }
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        let mut temporary = tempfile::Builder::new().prefix(".picture-").tempfile_in(folder)?;
        temporary.write_all(&bytes)?;
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Reads a picture back; none where there is no whole one.
    pub(crate) fn load(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let (content, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
        if blake3::hash(content).as_bytes() != hash {
            return None;
        }
        let mut input = Input(content.strip_prefix(MAGIC)?);
        let folder = path_of(input.bytes()?);
        let repository = Some(path_of(input.bytes()?)).filter(|path| !path.as_os_str().is_empty());
        let mut unknown = HashMap::new();
        for _ in 0..input.number()? {
            let path: Relative = input.bytes()?.into();
            unknown.insert(path, *REASONS.get(usize::from(input.byte()?))?);
        }
        let mut folders = HashMap::new();
        for _ in 0..input.number()? {
            let path: Relative = input.bytes()?.into();
            let count = input.number()?;
            let items: Option<Vec<Item>> = (0..count).map(|_| input.item()).collect();
            folders.insert(path, Arc::new(items?));
        }
        Some(Self { folder, repository, folders, unknown })
    }
}

fn reason(why: Unsaved) -> u8 {
    REASONS.iter().position(|known| *known == why).and_then(|at| u8::try_from(at).ok()).unwrap_or_default()
}

fn number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    number(bytes, part.len() as u64);
    bytes.extend_from_slice(part);
}

fn write_item(bytes: &mut Vec<u8>, item: &Item) {
    put(bytes, &item.name);
    let Stamp { len, modified, changed, inode, mode } = item.stamp;
    for value in [len, modified.cast_unsigned(), changed.cast_unsigned(), inode, u64::from(mode)] {
        number(bytes, value);
    }
    bytes.push(u8::from(item.racy));
    match &item.kept {
        Kept::Blob(hash) => {
            bytes.push(0);
            bytes.extend_from_slice(hash);
        }
        Kept::Git(hash, object) => {
            bytes.push(1);
            bytes.extend_from_slice(hash);
            bytes.extend_from_slice(object);
        }
        Kept::Link(target) => {
            bytes.push(2);
            put(bytes, target);
        }
        Kept::Folder => bytes.push(3),
        Kept::Not(why) => bytes.extend_from_slice(&[4, reason(*why)]),
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        self.take(count)
    }

    fn item(&mut self) -> Option<Item> {
        let name = self.bytes()?.into();
        let stamp = Stamp {
            len: self.number()?,
            modified: self.number()?.cast_signed(),
            changed: self.number()?.cast_signed(),
            inode: self.number()?,
            mode: u32::try_from(self.number()?).ok()?,
        };
        let racy = self.byte()? != 0;
        let kept = match self.byte()? {
            0 => Kept::Blob(self.take(HASH)?.try_into().ok()?),
            1 => Kept::Git(self.take(HASH)?.try_into().ok()?, self.take(20)?.try_into().ok()?),
            2 => Kept::Link(self.bytes()?.into()),
            3 => Kept::Folder,
            4 => Kept::Not(*REASONS.get(usize::from(self.byte()?))?),
            _ => return None,
        };
        Some(Item { name, stamp, kept, racy })
    }
}
