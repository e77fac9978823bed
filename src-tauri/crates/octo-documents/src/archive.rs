//! Lists the entries of archives, without unpacking them.

use crate::{DocumentError, office_parts};
use flate2::read::MultiGzDecoder;
use std::io::{self, BufReader, Read, Seek, Write};

/// Maximum entries listed.
const MAX_ENTRIES: usize = 2_000;
/// Maximum bytes unpacked to find a compressed archive's entries. The rest is not inspected.
const MAX_UNPACKED: u64 = 2 << 30;
/// Bytes within which a tar archive's first entry must be recognisable.
const TAR_HEAD: usize = 512;
/// Maximum entries of a zip file that are counted.
const MAX_COUNTED: usize = 1_000_000;

pub(crate) fn zip(source: impl Read + Seek, output: &mut dyn Write) -> Result<(), DocumentError> {
    let mut archive = ::zip::ZipArchive::new(source).map_err(office_parts::broken)?;
    let count = archive.len();
    if count > MAX_COUNTED {
        return Err(DocumentError::Broken(format!("it claims {count} entries")));
    }
    let (mut total, mut locked) = (0_u64, 0_usize);
    writeln!(output, "ZIP contents ({count} entries):\n")?;
    for index in 0..count {
        let Ok(entry) = archive.by_index_raw(index) else { continue };
        total = total.saturating_add(entry.size());
        locked += usize::from(entry.encrypted());
        if index < MAX_ENTRIES {
            list(output, &name(&entry), (!entry.is_dir()).then_some(entry.size()))?;
        }
    }
    end(output, count, total)?;
    if locked > 0 {
        writeln!(output, "({locked} entries are protected by a password.)")?;
    }
    Ok(())
}

pub(crate) fn tar(source: impl Read, output: &mut dyn Write) -> Result<(), DocumentError> {
    entries(source, "TAR", output)
}

/// Reads one gzip stream: a tar archive's entries, or the size of the content.
pub(crate) fn gzip(source: impl Read, output: &mut dyn Write) -> Result<(), DocumentError> {
    let mut unpacked = BufReader::new(MultiGzDecoder::new(BufReader::new(source)));
    let mut head = Vec::new();
    unpacked.by_ref().take(TAR_HEAD as u64).read_to_end(&mut head)?;
    let is_tar = head.get(257..262) == Some(b"ustar");
    let content = head.as_slice().chain(unpacked);
    if is_tar {
        return entries(content, "TAR.GZ", output);
    }
    let size = io::copy(&mut content.take(MAX_UNPACKED), &mut io::sink())?;
    let more = if size == MAX_UNPACKED { "more than " } else { "" };
    writeln!(output, "GZIP: one compressed file of {more}{size} bytes when unpacked.")?;
    Ok(())
}

fn entries(source: impl Read, kind: &str, output: &mut dyn Write) -> Result<(), DocumentError> {
    let mut archive = ::tar::Archive::new(source.take(MAX_UNPACKED));
    let (mut count, mut total, mut broken) = (0_usize, 0_u64, None);
    writeln!(output, "{kind} contents:\n")?;
    for entry in archive.entries()? {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                broken = Some(error);
                break;
            }
        };
        count += 1;
        total = total.saturating_add(entry.size());
        if count <= MAX_ENTRIES {
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            list(output, &name, (!entry.header().entry_type().is_dir()).then(|| entry.size()))?;
        }
    }
    match broken {
        Some(error) if count == 0 => return Err(DocumentError::Broken(error.to_string())),
        Some(error) => writeln!(output, "(The list ends here: {error}.)")?,
        None => {}
    }
    end(output, count, total)
}

fn name<R: Read>(entry: &::zip::read::ZipFile<'_, R>) -> String {
    let raw = || String::from_utf8_lossy(entry.name_raw()).into_owned();
    entry.name().map_or_else(|_| raw(), |name| name.into_owned())
}

fn list(output: &mut dyn Write, name: &str, size: Option<u64>) -> io::Result<()> {
    // A name may contain anything, even line ends.
    let name: String =
        name.chars().map(|character| if character.is_control() { '?' } else { character }).collect();
    match size {
        Some(size) => writeln!(output, "  {name} ({size} bytes)"),
        None => writeln!(output, "  {name}"),
    }
}

fn end(output: &mut dyn Write, count: usize, total: u64) -> Result<(), DocumentError> {
    if count > MAX_ENTRIES {
        writeln!(output, "  … ({MAX_ENTRIES} of {count} entries)")?;
    }
    writeln!(output, "\n{count} entries, {total} bytes when unpacked.")?;
    Ok(())
}
