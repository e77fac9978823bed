//! Parses `octo://` links: requests of an outside program or page.
//!
//! A link is untrusted. It is bounded, it may only open something, and its content is shown to the person, who
//! decides whether to send it.

use octo_protocol::{ApiError, OpenRequest, OpenRequestSource, SettingsPage};
use std::path::Path;
use url::Url;

/// Scheme of the links.
pub const SCHEME: &str = "octo";

/// Maximum length of a link, in bytes. A prompt of several pages fits; a longer one belongs in a file.
pub const LINK_LIMIT: usize = 16 * 1024;

/// Returns the request of a link. A link that is unknown, is too long or contains hidden text becomes
/// [`OpenRequest::Refused`] with the reason.
#[must_use]
pub fn parse_link(text: &str) -> OpenRequest {
    try_parse(text).unwrap_or_else(|error| OpenRequest::Refused { error })
}

fn try_parse(text: &str) -> Result<OpenRequest, ApiError> {
    if text.len() > LINK_LIMIT {
        return Err(ApiError::new("link.too_long")
            .arg("size", text.len().div_ceil(1024))
            .arg("limit", LINK_LIMIT / 1024));
    }
    let unknown = || ApiError::new("link.unknown");
    let url = Url::parse(text).map_err(|_| unknown())?;
    if url.scheme() != SCHEME {
        return Err(unknown());
    }
    let mut segments = url.path().split('/').filter(|segment| !segment.is_empty());
    let (action, argument, excess) = (url.host_str(), segments.next(), segments.next());
    match (action, argument, excess) {
        (Some("new"), None, None) => new_session(&url),
        (Some("session"), Some(id), None) => {
            let session = id.parse().map_err(|_| unknown())?;
            Ok(OpenRequest::OpenSession { session })
        }
        (Some("settings"), page, None) => match page.unwrap_or(SettingsPage::General.name()) {
            page if page.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') => {
                Ok(OpenRequest::OpenSettings { page: page.to_owned() })
            }
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

fn new_session(url: &Url) -> Result<OpenRequest, ApiError> {
    let (mut prompt, mut folder) = (None, None);
    for (name, value) in url.query_pairs() {
        let parameter = match &*name {
            "prompt" => &mut prompt,
            "folder" => &mut folder,
            // A later Octo may know this parameter. Nobody would notice that this one ignored it.
            _ => return Err(ApiError::new("link.unknown")),
        };
        // Choosing one of two values would be a guess.
        if parameter.replace(value.into_owned()).is_some() {
            return Err(ApiError::new("link.unknown"));
        }
    }
    let prompt = prompt.unwrap_or_default().replace("\r\n", "\n");
    if prompt.chars().chain(folder.iter().flat_map(|folder| folder.chars())).any(is_hidden) {
        return Err(ApiError::new("link.hidden_text"));
    }
    let folder = folder.filter(|folder| !folder.is_empty());
    if let Some(folder) = &folder
        && !is_own_folder(folder)
    {
        return Err(ApiError::new("link.folder").arg("folder", folder));
    }
    Ok(OpenRequest::NewSession { prompt, folder, from: OpenRequestSource::Link })
}

/// Returns whether a folder is on this machine: even checking a network folder would reveal the person to its
/// owner.
fn is_own_folder(folder: &str) -> bool {
    let network = folder.starts_with("//") || folder.starts_with(r"\\");
    !network && !folder.contains('\n') && Path::new(folder).is_absolute()
}

/// Returns whether a character is invisible or changes the order of the visible text: a prompt with it differs
/// from the one the person agrees to.
fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Marks of direction, and zero-width joiners; those that join letters and emoji (U+200C, U+200D) are
        // needed.
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{180e}' => true,
        // Letters that are drawn as nothing.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        // Tags and the supplementary variation selectors: they can hide whole texts.
        '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::SessionId;
    use proptest::prelude::*;

    fn refusal(text: &str) -> String {
        match parse_link(text) {
            OpenRequest::Refused { error } => error.key,
            other => panic!("{text} means {other:?}"),
        }
    }

    #[test]
    fn a_link_opens_what_it_names() {
        let session = SessionId::new();
        let new = |prompt: &str, folder: Option<&str>| OpenRequest::NewSession {
            prompt: prompt.to_owned(),
            folder: folder.map(str::to_owned),
            from: OpenRequestSource::Link,
        };
        for (text, request) in [
            ("octo://new".to_owned(), new("", None)),
            ("octo://new/".to_owned(), new("", None)),
            ("OCTO://new?prompt=Look%20at%20this".to_owned(), new("Look at this", None)),
            ("octo://new?prompt=one%0D%0Atwo".to_owned(), new("one\ntwo", None)),
            ("octo://new?prompt=%E4%BD%A0%E5%A5%BD&folder=".to_owned(), new("你好", None)),
            (format!("octo://session/{session}"), OpenRequest::OpenSession { session }),
            ("octo://settings/models".to_owned(), OpenRequest::OpenSettings { page: "models".to_owned() }),
            ("octo://settings".to_owned(), OpenRequest::OpenSettings { page: "general".to_owned() }),
        ] {
            assert_eq!(parse_link(&text), request, "{text}");
        }
        if cfg!(unix) {
            assert_eq!(parse_link("octo://new?folder=/srv/a%20b&prompt=x"), new("x", Some("/srv/a b")));
        }
    }

    #[test]
    fn an_unknown_link_is_refused_with_a_reason() {
        for text in [
            "",
            "octo:",
            "octo://",
            "octo:new?prompt=x",
            "octo://run?prompt=x",
            "octo://new/more?prompt=x",
            "octo://new?prompt=a&prompt=b",
            "octo://new?prompt=a&mode=autonomous",
            "octo://session",
            "octo://session/last",
            "octo://session/../settings",
            "octo://settings/models/delete",
            "https://example.org/new?prompt=x",
            "file:///etc/passwd",
            "javascript:alert(1)",
        ] {
            assert_eq!(refusal(text), "link.unknown", "{text}");
        }
    }

    #[test]
    fn a_folder_is_one_of_this_machine() {
        for folder in ["src", "./src", "~", "%5C%5Cserver%5Cshare", "//server/share", "/srv%0A/x"] {
            let key = refusal(&format!("octo://new?folder={folder}"));
            assert!(key == "link.folder", "{folder}: {key}");
        }
    }

    #[test]
    fn a_text_that_hides_something_is_refused() {
        for text in
            ["\u{202e}", "\u{200b}", "\u{e0041}", "\u{e0101}", "\u{0000}", "\u{001b}", "\u{2066}", "\u{7f}"]
        {
            let mut url = Url::parse("octo://new").unwrap();
            url.query_pairs_mut().append_pair("prompt", &format!("Look{text} at this"));
            assert_eq!(refusal(url.as_str()), "link.hidden_text", "{text:?}");
        }
    }

    #[test]
    fn a_link_is_bounded() {
        let prefix = "octo://new?prompt=";
        let longest = format!("{prefix}{}", "a".repeat(LINK_LIMIT - prefix.len()));
        assert!(matches!(parse_link(&longest), OpenRequest::NewSession { .. }));
        assert_eq!(refusal(&format!("{longest}a")), "link.too_long");
        let OpenRequest::Refused { error } = parse_link(&format!("{prefix}{}", "a".repeat(100_000))) else {
            panic!("read")
        };
        assert_eq!((error.args["size"].as_str(), error.args["limit"].as_str()), ("98", "16"));
        assert!(error.detail.is_none(), "the answer does not repeat it");
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC{0,200}") {
            let _ = parse_link(&text);
        }

        #[test]
        fn a_prompt_arrives_as_it_was_written(prompt in "[ -~äß你好🐙\n\t]{0,300}") {
            let mut url = Url::parse("octo://new").unwrap();
            url.query_pairs_mut().append_pair("prompt", &prompt);
            let request = parse_link(url.as_str());
            prop_assert_eq!(request, OpenRequest::NewSession { prompt, folder: None, from: OpenRequestSource::Link });
        }
    }
}
