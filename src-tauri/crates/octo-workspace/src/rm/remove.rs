//! One operand: the checks and questions of `rm` before it, and its move to the trash.

use super::{
    InputIsTerminal, RmRun,
    options::{PromptMode, RmOptions},
    quote::quote,
};
use crate::TrashError;
use std::{
    ffi::OsStr,
    fs::{self, Metadata},
    io,
    path::{Component, Path, PathBuf},
};

/// Removes the file or folder one operand names.
pub(super) fn remove(run: &mut RmRun<'_>, options: &RmOptions, operand: &OsStr) {
    let slashed = ends_with_slash(operand);
    let path = without_slashes(operand);
    // A trailing slash means the folder behind a link, whatever the options say.
    let meta = if slashed { fs::metadata(operand) } else { fs::symlink_metadata(&path) };
    let meta = match meta {
        Ok(meta) => meta,
        Err(error) => return missing(run, options, operand, &error),
    };
    if meta.is_dir() {
        if options.unlink {
            return run.report_error(&format!("cannot unlink {}: Is a directory", quote(operand)));
        }
        let allowed = options.recursive || (options.empty_folders && is_empty(&path));
        if !allowed {
            let reason = if options.empty_folders { "Directory not empty" } else { "Is a directory" };
            return run.report_error(&format!("cannot remove {}: {reason}", quote(operand)));
        }
        if matches!(last_component(&path), Some(Component::CurDir | Component::ParentDir)) {
            let operand = quote(operand);
            return run
                .report_error(&format!("refusing to remove '.' or '..' directory: skipping {operand}"));
        }
        if fs::canonicalize(&path).is_ok_and(|resolved| resolved.parent().is_none()) {
            let same_as = if operand == "/" { String::new() } else { " (same as '/')".to_owned() };
            let operand = quote(operand);
            return run
                .report_error(&format!("it is dangerous to operate recursively on {operand}{same_as}"));
        }
        if slashed && fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink()) {
            return run.report_error(&format!("cannot remove {}: Not a directory", quote(operand)));
        }
    }
    if meta.is_dir() && options.interactive == PromptMode::Always && !is_empty(&path) {
        // Confirmed one by one, so also moved one by one.
        remove_with_prompts(run, options, operand, &path, &meta);
        return;
    }
    if may_remove(run, options, operand, &path, &meta, RmQuestion::Remove) {
        move_to_trash(run, options, operand, &path, &meta);
    }
}

fn missing(run: &mut RmRun<'_>, options: &RmOptions, operand: &OsStr, error: &io::Error) {
    let is_missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    if !(is_missing && options.ignore_missing) {
        let verb = if options.unlink { "unlink" } else { "remove" };
        run.report_error(&format!("cannot {verb} {}: {}", quote(operand), error_text(error)));
    }
}

/// The question to ask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RmQuestion {
    Descend,
    Remove,
}

/// Whether the removal may proceed: asks if the options or a write protection require it.
fn may_remove(
    run: &mut RmRun<'_>,
    options: &RmOptions,
    operand: &OsStr,
    path: &Path,
    meta: &Metadata,
    step: RmQuestion,
) -> bool {
    if options.interactive == PromptMode::Never {
        return true;
    }
    let looks = !options.ignore_missing
        && (options.interactive == PromptMode::Always || run.terminal == InputIsTerminal::Yes)
        && !meta.is_symlink();
    let protected = looks && is_write_protected(path);
    if !protected && options.interactive != PromptMode::Always {
        return true;
    }
    let guarded = if protected { "write-protected " } else { "" };
    let (program, name) = (run.program, quote(operand));
    let question = match step {
        RmQuestion::Descend => format!("{program}: descend into {guarded}directory {name}? "),
        RmQuestion::Remove => format!("{program}: remove {guarded}{} {name}? ", kind(meta)),
    };
    run.confirm(&question)
}

fn kind(meta: &Metadata) -> &'static str {
    if meta.is_symlink() {
        return "symbolic link";
    }
    if meta.is_dir() {
        return "directory";
    }
    if meta.is_file() {
        return if meta.len() == 0 { "regular empty file" } else { "regular file" };
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = meta.file_type();
        if kind.is_fifo() {
            return "fifo";
        }
        if kind.is_socket() {
            return "socket";
        }
        if kind.is_block_device() {
            return "block special file";
        }
        if kind.is_char_device() {
            return "character special file";
        }
    }
    "weird file"
}

