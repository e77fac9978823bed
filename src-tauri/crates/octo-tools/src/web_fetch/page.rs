//! Extracts a page's main content as Markdown.

use ego_tree::{NodeId, iter::Edge};
use htmd::HtmlToMarkdown;
use scraper::{ElementRef, Html, Node, Selector, node::Element};
use url::Url;

/// Maximum depth of elements; deeper ones are left out: the conversion recurses for each level, and no
/// human-written page is nearly as deep.
const MAX_DEPTH: usize = 150;
/// Maximum number of simultaneously open elements; a page with more is not parsed, since that takes quadratic
/// time.
const MAX_OPEN: usize = 1_000;
/// Elements that have no end tag, or need none.
const VOID_ELEMENTS: &[&str] = &[
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option",
    "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];
/// Elements that are never content.
const NON_CONTENT: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "canvas", "head", "link",
    "meta", "dialog",
];
/// Elements that surround the content.
const SURROUNDING: &[&str] = &["nav", "aside"];
/// Elements that surround the content of a page without a declared main part.
const SURROUNDING_BODY: &[&str] = &["header", "footer"];

/// Content of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExtractedPage {
    pub title: Option<String>,
    pub description: Option<String>,
    pub markdown: String,
}

/// Reads a page. Makes its links absolute.
pub(super) fn read(html: &str, address: &Url) -> ExtractedPage {
    if count_open(html) > MAX_OPEN {
        return ExtractedPage { markdown: tidy(&without_tags(html)), ..ExtractedPage::default() };
    }
    let mut document = Html::parse_document(html);
    let title = first(&document, "head title").or_else(|| meta(&document, "property", "og:title"));
    let description =
        meta(&document, "name", "description").or_else(|| meta(&document, "property", "og:description"));
    let base = attribute(&document, "base[href]", "href").and_then(|href| address.join(&href).ok());
    let base =
        base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| address.clone());

    let main = main_element(&document);
    let is_said = main.is_some();
    prune(&mut document, is_said);
    make_links_absolute(&mut document, &base);
    let body = || selected(&document, "body").unwrap_or_else(|| document.root_element());
    let content =
        main.and_then(|id| document.tree.get(id)).and_then(ElementRef::wrap).unwrap_or_else(body).html();
    // If the conversion fails, the text is shown without its tags.
    let markdown = HtmlToMarkdown::new()
        .convert(&content)
        .unwrap_or_else(|_| body().text().collect::<Vec<_>>().join(" "));
    ExtractedPage { title, description, markdown: tidy(&markdown) }
}

/// Estimates the maximum number of simultaneously open elements, by counting tags.
fn count_open(html: &str) -> usize {
    let (mut open, mut max) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let end = tag.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = tag.get(..end).unwrap_or_default().to_ascii_lowercase();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || VOID_ELEMENTS.contains(&name.as_str()) {
            continue;
        }
        open = if is_end { open.saturating_sub(1) } else { open + 1 };
        max = max.max(open);
    }
    max
}

/// Returns the text between tags, roughly.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    for (index, segment) in html.split('<').enumerate() {
        let segment = if index == 0 { segment } else { segment.split_once('>').map_or("", |(_, text)| text) };
        text.push_str(segment);
        text.push(if segment.is_empty() { ' ' } else { '\n' });
    }
    text
}

/// Returns the element that the page declares as its content.
fn main_element(document: &Html) -> Option<NodeId> {
    let is_empty = |element: &ElementRef<'_>| element.text().all(|text| text.trim().is_empty());
    let mains = all(document, "main, [role=main]");
    if let Some(main) = mains.iter().find(|element| !is_empty(element)) {
        return Some(main.id());
    }
    // Several articles are a list, so the page around them is the content.
    match all(document, "article").as_slice() {
        [only] if !is_empty(only) => Some(only.id()),
        _ => None,
    }
}

/// Removes elements that are not content, hidden, or too deep.
fn prune(document: &mut Html, is_said: bool) {
    let mut doomed = Vec::new();
    let mut depth = 0_usize;
    for edge in document.tree.root().traverse() {
        match edge {
            Edge::Open(node) => {
                depth += 1;
                let is_noise = match node.value() {
                    Node::Element(element) => is_noise(element, is_said),
                    Node::Comment(_) => true,
                    _ => false,
                };
                if is_noise || depth > MAX_DEPTH {
                    doomed.push(node.id());
                }
            }
            Edge::Close(_) => depth -= 1,
        }
    }
    for id in doomed {
        if let Some(mut node) = document.tree.get_mut(id) {
            node.detach();
        }
    }
}

fn is_noise(element: &Element, is_said: bool) -> bool {
    let name = element.name();
    if NON_CONTENT.contains(&name)
        || SURROUNDING.contains(&name)
        || (!is_said && SURROUNDING_BODY.contains(&name))
    {
        return true;
    }
    let style = element.attr("style").unwrap_or_default().to_ascii_lowercase().replace(' ', "");
    // Invisible words are for machines only, and must not be trusted at all.
    element.attr("hidden").is_some()
        || element.attr("aria-hidden") == Some("true")
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

/// Makes the addresses of links and pictures absolute, and drops invalid ones.
fn make_links_absolute(document: &mut Html, base: &Url) {
    let ids: Vec<_> = document.tree.root().descendants().map(|node| node.id()).collect();
    for id in ids {
        let Some(mut node) = document.tree.get_mut(id) else { continue };
        let Node::Element(element) = node.value() else { continue };
        let attribute = match element.name() {
            "a" => "href",
            "img" => "src",
            _ => continue,
        };
        element.attrs.retain_mut(|(name, value)| {
            if &*name.local != attribute {
                return true;
            }
            match base.join(value.trim()) {
                Ok(url) if matches!(url.scheme(), "http" | "https" | "mailto" | "tel") => {
                    value.clear();
                    value.push_slice(url.as_str());
                    true
                }
                Ok(_) | Err(_) => false,
            }
        });
    }
}

/// Returns the text without spaces at the ends of lines and with at most one consecutive empty line.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 1;
    for line in text.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.trim().to_owned()
}

fn all<'a>(document: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    // The selectors are constants, and tested.
    Selector::parse(selector).map(|selector| document.select(&selector).collect()).unwrap_or_default()
}

fn selected<'a>(document: &'a Html, selector: &str) -> Option<ElementRef<'a>> {
    all(document, selector).into_iter().next()
}

fn first(document: &Html, selector: &str) -> Option<String> {
    line(&selected(document, selector)?.text().collect::<String>())
}

fn attribute(document: &Html, selector: &str, name: &str) -> Option<String> {
    Some(selected(document, selector)?.attr(name)?.to_owned())
}

fn meta(document: &Html, key: &str, name: &str) -> Option<String> {
    line(&attribute(document, &format!("meta[{key}=\"{name}\" i]"), "content")?)
}

/// Returns the text in one line; `None` if nothing remains.
fn line(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests;
