//! The safety rules through their public interface: tables of actions that must and must not ask, and
//! invariants.
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod blocks;
mod decorations;
mod grants;
mod leaks;
mod names;
mod secrets;
mod sinks;

use octo_browser::safety::{
    ActionContext, ActionTarget, EditingKind, Element, FieldFacts, Judgement, Origin, OwningForm, PageAction,
    PageAddress, PageMemory, Sink, Site, judge,
};

/// Parses a site from its address.
fn site(address: &str) -> Site {
    address.parse().expect("a site")
}

/// Returns a button that a script listens to.
fn button(name: &str) -> Element {
    Element {
        role: "button".into(),
        name: name.into(),
        tag: "button".into(),
        field: FieldFacts { kind: "button".into(), ..FieldFacts::default() },
        form: OwningForm::None,
        ..Element::default()
    }
}

/// Returns a link that leads to a page.
fn link(name: &str, href: &str) -> Element {
    Element {
        role: "link".into(),
        name: name.into(),
        tag: "a".into(),
        href: Some(href.into()),
        form: OwningForm::None,
        ..Element::default()
    }
}

/// Returns a text field outside any form.
fn text_line(name: &str) -> Element {
    Element {
        role: "textbox".into(),
        name: name.into(),
        tag: "input".into(),
        field: FieldFacts { kind: "text".into(), name: name.into(), ..FieldFacts::default() },
        editing: EditingKind::Line,
        form: OwningForm::None,
        ..Element::default()
    }
}

/// Returns the sinks of an action on a plain page of `https://a.example`.
fn asked(language: Option<&str>, element: &Element, action: PageAction<'_>) -> Vec<Sink> {
    asked_with(&PageMemory::default(), language, element, action)
}

fn asked_with(
    memory: &PageMemory,
    language: Option<&str>,
    element: &Element,
    action: PageAction<'_>,
) -> Vec<Sink> {
    let act = ActionContext {
        page: &PageAddress::of("https://a.example/x"),
        frame: &Origin::parse("https://a.example"),
        language,
        fields_outside_forms: None,
        target: ActionTarget::Element(element),
        action,
    };
    match judge(&act, memory) {
        Judgement::Harmless => Vec::new(),
        Judgement::Ask(question) => question.sinks().to_vec(),
    }
}
