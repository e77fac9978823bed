//! Facts about an element before an act, queried from the page's own document in a world the page cannot reach.
//! A page's claims in roles and names can only make an act look more dangerous.

use octo_browser::{
    Page, PageError,
    safety::{EditingKind, Element, FieldFacts, FormFacts, OwningForm, SensitiveData},
    snapshot::NodeRef,
};
use serde::Deserialize;

/// Inspects an element, its control, every element that a click on it propagates to, and the surrounding form.
/// Its argument is the list of the options that the call chooses.
const INSPECT_SCRIPT: &str = include_str!("facts/inspect.js");

#[derive(Deserialize)]
struct InspectReply {
    tag: String,
    frame: bool,
    texts: Vec<String>,
    field: ReplyField,
    editing: String,
    pressed: bool,
    href: Option<String>,
    download: Option<String>,
    changes: bool,
    form: Option<ReplyForm>,
    loose: Vec<ReplyField>,
    everywhere: Vec<ReplyField>,
    holds: String,
    options: Vec<String>,
    language: String,
}

#[derive(Deserialize)]
struct ReplyField {
    kind: String,
    autocomplete: String,
    attributes: String,
    name: String,
}

#[derive(Deserialize)]
struct ReplyForm {
    fields: Vec<ReplyField>,
    method: String,
    action: String,
    submits: Vec<String>,
}

/// An element with its surroundings.
#[derive(Clone, Debug)]
pub(crate) struct ElementFacts {
    /// The element.
    pub element: Element,
    /// The kind of sensitive data that visible fields outside any form ask for.
    pub outside_forms: Option<SensitiveData>,
    /// The kinds of sensitive data that all visible fields of its document ask for, where the document can be
    /// queried.
    pub in_document: Vec<SensitiveData>,
    /// The labels of the options to be chosen.
    pub options: Vec<String>,
    /// The language that the document declares.
    pub language: Option<String>,
}

impl ElementFacts {
    /// Returns whether the element has no name and no text that describes its effect.
    pub fn is_unlabelled(&self) -> bool {
        std::iter::once(&self.element.name).chain(&self.element.texts).all(|text| text.trim().is_empty())
    }

    /// Returns a fingerprint that tells the element the person is asked about from a later state: its text,
    /// link target and form target.
    pub fn fingerprint(&self) -> String {
        let Element { name, texts, href, download, form, .. } = &self.element;
        let form = match form {
            OwningForm::Form(form) => Some((&form.action, &form.method, &form.submit_buttons)),
            OwningForm::None | OwningForm::Unknown => None,
        };
        let description = format!("{name:?} {texts:?} {href:?} {download:?} {form:?} {:?}", self.options);
        blake3::hash(description.as_bytes()).to_hex().to_string()
    }
}

/// Inspects an element. The result is `None` if the inspection failed: every act on the element then needs a
/// question.
pub(crate) async fn inspect_element(
    page: &Page,
    node_ref: &NodeRef,
    (role, name): (&str, &str),
    chosen: &[String],
) -> Result<Option<ElementFacts>, PageError> {
    let reply = page.call_function_on_node(node_ref, INSPECT_SCRIPT, vec![chosen.into()]).await?;
    Ok(serde_json::from_value::<InspectReply>(reply).ok().and_then(|reply| parse_reply(reply, role, name)))
}

fn parse_reply(reply: InspectReply, role: &str, name: &str) -> Option<ElementFacts> {
    // The frame element does not show the frame's content.
    if reply.frame {
        return None;
    }
    let editing = match reply.editing.as_str() {
        "line" => EditingKind::Line,
        "lines" => EditingKind::Lines,
        _ => EditingKind::None,
    };
    let form = reply.form.map_or(OwningForm::None, |form| {
        OwningForm::Form(FormFacts {
            fields: form.fields.into_iter().map(field).collect(),
            method: form.method,
            action: form.action,
            submit_buttons: form.submits,
        })
    });
    let outside_forms = reply.loose.into_iter().map(field).filter_map(|field| field.sensitive()).min();
    let in_document = reply.everywhere.into_iter().map(field).filter_map(|field| field.sensitive()).collect();
    let element = Element {
        role: if role.is_empty() { reply.tag.clone() } else { role.to_owned() },
        name: name.to_owned(),
        texts: reply.texts,
        tag: reply.tag,
        field: field(reply.field),
        editing,
        reacts_to_click: reply.pressed,
        content: reply.holds,
        href: reply.href,
        download: reply.download,
        reacts_to_change: reply.changes,
        form,
    };
    let language = Some(reply.language).filter(|language| !language.is_empty());
    Some(ElementFacts { element, outside_forms, in_document, options: reply.options, language })
}

fn field(reply: ReplyField) -> FieldFacts {
    FieldFacts {
        kind: reply.kind,
        autocomplete: reply.autocomplete,
        attributes: reply.attributes,
        name: reply.name,
    }
}
