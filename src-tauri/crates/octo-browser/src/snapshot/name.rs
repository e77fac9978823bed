//! Formats a target in a line: its role word, its name or a hint, its states and value.

use super::clean::{clean_line, truncate};
use super::layout::Layout;
use super::marks::TargetMark;
use super::paint::HiddenReason;
use super::role::RolePart;
use super::tree::{Node, PageTree, text_under};
use crate::safety::{FieldFacts, SensitiveData};

/// Maximum length of a name printed in full, in characters.
const MAX_NAME: usize = 120;
/// Maximum length of a value printed in full, in characters.
const MAX_VALUE: usize = 200;
/// Maximum number of a list's choices printed.
const MAX_CHOICES: usize = 8;

/// Returns whether a field's value must never be shown: a password, a one-time code, a card.
pub(super) fn is_secret(tree: &PageTree<'_>, node: &Node) -> bool {
    const SECRET_AUTOCOMPLETE: [&str; 4] = ["cc-", "password", "one-time-code", "webauthn"];
    const SECRET_NAMES: [&str; 9] =
        ["passw", "passwd", "passphrase", "cvv", "cvc", "cardnum", "card-num", "card_num", "one-time"];
    let attribute = |name: &str| tree.attribute(node, name).unwrap_or_default().to_ascii_lowercase();
    let Some(layout) = tree.layout(node.frame) else { return true };
    if layout.fact(node.fact).is_none() {
        // Nothing is known about it, so it may be one.
        return true;
    }
    let autocomplete = attribute("autocomplete");
    let attributes = [attribute("name"), attribute("id"), attribute("class")];
    attribute("type") == "password"
        || SECRET_AUTOCOMPLETE.iter().any(|word| autocomplete.contains(word))
        || SECRET_NAMES.iter().any(|word| attributes.iter().any(|name| name.contains(word)))
        || matches!(
            field_facts(tree, node).sensitive(),
            Some(SensitiveData::Password | SensitiveData::Code | SensitiveData::Payment)
        )
}

/// Returns a field as its page describes it, including its label.
pub(super) fn field_facts(tree: &PageTree<'_>, node: &Node) -> FieldFacts {
    let attribute = |name: &str| tree.attribute(node, name).unwrap_or_default();
    FieldFacts {
        kind: attribute("type").to_owned(),
        autocomplete: attribute("autocomplete").to_owned(),
        attributes: format!("{} {}", attribute("name"), attribute("id")),
        name: format!("{} {}", node.name, attribute("placeholder")),
    }
}

/// Returns the role word before a target's name.
pub(super) fn role_word(node: &Node, mark: TargetMark) -> &str {
    match (mark, node.part) {
        (_, RolePart::Picture) => "img",
        (TargetMark::Drag, _) => "drag",
        (TargetMark::Role, _) if !node.role.is_empty() => &node.role,
        (TargetMark::Role | TargetMark::Click | TargetMark::Not, _) => "click",
    }
}

/// Returns the browser's computed name or, for a generic target, its visible text.
pub(super) fn name(tree: &PageTree<'_>, node: &Node) -> String {
    if !node.name.is_empty() {
        return node.name.clone();
    }
    if node.part == RolePart::Field {
        return String::new();
    }
    tree.layout(node.frame).map(|layout| text_under(layout, node.fact)).unwrap_or_default()
}

/// Returns a hint that identifies an unnamed target.
pub(super) fn hint(tree: &PageTree<'_>, node: &Node) -> String {
    const LABEL_ATTRIBUTES: [&str; 7] =
        ["aria-label", "title", "alt", "placeholder", "data-testid", "data-test", "name"];
    let quoted = |text: &str| format!("\"{}\"", truncate(text, MAX_NAME));
    if let Some(value) = LABEL_ATTRIBUTES.iter().find_map(|name| {
        let text = clean_line(tree.attribute(node, name)?);
        (!text.is_empty()).then_some(text)
    }) {
        return quoted(&value);
    }
    let mut hint = String::new();
    if let Some(id) = tree.attribute(node, "id").map(clean_line).filter(|id| !id.is_empty()) {
        hint = format!("#{}", truncate(&id.replace(' ', "_"), 40));
    }
    for class in tree.attribute(node, "class").unwrap_or_default().split_whitespace().take(2) {
        hint.push('.');
        hint.push_str(&truncate(&clean_line(class), 40));
    }
    if hint.is_empty() && !node.url.is_empty() {
        let path = node.url.split(['?', '#']).next().unwrap_or_default();
        let segment = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        hint = format!("/{}", truncate(&clean_line(segment), 40));
    }
    if hint.is_empty() { tree.tag(node) } else { hint }
}

