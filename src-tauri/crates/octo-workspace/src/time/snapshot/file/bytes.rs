//! The parts of a snapshot as bytes.

use super::super::{ItemContent, SnapshotItem};
use crate::time::folder::PathStamp;
use octo_protocol::UnsavedReason;

/// All reasons, indexed by their number in the file.
const REASONS: [UnsavedReason; 11] = [
    UnsavedReason::TooLarge,
    UnsavedReason::Budget,
    UnsavedReason::Unreadable,
    UnsavedReason::Special,
    UnsavedReason::Outside,
    UnsavedReason::VersionControl,
    UnsavedReason::Dependencies,
    UnsavedReason::BuildOutput,
    UnsavedReason::Cache,
    UnsavedReason::OctoHome,
    UnsavedReason::Forgotten,
];

pub(super) fn reason(unsaved_reason: UnsavedReason) -> u8 {
    REASONS
        .iter()
        .position(|candidate| *candidate == unsaved_reason)
        .and_then(|index| u8::try_from(index).ok())
        .unwrap_or_default()
}

pub(super) fn reason_of(byte: u8) -> Option<UnsavedReason> {
    REASONS.get(usize::from(byte)).copied()
}

/// Writes a number, seven bits per byte, the low ones first.
pub(super) fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn write_part(bytes: &mut Vec<u8>, part: &[u8]) {
    number(bytes, part.len() as u64);
    bytes.extend_from_slice(part);
}

pub(super) fn write_item(bytes: &mut Vec<u8>, item: &SnapshotItem) {
    write_part(bytes, &item.name);
    let PathStamp { len, modified, changed, inode, mode } = item.stamp;
    number(bytes, len);
    bytes.extend_from_slice(&modified.to_le_bytes());
    bytes.extend_from_slice(&changed.to_le_bytes());
    number(bytes, inode);
    number(bytes, u64::from(mode));
    bytes.push(u8::from(item.racy));
    match &item.content {
        ItemContent::Blob(hash) => {
            bytes.push(0);
            bytes.extend_from_slice(hash);
        }
        ItemContent::Git(hash, object) => {
            bytes.push(1);
            bytes.extend_from_slice(hash);
            bytes.extend_from_slice(object);
        }
        ItemContent::Link(target) => {
            bytes.push(2);
            write_part(bytes, target);
        }
        ItemContent::Folder => bytes.push(3),
        ItemContent::Unsaved(unsaved_reason) => bytes.extend_from_slice(&[4, reason(*unsaved_reason)]),
    }
}

pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (part, remaining) = self.0.split_at_checked(count)?;
        self.0 = remaining;
        Some(part)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn time(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        self.take(count)
    }

    pub(super) fn item(&mut self) -> Option<SnapshotItem> {
        let name = self.bytes()?.into();
        let stamp = PathStamp {
            len: self.number()?,
            modified: self.time()?,
            changed: self.time()?,
            inode: self.number()?,
            mode: u32::try_from(self.number()?).ok()?,
        };
        let racy = self.byte()? != 0;
        let content = match self.byte()? {
            0 => ItemContent::Blob(self.take(32)?.try_into().ok()?),
            1 => ItemContent::Git(self.take(32)?.try_into().ok()?, self.take(20)?.try_into().ok()?),
            2 => ItemContent::Link(self.bytes()?.into()),
            3 => ItemContent::Folder,
            4 => ItemContent::Unsaved(reason_of(self.byte()?)?),
            _ => return None,
        };
        Some(SnapshotItem { name, stamp, content, racy })
    }
}