/// Removes a folder under `-i`: asks about every part, removes the confirmed ones, then the folder itself if it
/// is empty.
fn remove_with_prompts(
    run: &mut RmRun<'_>,
    options: &RmOptions,
    operand: &OsStr,
    path: &Path,
    meta: &Metadata,
) {
    if !may_remove(run, options, operand, path, meta, RmQuestion::Descend) {
        return;
    }
    let children = match fs::read_dir(path).and_then(|entries| entries.collect::<io::Result<Vec<_>>>()) {
        Ok(children) => children,
        Err(error) => {
            return run.report_error(&format!("cannot remove {}: {}", quote(operand), error_text(&error)));
        }
    };
    for entry in children {
        let mut child = operand.to_owned();
        if !ends_with_slash(operand) {
            child.push("/");
        }
        child.push(entry.file_name());
        let part = entry.path();
        match fs::symlink_metadata(&part) {
            Ok(meta) if meta.is_dir() && !is_empty(&part) => {
                remove_with_prompts(run, options, &child, &part, &meta)
            }
            Ok(meta) => {
                if may_remove(run, options, &child, &part, &meta, RmQuestion::Remove) {
                    move_to_trash(run, options, &child, &part, &meta);
                }
            }
            Err(error) => missing(run, options, &child, &error),
        }
    }
    if !may_remove(run, options, operand, path, meta, RmQuestion::Remove) {
        return;
    }
    if is_empty(path) {
        move_to_trash(run, options, operand, path, meta);
    } else {
        run.report_error(&format!("cannot remove {}: Directory not empty", quote(operand)));
    }
}

fn move_to_trash(run: &mut RmRun<'_>, options: &RmOptions, operand: &OsStr, path: &Path, meta: &Metadata) {
    let name = quote(operand);
    let verb = if options.unlink { "unlink" } else { "remove" };
    let Some(trash) = run.trash() else {
        return run.report_error(&format!(
            "cannot {verb} {name}: Octo's trash cannot be found, so nothing was removed"
        ));
    };
    let removal = run.removal.clone();
    match trash.move_in(path, &removal) {
        Ok(slip) if options.verbose => {
            let output = verbose_lines(operand, &trash.content_path(slip.id), meta);
            run.print(&output);
        }
        Ok(_) => {}
        Err(TrashError::Item(error)) if is_missing(&error) && options.ignore_missing => {}
        Err(TrashError::Item(error)) => {
            run.report_error(&format!("cannot {verb} {name}: {}", error_text(&error)));
        }
        Err(TrashError::NoRoom(error)) => {
            let trash = quote(trash.home().join("trash").as_os_str());
            run.report_error(&format!(
                "cannot {verb} {name}: {}; it could not be moved to the trash in {trash}, so it was not removed",
                error_text(&error)
            ));
        }
        Err(TrashError::Refused(refusal)) => {
            run.report_error(&format!("refusing to {verb} {name}: {refusal}"))
        }
        Err(error) => run.report_error(&format!("cannot {verb} {name}: {error}; it was not removed")),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the lines `-v` prints, read from the new location: the content of a folder first.
fn verbose_lines(operand: &OsStr, content: &Path, meta: &Metadata) -> String {
    let mut lines = String::new();
    if meta.is_dir() {
        explain_folder(Path::new(operand), content, &mut lines);
        lines.push_str(&format!("removed directory {}\n", quote(operand)));
    } else {
        lines.push_str(&format!("removed {}\n", quote(operand)));
    }
    lines
}

fn explain_folder(display_path: &Path, content: &Path, lines: &mut String) {
    for entry in fs::read_dir(content).into_iter().flatten().flatten() {
        let display_path = display_path.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            explain_folder(&display_path, &entry.path(), lines);
            lines.push_str(&format!("removed directory {}\n", quote(display_path.as_os_str())));
        } else {
            lines.push_str(&format!("removed {}\n", quote(display_path.as_os_str())));
        }
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(unix)]
fn is_write_protected(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD};
    rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) == Err(rustix::io::Errno::ACCESS)
}

#[cfg(not(unix))]
fn is_write_protected(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.permissions().readonly())
}

/// Returns the path's last part as written; `Path` itself hides a trailing `.`.
fn last_component(path: &Path) -> Option<Component<'_>> {
    let bytes = path.as_os_str().as_encoded_bytes();
    match bytes.rsplit(|byte| *byte == b'/').next() {
        Some(b".") => Some(Component::CurDir),
        Some(b"..") => Some(Component::ParentDir),
        _ => path.components().next_back(),
    }
}

fn ends_with_slash(operand: &OsStr) -> bool {
    operand.as_encoded_bytes().ends_with(b"/")
}

fn without_slashes(operand: &OsStr) -> PathBuf {
    let bytes = operand.as_encoded_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(1.min(bytes.len()), |index| index + 1);
    crate::path_of(bytes.get(..end).unwrap_or_default().to_vec())
}

/// Returns the system's message alone.
fn error_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
