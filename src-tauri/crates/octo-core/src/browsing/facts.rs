//! What is known of an element before something is done to it: asked of the page's own document, in a world the page
//! cannot reach. What a page says of itself in roles and names can only make an act look more dangerous.

use octo_browser::{
    Page, PageError,
    safety::{Editing, Element, Field, Form, InForm, Sensitive},
    snapshot::Place,
};
use serde::Deserialize;

/// Looks at an element, the control it belongs to, and the form around that. `get` reads attributes by the
/// prototype's own function: a form's own fields can take the names of its properties.
const LOOK: &str = "function() {
    const get = (one, name) => Element.prototype.getAttribute.call(one, name);
    const text = (value) => String(value == null ? '' : value).trim().replace(/\\s+/g, ' ').slice(0, 400);
    let one = this.nodeType === 1 ? this : this.parentElement;
    if (!one) return null;
    const control = one.closest('a,area,button,input,select,textarea,option,optgroup,label,summary') || one;
    one = control.localName === 'label' && control.control ? control.control : control;
    const label = (field) => text([get(field, 'aria-label'), ...(field.labels ? [...field.labels].map((l) => l.textContent) : []),
        get(field, 'placeholder'), get(field, 'title')].filter(Boolean).join(' '));
    const field = (it) => ({ kind: text(it.type), autocomplete: text(get(it, 'autocomplete')),
        attributes: text([get(it, 'name'), get(it, 'id')].filter(Boolean).join(' ')), name: label(it) });
    const seen = (it) => it.getClientRects().length > 0;
    const all = [...one.ownerDocument.querySelectorAll('input,select,textarea,button')];
    const inside = one.getRootNode();
    if (inside !== one.ownerDocument && inside.querySelectorAll) all.push(...inside.querySelectorAll('input,select,textarea,button'));
    const isButton = (it) => it.localName === 'button' || ['submit', 'image', 'button', 'reset'].includes(it.type);
    const submits = (it) => (it.localName === 'button' && it.type === 'submit') || it.type === 'submit' || it.type === 'image';
    const resolved = (address) => { try { return new URL(address, one.ownerDocument.baseURI).href; } catch { return String(address); } };
    const form = one.form || (one.closest && one.closest('form')) || null;
    const own = form ? all.filter((it) => it.form === form) : [];
    const action = (one.hasAttribute && get(one, 'formaction')) || (form && get(form, 'action')) || '';
    const href = one.localName === 'a' || one.localName === 'area' ? get(one, 'href') : null;
    return {
        tag: one.localName,
        frame: ['iframe', 'frame', 'object', 'embed', 'portal'].includes(one.localName),
        texts: [get(one, 'aria-label'), get(one, 'title'), get(one, 'alt'), isButton(one) ? one.value : '',
            isButton(one) || href !== null || !['input', 'select', 'textarea'].includes(one.localName) ? text(one.textContent) : '',
            ...[...one.querySelectorAll('img[alt],[aria-label],[title]')].slice(0, 8).map((it) => get(it, 'alt') || get(it, 'aria-label') || get(it, 'title'))]
            .map(text).filter(Boolean),
        field: field(one),
        editing: one.localName === 'textarea' || one.isContentEditable ? 'lines'
            : one.localName === 'input' && ['', 'text', 'search', 'email', 'url', 'tel', 'password', 'number'].includes(one.type) ? 'line' : 'none',
        href: href === null ? null : resolved(href),
        download: href !== null && one.hasAttribute('download') ? get(one, 'download') : null,
        form: form && {
            fields: own.filter((it) => !isButton(it) && seen(it)).slice(0, 100).map(field),
            method: text(get(form, 'method')),
            action: action ? resolved(action) : '',
            submits: own.filter(submits).slice(0, 20).map((it) => text(it.textContent || it.value || get(it, 'aria-label'))),
        },
        loose: all.filter((it) => !it.form && !isButton(it) && seen(it)).slice(0, 100).map(field),
        language: text(one.ownerDocument.documentElement && get(one.ownerDocument.documentElement, 'lang')),
    };
}";

/// What has the focus, as deep as it can be told.
const FOCUSED: &str = "function() {
    let one = this.activeElement;
    while (one && one.shadowRoot && one.shadowRoot.activeElement) one = one.shadowRoot.activeElement;
    return one;
}";

#[derive(Deserialize)]
struct Told {
    tag: String,
    frame: bool,
    texts: Vec<String>,
    field: ToldField,
    editing: String,
    href: Option<String>,
    download: Option<String>,
    form: Option<ToldForm>,
    loose: Vec<ToldField>,
    language: String,
}

#[derive(Deserialize)]
struct ToldField {
    kind: String,
    autocomplete: String,
    attributes: String,
    name: String,
}

#[derive(Deserialize)]
struct ToldForm {
    fields: Vec<ToldField>,
    method: String,
    action: String,
    submits: Vec<String>,
}

/// An element, and what of its page is around it.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// It.
    pub element: Element,
    /// What visible fields outside of any form ask for.
    pub loose: Option<Sensitive>,
    /// The language the document says it is in.
    pub language: Option<String>,
}

/// Looks at an element. None where what is there could not be found out: then everything asks.
pub(super) async fn of(
    page: &Page,
    place: &Place,
    role: &str,
    name: &str,
) -> Result<Option<Facts>, PageError> {
    let told = page.ask(place, LOOK, Vec::new()).await?;
    Ok(serde_json::from_value::<Told>(told).ok().and_then(|told| read(told, role, name)))
}

/// Looks at what has the focus in the main frame.
pub(super) async fn of_focus(page: &Page) -> Result<Option<Facts>, PageError> {
    let root = page.root().await?;
    let look = LOOK.strip_prefix("function()").unwrap_or(LOOK);
    let focused = FOCUSED.strip_prefix("function()").unwrap_or(FOCUSED);
    let both = format!(
        "function() {{ const found = (function() {focused}).call(this); \
         return found ? (function() {look}).call(found) : null; }}"
    );
    let told = page.ask(&root, &both, Vec::new()).await?;
    Ok(serde_json::from_value::<Told>(told).ok().and_then(|told| read(told, "", "")))
}

fn read(told: Told, role: &str, name: &str) -> Option<Facts> {
    // What is in a frame is not what is seen from outside.
    if told.frame {
        return None;
    }
    let editing = match told.editing.as_str() {
        "line" => Editing::Line,
        "lines" => Editing::Lines,
        _ => Editing::None,
    };
    let form = told.form.map_or(InForm::None, |form| {
        InForm::Form(Form {
            fields: form.fields.into_iter().map(field).collect(),
            method: form.method,
            action: form.action,
            submits: form.submits,
        })
    });
    let loose = told.loose.into_iter().map(field).filter_map(|field| field.sensitive()).min();
    let element = Element {
        role: if role.is_empty() { told.tag.clone() } else { role.to_owned() },
        name: name.to_owned(),
        texts: told.texts,
        tag: told.tag,
        field: field(told.field),
        editing,
        href: told.href,
        download: told.download,
        form,
    };
    let language = Some(told.language).filter(|language| !language.is_empty());
    Some(Facts { element, loose, language })
}

fn field(told: ToldField) -> Field {
    Field { kind: told.kind, autocomplete: told.autocomplete, attributes: told.attributes, name: told.name }
}
