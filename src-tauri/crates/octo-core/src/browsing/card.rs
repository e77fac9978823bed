//! A call as displayed on its card, and names for display and for the model.

use super::{live, weigh::Found};
use octo_browser::{
    Page,
    safety::{Address, Element},
    snapshot::Captured,
};
use octo_protocol::{BrowserDeed, BrowserView, PageElement};
use octo_tools::{Awaited, BrowserWish, DialogAnswer, PageAct, WishedDeed};

/// Maximum length of a text on the card of a finished call, in characters.
const SHOWN: usize = 400;

/// Returns the full text that a call gives to a page or its address.
pub(super) fn whole_text(deed: &WishedDeed) -> Option<String> {
    deed_of(deed).1
}

/// Returns a call as displayed in its question: in full, because the person decides on everything given to the
/// page.
pub(super) fn view_of(wish: &BrowserWish, found: &Found) -> BrowserView {
    let (deed, text) = deed_of(&wish.deed);
    BrowserView {
        deed,
        target: found.weight.target.clone(),
        site: found.weight.place.as_ref().map(|place| place.site.clone()),
        title: found.tab.as_ref().map(|tab| line(&tab.title)),
        tab: found.tab.as_ref().map(|tab| tab.number.0),
        text,
        output: String::new(),
        picture: None,
    }
}

/// Returns a finished call for display; the beginning of its text is enough.
pub(super) fn done_view_of(wish: &BrowserWish, found: &Found) -> BrowserView {
    let mut view = view_of(wish, found);
    view.text = view.text.map(|text| {
        let mut characters = text.chars();
        let mut kept: String = characters.by_ref().take(SHOWN).collect();
        if characters.next().is_some() {
            kept.push('\u{2026}');
        }
        kept
    });
    view
}

fn deed_of(deed: &WishedDeed) -> (BrowserDeed, Option<String>) {
    match deed {
        WishedDeed::Status | WishedDeed::Tabs => (BrowserDeed::Look, None),
        WishedDeed::Open { url } | WishedDeed::Navigate { url } => (BrowserDeed::Open, Some(url.clone())),
        WishedDeed::Back => (BrowserDeed::Open, None),
        WishedDeed::Focus | WishedDeed::Close => (BrowserDeed::Tab, None),
        WishedDeed::Snapshot { .. } | WishedDeed::Read { .. } => (BrowserDeed::Read, None),
        WishedDeed::Find { text } => (BrowserDeed::Read, Some(text.clone())),
        WishedDeed::Screenshot { .. } => (BrowserDeed::Picture, None),
        WishedDeed::Dialog(DialogAnswer::Accept(text)) => (BrowserDeed::Dialog, text.clone()),
        WishedDeed::Dialog(DialogAnswer::Dismiss) => (BrowserDeed::Dialog, None),
        WishedDeed::Download { .. } => (BrowserDeed::Click, None),
        WishedDeed::Evaluate { script } => (BrowserDeed::Script, Some(script.clone())),
        WishedDeed::Act(act) => match act {
            PageAct::Click(_) | PageAct::DoubleClick(_) | PageAct::ClickAt(..) => (BrowserDeed::Click, None),
            PageAct::Type(_, text) | PageAct::Fill(_, text) => (BrowserDeed::Type, Some(text.clone())),
            PageAct::Press(_, key) => (BrowserDeed::Press, Some(key.clone())),
            PageAct::Hover(_) | PageAct::Drag(..) | PageAct::Scroll(_) => (BrowserDeed::Move, None),
            PageAct::Select(_, values) => (BrowserDeed::Select, Some(values.join(", "))),
            PageAct::Wait(Awaited::Text(text)) => (BrowserDeed::Wait, Some(text.clone())),
            PageAct::Wait(Awaited::Time(_)) => (BrowserDeed::Wait, None),
            PageAct::Upload(_, files) => {
                let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                (BrowserDeed::Upload, Some(files.join("\n")))
            }
        },
    }
}

/// Formats page text as one bounded line.
pub(super) fn line(text: &str) -> String {
    let clean = octo_browser::snapshot::clean_text(text);
    let words: Vec<&str> = clean.split_whitespace().collect();
    words.join(" ").chars().take(200).collect()
}

/// Returns the tab's title for the live card.
pub(super) fn title_of(found: &Found) -> String {
    found.tab.as_ref().map(|tab| line(&tab.title)).unwrap_or_default()
}

/// Returns the site that the page is on now, for reports about it.
pub(super) fn site_now(page: &Page) -> String {
    live::site_of(page)
}

/// Returns the site that a captured page was read at, wherever the page is now.
pub(super) fn site_read(captured: &Captured) -> String {
    let root = captured.frames.first();
    root.map(|root| live::site_at(&root.url, &root.origin)).unwrap_or_default()
}

/// Returns an address's name: its site, or its page.
pub(super) fn name_of(address: &Address) -> String {
    match address {
        Address::Web(site) | Address::Near(site) => site.to_string(),
        Address::Internal { page } | Address::Passwords { page } | Address::File { page } => page.clone(),
        Address::Extension { id } => format!("chrome-extension://{id}"),
        Address::Blank | Address::ErrorPage | Address::Forbidden(_) => String::new(),
    }
}

/// Returns a tab's location for a list of tabs: scheme and host, without page content. A source view counts as
/// the page's site.
pub(super) fn origin_of(url: &str) -> String {
    match Address::of(url) {
        Address::Web(site) | Address::Near(site) => site.to_string(),
        Address::Blank | Address::ErrorPage | Address::Forbidden(_) => String::new(),
        Address::Extension { .. }
        | Address::Internal { .. }
        | Address::Passwords { .. }
        | Address::File { .. } => {
            let Some((scheme, rest)) = url.trim().split_once(':') else { return String::new() };
            let scheme = scheme.to_ascii_lowercase();
            match (scheme.as_str(), rest.strip_prefix("//")) {
                ("view-source", _) => origin_of(rest),
                ("file", _) => "file://".to_owned(),
                // Browsers also write `about:settings` for their own pages.
                (_, rest_of_host) => {
                    let host = rest_of_host.unwrap_or(rest).split(['/', '?', '#', '\\']).next();
                    // The host may be preceded by a user name or password, at a site that stores passwords.
                    let host = host.and_then(|host| host.rsplit('@').next()).unwrap_or_default();
                    format!("{scheme}://{host}")
                }
            }
        }
    }
}

/// Describes an element without a number by the page's own full, unmodified text.
pub(super) fn named_by_page(element: &Element) -> PageElement {
    let name = std::iter::once(&element.name).chain(&element.texts).find(|text| !text.trim().is_empty());
    PageElement { role: element.role.clone(), name: name.cloned().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tabs_says_scheme_and_host_alone() {
        for (url, said) in [
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
            assert_eq!(origin_of(url), said, "{url}");
        }
    }
}
