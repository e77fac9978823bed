//! A call as displayed on its card, and names for display and for the model.

use crate::{assessment::AssessedCall, live};
use octo_browser::{
    Page,
    safety::{Element, PageAddress},
    snapshot::PageCapture,
};
use octo_protocol::{BrowserActionKind, BrowserView, PageElement};
use octo_tools::{BrowserAction, BrowserRequest, DialogAnswer, PageInteraction, RequestedWait};

/// Maximum length of a text on the card of a finished call, in characters.
const MAX_FINISHED_TEXT: usize = 400;

/// Returns the full text that a call gives to a page or its address.
pub(crate) fn full_text(action: &BrowserAction) -> Option<String> {
    kind_and_text(action).1
}

/// Returns a call as displayed in its question: in full, because the person decides on everything given to the
/// page.
pub(crate) fn question_view(request: &BrowserRequest, call: &AssessedCall) -> BrowserView {
    let (kind, text) = kind_and_text(&request.action);
    BrowserView {
        action: kind,
        target: call.assessment.target.clone(),
        site: call.assessment.location.as_ref().map(|location| location.site.clone()),
        title: call.tab.as_ref().map(|tab| line(&tab.title)),
        tab: call.tab.as_ref().map(|tab| tab.number.0),
        text,
        output: String::new(),
        picture: None,
    }
}

/// Returns a finished call for display; the beginning of its text is enough.
pub(crate) fn finished_view(request: &BrowserRequest, call: &AssessedCall) -> BrowserView {
    let mut view = question_view(request, call);
    view.text = view.text.map(|text| {
        let mut characters = text.chars();
        let mut excerpt: String = characters.by_ref().take(MAX_FINISHED_TEXT).collect();
        if characters.next().is_some() {
            excerpt.push('\u{2026}');
        }
        excerpt
    });
    view
}

/// Returns the kind of an action, and the text that it gives to the page or its address.
fn kind_and_text(action: &BrowserAction) -> (BrowserActionKind, Option<String>) {
    match action {
        BrowserAction::Status | BrowserAction::Tabs => (BrowserActionKind::Look, None),
        BrowserAction::Open { url } | BrowserAction::Navigate { url } => {
            (BrowserActionKind::Open, Some(url.clone()))
        }
        BrowserAction::Back => (BrowserActionKind::Open, None),
        BrowserAction::Focus | BrowserAction::Close => (BrowserActionKind::Tab, None),
        BrowserAction::Snapshot { .. } | BrowserAction::Read { .. } => (BrowserActionKind::Read, None),
        BrowserAction::Find { text } => (BrowserActionKind::Read, Some(text.clone())),
        BrowserAction::Screenshot { .. } => (BrowserActionKind::Picture, None),
        BrowserAction::Dialog(DialogAnswer::Accept(text)) => (BrowserActionKind::Dialog, text.clone()),
        BrowserAction::Dialog(DialogAnswer::Dismiss) => (BrowserActionKind::Dialog, None),
        BrowserAction::Download { .. } => (BrowserActionKind::Click, None),
        BrowserAction::Evaluate { script } => (BrowserActionKind::Script, Some(script.clone())),
        BrowserAction::Page(act) => match act {
            PageInteraction::Click(_) | PageInteraction::DoubleClick(_) | PageInteraction::ClickAt(..) => {
                (BrowserActionKind::Click, None)
            }
            PageInteraction::Type(_, text) | PageInteraction::Fill(_, text) => {
                (BrowserActionKind::Type, Some(text.clone()))
            }
            PageInteraction::Press(_, key) => (BrowserActionKind::Press, Some(key.clone())),
            PageInteraction::Hover(_) | PageInteraction::Drag(..) | PageInteraction::Scroll(_) => {
                (BrowserActionKind::Move, None)
            }
            PageInteraction::Select(_, values) => (BrowserActionKind::Select, Some(values.join(", "))),
            PageInteraction::Wait(RequestedWait::Text(text)) => (BrowserActionKind::Wait, Some(text.clone())),
            PageInteraction::Wait(RequestedWait::Time(_)) => (BrowserActionKind::Wait, None),
            PageInteraction::Upload(_, files) => {
                let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                (BrowserActionKind::Upload, Some(files.join("\n")))
            }
        },
    }
}

