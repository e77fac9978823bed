//! Avoids a second copy of content that the git repository already has.
//!
//! The first snapshot of a repository would copy every file. Instead, a file in the index is read and hashed
//! both ways; if git's own hash shows that the object store has exactly these bytes (line endings, filters and
//! keywords make them differ, so names and times prove nothing), the snapshot refers to the object. Only
//! snapshots do: `git gc`, a rebase or a checkout may drop an object, so no recorded state depends on one. As
//! soon as a command is found to have changed a file, its former content is copied from the object store to a
//! blob, before it counts as recorded. The only possible loss is therefore the former content of a file that
//! one command both changed and pruned from the repository; it is then recorded as not kept, and reported.
//!
//! `git` itself reads the objects, because only it knows packs, alternates and worktrees; this module reads the
//! index, because it needs only names and hashes. Nothing from the repository is executed or fetched (no hooks,
//! no lazy fetches, no protocols), and nothing is written.

use sha1::{Digest, Sha1};
use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    thread,
};

use super::bytes::path_of;
use crate::{Blobs, FlushTiming, PersonalSettings, git_command, paths::resolve_links};

type GitObject = [u8; 20];

/// The repository of a folder, with the content of its index.
pub(crate) struct GitRepository {
    /// Its data folder.
    data: PathBuf,
    /// The files of the index whose objects exist.
    objects: HashMap<PathBuf, GitObject>,
}

impl GitRepository {
    /// Returns the repository of a folder, or `None` if git would not read one there.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        let (tree, data) =
            folder.ancestors().find_map(|tree| Some((tree, data_folder_of(&tree.join(".git"))?)))?;
        let index = std::fs::read(data.join("index")).ok()?;
        let mut objects = read_index(&index)?;
        let needed: HashSet<GitObject> = objects.iter().map(|(_, object)| *object).collect();
        let existing_objects = existing_objects(&data, &needed)?;
        objects.retain(|(_, object)| existing_objects.contains(object));
        let objects = objects.into_iter().map(|(path, object)| (tree.join(path_of(&path)), object)).collect();
        Some(Self { data, objects })
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the BLAKE3 hash and the object of a file if the object store has exactly its bytes.
    pub(crate) fn stored_object(
        &self,
        path: &Path,
        file: &mut File,
        len: u64,
    ) -> Option<([u8; 32], GitObject)> {
        let object = self.objects.get(path)?;
        let mut git = Sha1::new();
        git.update(format!("blob {len}\0"));
        let mut blake = blake3::Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        file.rewind().ok()?;
        loop {
            let read = file.read(&mut buffer).ok()?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            git.update(bytes);
            blake.update(bytes);
        }
        (git.finalize().as_slice() == object).then(|| (blake.finalize().into(), *object))
    }
}

/// Returns the data folder of a repository: `.git` itself, or the target of a file of that name.
fn data_folder_of(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = std::fs::read_to_string(git).ok()?;
    let git_path = Path::new(text.strip_prefix("gitdir:")?.trim());
    resolve_links(&git.parent()?.join(git_path)).ok().filter(|data| data.is_dir())
}

