//! Parses the output of `strace`.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

/// The prefix of a missing file's path. Before each line the script tries to open such a file, which marks the line in
/// the trace.
pub const MARKER: &str = "/oracle-line-";

/// The traced system calls.
pub const CALLS: &str = "trace=open,openat,openat2,creat,execve,execveat,connect,sendto,unlink,unlinkat,rename,\
    renameat,renameat2,mkdir,mkdirat,rmdir,symlink,symlinkat,link,linkat,truncate,ftruncate,chmod,fchmod,fchmodat,\
    chown,fchown,fchownat,lchown,utimensat,mknod,mknodat,setxattr,mount";

/// An effect of a line.
#[derive(Debug)]
pub enum Event {
    /// It opened a file for reading.
    Reads(PathBuf),
    /// It opened a file for writing.
    Writes(PathBuf),
    /// It started a program.
    Starts(PathBuf),
    /// It removed, renamed or created these paths, or changed their mode or time.
    Changes(Vec<PathBuf>),
    /// It connected to something other than a local socket.
    Connects(String),
}

/// Returns the events in order, each with the number of its line.
pub fn events(trace: &str) -> Vec<(String, Event)> {
    let mut begun: BTreeMap<&str, String> = BTreeMap::new();
    let mut marker = String::new();
    let mut found = Vec::new();
    for line in trace.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        let call = if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(process, start.to_owned());
            // The call is complete in the line that resumes it.
            continue;
        } else if let Some(resumed) = rest.strip_prefix("<... ") {
            let Some((_, end)) = resumed.split_once(" resumed>") else { continue };
            format!("{}{end}", begun.remove(process).unwrap_or_default())
        } else {
            rest.to_owned()
        };
        if let Some((_, number)) = call.split_once(MARKER) {
            marker = number.chars().take_while(char::is_ascii_alphanumeric).collect();
            continue;
        }
        if let Some(event) = event(&call) {
            found.push((marker.clone(), event));
        }
    }
    found
}

fn event(call: &str) -> Option<Event> {
    let (name, rest) = call.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if result.starts_with('-') || result.starts_with('?') {
        return None;
    }
    match name {
        "open" | "openat" | "openat2" | "creat" => {
            // With `-y` the result shows the real path: `3</home/ada/x>`.
            let path = PathBuf::from(result.split_once('<')?.1.strip_suffix('>')?);
            // A program's own temporary file: it is new, so no other program uses it.
            if arguments.contains("O_EXCL") && is_temporary(&path) {
                return None;
            }
            let writes =
                ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| arguments.contains(flag));
            Some(if writes || name == "creat" { Event::Writes(path) } else { Event::Reads(path) })
        }
        "execve" | "execveat" => Some(Event::Starts(PathBuf::from(arguments.split('"').nth(1)?))),
        "connect" | "sendto" if arguments.contains("AF_UNIX") || !arguments.contains("sa_family") => None,
        "connect" | "sendto" => Some(Event::Connects(call.to_owned())),
        // The call is on a pipe or a terminal, not on a file.
        "ftruncate" | "fchmod" | "fchown" if !arguments.contains("</") => None,
        _ => {
            let mut paths = paths(arguments);
            // The target of a link does not change.
            if name.starts_with("symlink") {
                paths.drain(..paths.len().saturating_sub(1));
            }
            paths.retain(|path| !is_temporary(path) && !path.starts_with("/dev"));
            (!paths.is_empty()).then_some(Event::Changes(paths))
        }
    }
}

/// Returns the paths among the arguments of a call: `AT_FDCWD</home/ada>, "x"`, or `3</home/ada/x>` without a name. A
/// path stays relative if the call does not name its folder.
fn paths(arguments: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folder = None;
    let mut rest = arguments;
    while let Some(at) = rest.find(['"', '<']) {
        let (_, from) = rest.split_at(at);
        let close = if from.starts_with('"') { '"' } else { '>' };
        let Some((text, after)) = from.get(1..).and_then(|from| from.split_once(close)) else { break };
        match (close, &folder) {
            ('"', Some(folder)) => found.push(plain(&Path::new(folder).join(text))),
            ('"', None) => found.push(plain(Path::new(text))),
            _ => folder = Some(text),
        }
        rest = after;
    }
    if found.is_empty() {
        found.extend(folder.map(PathBuf::from));
    }
    found
}

/// Returns a path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Returns whether a path lies directly in the system's temporary folder, which contains only programs' own files.
fn is_temporary(path: &Path) -> bool {
    path.parent() == Some(std::env::temp_dir().as_path())
}