/// Formats page text as one bounded line.
pub(crate) fn line(text: &str) -> String {
    let clean = octo_browser::snapshot::clean_text(text);
    let words: Vec<&str> = clean.split_whitespace().collect();
    words.join(" ").chars().take(200).collect()
}

/// Returns the tab's title for the live card.
pub(crate) fn title_of(call: &AssessedCall) -> String {
    call.tab.as_ref().map(|tab| line(&tab.title)).unwrap_or_default()
}

/// Returns the site that the page is on now, for reports about it.
pub(crate) fn current_site(page: &Page) -> String {
    live::site_of(page)
}

/// Returns the site that a captured page was read at, wherever the page is now.
pub(crate) fn captured_site(capture: &PageCapture) -> String {
    let root = capture.frames.first();
    root.map(|root| live::site_at(&root.url, &root.origin)).unwrap_or_default()
}

/// Returns an address's name: its site, or its page.
pub(crate) fn name_of(address: &PageAddress) -> String {
    match address {
        PageAddress::Web(site) | PageAddress::Near(site) => site.to_string(),
        PageAddress::Internal { page } | PageAddress::Passwords { page } | PageAddress::File { page } => {
            page.clone()
        }
        PageAddress::Extension { id } => format!("chrome-extension://{id}"),
        PageAddress::Blank | PageAddress::ErrorPage | PageAddress::Forbidden(_) => String::new(),
    }
}

/// Returns a tab's location for a list of tabs: scheme and host, without page content. A source view counts as
/// the page's site.
pub(crate) fn origin_of(url: &str) -> String {
    match PageAddress::of(url) {
        PageAddress::Web(site) | PageAddress::Near(site) => site.to_string(),
        PageAddress::Blank | PageAddress::ErrorPage | PageAddress::Forbidden(_) => String::new(),
        PageAddress::Extension { .. }
        | PageAddress::Internal { .. }
        | PageAddress::Passwords { .. }
        | PageAddress::File { .. } => {
            let Some((scheme, rest)) = url.trim().split_once(':') else { return String::new() };
            let scheme = scheme.to_ascii_lowercase();
            match (scheme.as_str(), rest.strip_prefix("//")) {
                ("view-source", _) => origin_of(rest),
                ("file", _) => "file://".to_owned(),
                // Browsers also write `about:settings` for their own pages.
                (_, after_slashes) => {
                    let host = after_slashes.unwrap_or(rest).split(['/', '?', '#', '\\']).next();
                    // The host may be preceded by a user name or password, at a site that stores passwords.
                    let host = host.and_then(|host| host.rsplit('@').next()).unwrap_or_default();
                    format!("{scheme}://{host}")
                }
            }
        }
    }
}

/// Describes an element without a number by the page's own full, unmodified text.
pub(crate) fn named_by_page(element: &Element) -> PageElement {
    let name = std::iter::once(&element.name).chain(&element.texts).find(|text| !text.trim().is_empty());
    PageElement { role: element.role.clone(), name: name.cloned().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tabs_shows_scheme_and_host_only() {
        for (url, expected) in [
            ("https://shop.example/orders/17?token=x#y", "https://shop.example"),
            ("http://127.0.0.1:3000/a", "http://127.0.0.1:3000"),
            ("file:///home/ada/taxes/2025.pdf", "file://"),
            ("file://server/share/letter.txt", "file://"),
            ("chrome://settings/passwords?search=bank", "chrome://settings"),
            ("about:settings/help", "about://settings"),
            (
                "chrome-extension://nngceckbapebfimnlniiiahkandclblb/popup.html?uid=7",
                "chrome-extension://nngceckbapebfimnlniiiahkandclblb",
            ),
            (
                "chrome-extension://abcdefghijklmnopabcdefghijklmnop/page.html#mail",
                "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
            ),
            ("view-source:https://shop.example/orders/17", "https://shop.example"),
            ("view-source:file:///home/ada/a.html", "file://"),
            ("https://vault.bitwarden.com/#/vault?itemId=9", "https://vault.bitwarden.com"),
            ("about:blank", ""),
            ("data:text/html,secret", ""),
        ] {
            assert_eq!(origin_of(url), expected, "{url}");
        }
    }
}
