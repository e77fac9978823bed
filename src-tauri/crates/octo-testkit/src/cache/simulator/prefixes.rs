//! The prefixes of a request that a cache may write or read.

use super::{BYTES_PER_TOKEN, PrefixKey, SegmentEnd};

/// Returns the keys of the request's prefixes of these lengths (in bytes) with their length, in ascending
/// order.
pub(super) fn prefixes(
    ends: &[SegmentEnd<'_>],
    lengths: impl IntoIterator<Item = usize>,
) -> Vec<(PrefixKey, usize)> {
    let mut found = Vec::new();
    let mut hasher = blake3::Hasher::new();
    let mut lengths = lengths.into_iter().peekable();
    let mut begin = 0;
    for end in ends {
        let text = end.segment.text.as_bytes();
        let mut hashed = 0;
        while let Some(length) = lengths.next_if(|length| *length <= begin + text.len()) {
            hasher.update(&text[hashed..length - begin]);
            hashed = length - begin;
            let hash = hasher.finalize();
            let prefix = hash.as_bytes().iter().take(8).fold(0, |value, byte| value << 8 | u64::from(*byte));
            found.push((PrefixKey { prefix, ..end.key.clone() }, length));
        }
        hasher.update(&text[hashed..]);
        begin += text.len();
    }
    found
}

pub(super) fn length(ends: &[SegmentEnd<'_>]) -> usize {
    ends.iter().map(|end| end.segment.text.len()).sum()
}

/// Returns the multiples of a step from a minimum on, in bytes.
pub(super) fn multiples(step: u64, minimum: u64, length: usize) -> impl Iterator<Item = usize> {
    let (step, minimum) = (step.max(1) as usize * BYTES_PER_TOKEN, minimum as usize * BYTES_PER_TOKEN);
    (minimum.max(1).div_ceil(step)..=length / step).map(move |count| count * step)
}