/// Returns the target's name in quotes (or bare, in a row), or its hint.
pub(super) fn label(tree: &PageTree<'_>, node: &Node, name: &str, quotes: NameQuotes) -> String {
    match (name.is_empty(), quotes) {
        (true, _) => hint(tree, node),
        (false, NameQuotes::Quoted) => format!("\"{}\"", truncate(name, MAX_NAME).replace('"', "'")),
        (false, NameQuotes::Bare) => truncate(name, MAX_NAME).replace('|', "¦"),
    }
}

/// The quoting of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameQuotes {
    Quoted,
    /// Without quotes: in a row, bars separate the items.
    Bare,
}

/// Returns the text after a target's ref: its states, its value (never a secret one), an external link's host.
pub(super) fn states_and_value(tree: &PageTree<'_>, node: &Node, secret: bool) -> String {
    let mut out = node.states.clone();
    if is_label_of_checked(tree, node) {
        out.push_str(" checked");
    }
    if node.part == RolePart::Field || node.editable {
        if secret {
            if !node.value.is_empty() {
                out.push_str(" filled");
            }
        } else if !node.value.is_empty() && node.value != node.name {
            out.push_str(&format!(" = \"{}\"", truncate(&node.value, MAX_VALUE).replace('"', "'")));
        } else if let Some(hint) = tree
            .attribute(node, "placeholder")
            .map(clean_line)
            .filter(|hint| !hint.is_empty() && *hint != node.name)
        {
            out.push_str(&format!(" (e.g. {})", truncate(&hint, 60)));
        }
        out.push_str(&choices(tree, node));
    } else if !node.value.is_empty() && node.value != node.name && !secret {
        out.push_str(&format!(" = {}", truncate(&node.value, MAX_VALUE)));
    }
    if node.level > 0 && &*node.role == "treeitem" {
        out.push_str(&format!(" level {}", node.level));
    }
    if let Some(host) = external_host(tree, node) {
        out.push_str(" → ");
        out.push_str(&host);
    }
    if matches!(node.hidden, Some(HiddenReason::Transparent | HiddenReason::Empty))
        && &*node.role != "link"
        && &*node.role != "button"
    {
        out.push_str(" unseen");
    }
    out
}

/// Returns whether a label represents an invisible checkbox that is ticked.
fn is_label_of_checked(tree: &PageTree<'_>, node: &Node) -> bool {
    let Some(layout) = tree.layout(node.frame).filter(|layout| layout.tag(node.fact) == "LABEL") else {
        return false;
    };
    let descendants = layout.facts.iter().skip(node.fact as usize + 1).take(32);
    descendants
        .take_while(|fact| fact.parent != u32::MAX && fact.parent >= node.fact)
        .any(|fact| fact.checked)
}

/// Returns the host that a link leads to, if it differs from its page's.
fn external_host(tree: &PageTree<'_>, node: &Node) -> Option<String> {
    let host = |url: &str| {
        url.split_once("://")
            .map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default().to_owned())
    };
    let target_host = host(&node.url).filter(|host| !host.is_empty())?;
    let page_host = tree.frame(node).and_then(|frame| host(&frame.url)).unwrap_or_default();
    (target_host != page_host && &*node.role == "link")
        .then(|| truncate(&clean_line(&target_host), 60).into_owned())
}

/// Returns the first choices of a drop-down list.
fn choices(tree: &PageTree<'_>, node: &Node) -> String {
    let mut names = Vec::new();
    let mut omitted = 0;
    let mut pending: Vec<u32> = node.children.iter().rev().copied().collect();
    while let Some(index) = pending.pop() {
        let Some(child) = tree.node(index) else { continue };
        if &*child.role == "option" {
            if names.len() < MAX_CHOICES {
                names.push(truncate(&child.name, 40).replace('|', "¦"));
            } else {
                omitted += 1;
            }
        }
        pending.extend(child.children.iter().rev());
    }
    match (names.is_empty(), omitted) {
        (true, _) => String::new(),
        (false, 0) => format!(" of {}", names.join(" | ")),
        (false, omitted) => format!(" of {} | … {omitted} more", names.join(" | ")),
    }
}

/// Returns the visible text of a target whose name differs from it: the name is page-controlled.
pub(super) fn differing_text(layout: Option<&Layout<'_>>, node: &Node) -> Option<String> {
    if node.name.is_empty() || node.children.is_empty() || node.part == RolePart::Field || node.editable {
        return None;
    }
    let visible_text = text_under(layout?, node.fact);
    let normalise = |text: &str| {
        text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    let (name, shown) = (normalise(&node.name), normalise(&visible_text));
    (!shown.is_empty() && !name.contains(&shown) && !shown.contains(&name)).then_some(visible_text)
}