/// Returns the files of an index (versions 2 to 4) with their objects, or `None` if the format is not
/// understood.
fn read_index(bytes: &[u8]) -> Option<Vec<(Vec<u8>, GitObject)>> {
    const STAT_BYTES: usize = 40;
    let read_u32 = |offset: usize| Some(u32::from_be_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (read_u32(4)?, read_u32(8)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut offset = 12;
    let mut files = Vec::new();
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let mode = read_u32(offset + 24)?;
        let object: GitObject = bytes.get(offset + STAT_BYTES..offset + STAT_BYTES + 20)?.try_into().ok()?;
        let flags = u16::from_be_bytes(bytes.get(offset + 60..offset + 62)?.try_into().ok()?);
        let mut start = offset + 62;
        if flags & 0x4000 != 0 {
            start += 2;
        }
        if version == 4 {
            let mut byte = *bytes.get(start)?;
            start += 1;
            let mut removed_bytes = usize::from(byte & 0x7f);
            while byte & 0x80 != 0 {
                byte = *bytes.get(start)?;
                start += 1;
                removed_bytes =
                    removed_bytes.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            }
            name.truncate(name.len().checked_sub(removed_bytes)?);
        } else {
            name.clear();
        }
        let len = bytes.get(start..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(bytes.get(start..start + len)?);
        offset = if version == 4 { start + len + 1 } else { offset + ((start + len - offset) / 8 + 1) * 8 };
        // Only files, and only those without a conflict.
        if mode & 0o170_000 == 0o100_000 && flags & 0x3000 == 0 {
            files.push((name.clone(), object));
        }
    }
    Some(files)
}

fn hex(object: &GitObject) -> String {
    use std::fmt::Write as _;
    object.iter().fold(String::with_capacity(40), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn parse_hex(text: &str) -> Option<GitObject> {
    let mut object = [0; 20];
    if text.len() != 40 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in object.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(object)
}

/// Starts `git cat-file` in one of its batch modes.
fn cat_file(data: &Path, mode: &str) -> io::Result<(Child, ChildStdin, BufReader<ChildStdout>)> {
    // A working tree's own files must not pose as git.
    let tree = data.ancestors().find(|above| above.ends_with(".git")).and_then(Path::parent);
    let mut command =
        git_command(tree.unwrap_or(data), PersonalSettings::Ignored).ok_or(io::ErrorKind::NotFound)?;
    let mut child = command
        .arg("--git-dir")
        .arg(data)
        .args(["cat-file", mode])
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .current_dir(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok((child, input, BufReader::new(output))),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Returns which of these objects exist.
fn existing_objects(data: &Path, objects: &HashSet<GitObject>) -> Option<HashSet<GitObject>> {
    if objects.is_empty() {
        return Some(HashSet::new());
    }
    let (mut child, mut input, output) = cat_file(data, "--batch-check").ok()?;
    let present = thread::scope(|scope| {
        // Concurrently with reading: the pipes are too small for the traffic of both sides.
        scope.spawn(move || {
            for object in objects {
                if writeln!(input, "{}", hex(object)).is_err() {
                    return;
                }
            }
        });
        let mut present = HashSet::new();
        for line in output.lines() {
            let Ok(line) = line else { break };
            let mut fields = line.split(' ');
            if let (Some(object), Some("blob")) = (fields.next().and_then(parse_hex), fields.next()) {
                present.insert(object);
            }
        }
        present
    });
    child.wait().is_ok_and(|status| status.success()).then_some(present)
}

/// Copies objects to blobs. Returns which of the hashes are blobs now.
pub(crate) fn copy_to_blobs(
    data: &Path,
    objects: &HashMap<[u8; 32], GitObject>,
    blobs: &Blobs,
) -> HashSet<[u8; 32]> {
    let mut copied = HashSet::new();
    if objects.is_empty() {
        return copied;
    }
    let Ok((mut child, mut input, mut output)) = cat_file(data, "--batch") else { return copied };
    let mut copy_object = |hash: &[u8; 32], object: &GitObject| -> io::Result<bool> {
        writeln!(input, "{}", hex(object))?;
        input.flush()?;
        let mut header = String::new();
        output.read_line(&mut header)?;
        let mut fields = header.trim_end().split(' ').skip(1);
        let (kind, len) = (fields.next(), fields.next().and_then(|len| len.parse::<u64>().ok()));
        let (Some("blob"), Some(len)) = (kind, len) else { return Ok(false) };
        let mut file = tempfile::tempfile()?;
        let got = io::copy(&mut (&mut output).take(len), &mut file)?;
        output.read_exact(&mut [0])?;
        if got != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (stored_hash, _) =
            blobs.put_file(&mut file, u64::MAX, FlushTiming::Deferred).map_err(io::Error::other)?;
        Ok(super::snapshot::hash_of(&stored_hash) == Some(*hash))
    };
    for (hash, object) in objects {
        match copy_object(hash, object) {
            Ok(true) => {
                copied.insert(*hash);
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, "the repository's objects cannot be read");
                break;
            }
        }
    }
    drop(input);
    drop(output);
    // It ends when its input does; its exit status does not matter.
    let _ = child.wait();
    copied
}

#[cfg(test)]
mod tests;
