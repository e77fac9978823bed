//! The effect of a key: it moves, writes, submits or activates, or is an unknown shortcut.

use super::{
    super::{
        field::{EditingKind, Element, OwningForm},
        memory::PageMemory,
        site::Site,
        visible::line,
        words::effect_of,
    },
    ActionContext, ActionTarget, MAX_NAME, Sink,
    activation::{Activation, activation_of},
    activation_consequences, change_consequences, foreign_form_target,
};
use crate::act::{HeldModifiers, KeyStroke};

/// Returns the consequences of a key press.
pub(super) fn key_consequences(
    act: &ActionContext<'_>,
    key: &str,
    destination: Option<&Site>,
    memory: &PageMemory,
) -> Vec<Sink> {
    // An invalid key is not pressed either.
    let Some(stroke) = KeyStroke::parse(key) else { return vec![Sink::Unknown] };
    let (code, modifiers) = (stroke.code(), stroke.held_modifiers());
    let ActionTarget::Element(element) = act.target else {
        let is_navigation_key =
            matches!(code, "Tab" | "Escape" | "PageUp" | "PageDown" | "Home" | "End" | "ShiftLeft")
                || code.starts_with("Arrow");
        let is_plain = matches!(modifiers, HeldModifiers::Nothing | HeldModifiers::Shift);
        return if is_navigation_key && is_plain { Vec::new() } else { vec![Sink::Unknown] };
    };
    let is_editable = element.editing != EditingKind::None;
    if matches!(code, "Enter" | "NumpadEnter") {
        // Enter with Shift alone breaks a line; with another modifier it sends in many editors.
        if modifiers == HeldModifiers::Shift && element.editing == EditingKind::Lines {
            return Vec::new();
        }
        return enter_consequences(act, element);
    }
    if code == "Space" && !is_editable {
        return activation_consequences(act, element);
    }
    if let (true, HeldModifiers::Nothing | HeldModifiers::Shift, Some(text)) =
        (is_editable, modifiers, stroke.text())
    {
        let mut sinks = added_text_consequences(element, text, destination, memory);
        if code == "Space" && element.reacts_to_click {
            sinks.extend(activation_consequences(act, element));
        }
        return sinks;
    }
    let is_caret_key = matches!(code, "Home" | "End" | "Backspace" | "Delete") || code.starts_with("Arrow");
    let is_harmless = match modifiers {
        // With Alt, letters are the page's access keys.
        HeldModifiers::Command { with_alt: true, .. } => is_editable && is_caret_key,
        HeldModifiers::Command { with_alt: false, with_shift } => match code {
            "KeyA" | "KeyC" => !with_shift,
            "KeyX" | "KeyY" => is_editable && !with_shift,
            "KeyZ" => is_editable,
            // The clipboard belongs neither to the model nor to the site.
            _ => is_editable && is_caret_key,
        },
        // Pastes the clipboard.
        HeldModifiers::Shift if code == "Insert" => false,
        HeldModifiers::Shift | HeldModifiers::Nothing => {
            is_editable || !(matches!(code, "Delete" | "Backspace") || stroke.has_text())
        }
    };
    if !is_harmless {
        return vec![Sink::Shortcut];
    }
    // Navigation keys change the choice in a list or a group, and the value of an input filled without letters.
    let changes_choice =
        is_caret_key && !matches!(code, "Backspace" | "Delete") || matches!(code, "PageUp" | "PageDown");
    if changes_choice && !is_editable { change_consequences(act, element) } else { Vec::new() }
}

/// Judges a character added to a field's content: a text that is typed key by key is one text. The caret's
/// position is unknown.
fn added_text_consequences(
    element: &Element,
    text: &str,
    destination: Option<&Site>,
    memory: &PageMemory,
) -> Vec<Sink> {
    let content = &element.content;
    let mut sinks: Vec<Sink> = element.field.sensitive().map(Sink::Writes).into_iter().collect();
    let candidates = [format!("{content}{text}"), format!("{text}{content}")];
    sinks.extend(
        candidates.iter().find_map(|candidate| memory.find_quote(candidate, destination)).map(Sink::Carries),
    );
    sinks
}

/// Returns the consequences of Enter in an element: it submits the form, or activates the button.
pub(super) fn enter_consequences(act: &ActionContext<'_>, element: &Element) -> Vec<Sink> {
    if element.editing == EditingKind::None && activation_of(element) != Activation::Nothing {
        return activation_consequences(act, element);
    }
    if element.editing == EditingKind::Lines {
        let mut sinks =
            if element.reacts_to_click { activation_consequences(act, element) } else { Vec::new() };
        sinks.push(Sink::Enter);
        return sinks;
    }
    match &element.form {
        OwningForm::Unknown => vec![Sink::Enter],
        OwningForm::Form(form) => {
            let mut sinks: Vec<Sink> = form.sensitive().map(Sink::Submits).into_iter().collect();
            sinks.extend(foreign_form_target(act, form));
            sinks.extend(
                form.submit_buttons
                    .iter()
                    .find_map(|name| effect_of(name, act.language))
                    .map(Sink::AnnouncesEffect),
            );
            // Enter activates the first button. A missing or unlabelled one may equally belong to a chat.
            let is_unlabelled =
                form.submit_buttons.first().is_none_or(|name| line(name, MAX_NAME).is_empty());
            if sinks.is_empty() && is_unlabelled && !is_search(element) {
                sinks.push(Sink::Enter);
            }
            sinks
        }
        OwningForm::None => {
            let mut sinks: Vec<Sink> = act.fields_outside_forms.map(Sink::Submits).into_iter().collect();
            // A real search field only queries; any other single-line field may belong to a chat.
            if sinks.is_empty() && !is_search(element) {
                sinks.push(Sink::Enter);
            }
            sinks
        }
    }
}

fn is_search(element: &Element) -> bool {
    element.field.kind.trim().eq_ignore_ascii_case("search")
}
