//! Parses how the window's program was started: by the person, by the system at login, for a link or a file.

use crate::links::{SCHEME, parse_link};
use octo_protocol::{ApiError, OpenRequest};
use std::path::{Path, PathBuf};
use url::Url;

/// Start at login: nothing is shown until it is needed.
const HIDDEN: &str = "--hidden";

/// Start by a system shortcut: only the small window is shown.
const QUICK: &str = "--quick-ask";

/// File name extension of a skill package.
const SKILL_EXTENSION: &str = "skill";

/// Maximum links and files of one start. No person opens more at once.
const MAX_OPENED: usize = 16;

/// Request of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchRequest {
    /// State of the window.
    pub window: WindowAtStart,
    /// Things to open, in the given order.
    pub requests: Vec<OpenRequest>,
}

/// State of the window after a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowAtStart {
    /// It is shown.
    Shown,
    /// It is hidden, if Octo can be reached without it.
    Hidden,
    /// Also hidden, but the small window is shown.
    QuickAsk,
}

/// Parses the arguments after the program's name. Relative paths are relative to `folder`.
///
/// Unknown switches are ignored: systems and toolkits add their own.
#[must_use]
pub fn parse_arguments<'a>(arguments: impl IntoIterator<Item = &'a str>, folder: &Path) -> LaunchRequest {
    let mut start = LaunchRequest { window: WindowAtStart::Shown, requests: Vec::new() };
    for argument in arguments {
        if argument == HIDDEN {
            start.window = WindowAtStart::Hidden;
        } else if argument == QUICK {
            start.window = WindowAtStart::QuickAsk;
        } else if !argument.starts_with('-') && !argument.is_empty() && start.requests.len() < MAX_OPENED {
            start.requests.push(open_request(argument, folder));
        }
    }
    if !start.requests.is_empty() {
        // A person who opens something wants to see it.
        start.window = WindowAtStart::Shown;
    }
    start
}

fn open_request(argument: &str, folder: &Path) -> OpenRequest {
    if is_link(argument) {
        return parse_link(argument);
    }
    let path = file(argument).unwrap_or_else(|| folder.join(argument));
    let skills = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(SKILL_EXTENSION));
    match path.into_os_string().into_string() {
        Ok(path) if skills => OpenRequest::InspectSkills { path },
        Ok(path) => OpenRequest::Refused { error: ApiError::new("link.not_a_skill").arg("path", path) },
        Err(path) => OpenRequest::Refused {
            error: ApiError::new("host.file_not_text").arg("path", path.to_string_lossy()),
        },
    }
}

/// Checks only the first bytes: the link parser handles the rest.
fn is_link(argument: &str) -> bool {
    argument.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
}

/// Desktops also pass files as addresses.
fn file(argument: &str) -> Option<PathBuf> {
    let url = Url::parse(argument).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::OpenRequestSource;

    fn inspect_request(path: &str) -> OpenRequest {
        OpenRequest::InspectSkills { path: path.to_owned() }
    }

    #[cfg(unix)]
    #[test]
    fn launch_arguments_become_requests() {
        use WindowAtStart::{Hidden, QuickAsk, Shown};
        let new =
            OpenRequest::NewSession { prompt: "x".to_owned(), folder: None, from: OpenRequestSource::Link };
        for (arguments, window, errands) in [
            (vec![], Shown, vec![]),
            (vec!["--hidden"], Hidden, vec![]),
            (vec!["--quick-ask"], QuickAsk, vec![]),
            (vec!["--gtk-debug", "-v", ""], Shown, vec![]),
            (vec!["octo://new?prompt=x"], Shown, vec![new.clone()]),
            (vec!["--hidden", "octo://new?prompt=x"], Shown, vec![new]),
            (vec!["/srv/pdf.skill"], Shown, vec![inspect_request("/srv/pdf.skill")]),
            (vec!["pdf.SKILL"], Shown, vec![inspect_request("/home/mei/pdf.SKILL")]),
            (vec!["file:///srv/a%20b.skill"], Shown, vec![inspect_request("/srv/a b.skill")]),
        ] {
            let start = parse_arguments(arguments.iter().copied(), Path::new("/home/mei"));
            assert_eq!(start, LaunchRequest { window, requests: errands }, "{arguments:?}");
        }
    }

    #[test]
    fn a_file_of_another_kind_is_not_opened() {
        for argument in ["/etc/passwd", "notes.txt", "https://example.org/x", "file://server/share/x.txt"] {
            let start = parse_arguments([argument], Path::new("/home/mei"));
            let [OpenRequest::Refused { error }] = &start.requests[..] else {
                panic!("{argument}: {start:?}")
            };
            assert_eq!(error.key, "link.not_a_skill", "{argument}");
        }
    }

    #[test]
    fn the_number_of_requests_is_bounded() {
        let links = vec!["octo://new"; 1000];
        assert_eq!(parse_arguments(links, Path::new("/")).requests.len(), MAX_OPENED);
    }
}
