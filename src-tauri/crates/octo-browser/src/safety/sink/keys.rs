//! The effect of a key: it moves, writes, submits or activates, or is an unknown shortcut.

use super::{
    super::{
        field::{EditingKind, Element, OwningForm},
        memory::PageMemory,
        site::Site,
        visible::line,
        words::effect_of,
    },
    ActionContext, ActionTarget, NAME, Sink,
    activation::{Activation, activation},
    activation_consequences, change_consequences, foreign_form_target,
};
use crate::act::{HeldModifiers, KeyStroke};

/// Returns the consequences of a key press.
pub(super) fn pressed(
    act: &ActionContext<'_>,
    key: &str,
    to: Option<&Site>,
    memory: &PageMemory,
) -> Vec<Sink> {
    // An invalid key is not pressed either.
    let Some(stroke) = KeyStroke::read(key) else { return vec![Sink::Unknown] };
    let (code, modifiers) = (stroke.code(), stroke.held_modifiers());
    let ActionTarget::Element(element) = act.target else {
        let is_moving =
            matches!(code, "Tab" | "Escape" | "PageUp" | "PageDown" | "Home" | "End" | "ShiftLeft")
                || code.starts_with("Arrow");
        let is_plain = matches!(modifiers, HeldModifiers::Nothing | HeldModifiers::Shift);
        return if is_moving && is_plain { Vec::new() } else { vec![Sink::Unknown] };
    };
    let writes = element.editing != EditingKind::None;
    if matches!(code, "Enter" | "NumpadEnter") {
        // Enter with Shift alone breaks a line; with another modifier it sends in many editors.
        if modifiers == HeldModifiers::Shift && element.editing == EditingKind::Lines {
            return Vec::new();
        }
        return enter_consequences(act, element);
    }
    if code == "Space" && !writes {
        return activation_consequences(act, element);
    }
    if let (true, HeldModifiers::Nothing | HeldModifiers::Shift, Some(text)) =
        (writes, modifiers, stroke.text())
    {
        let mut sinks = added_text_consequences(element, text, to, memory);
        if code == "Space" && element.is_pressed {
            sinks.extend(activation_consequences(act, element));
        }
        return sinks;
    }
    let is_around = matches!(code, "Home" | "End" | "Backspace" | "Delete") || code.starts_with("Arrow");
    let harmless = match modifiers {
        // With Alt, letters are the page's access keys.
        HeldModifiers::Command { with_alt: true, .. } => writes && is_around,
        HeldModifiers::Command { with_alt: false, with_shift } => match code {
            "KeyA" | "KeyC" => !with_shift,
            "KeyX" | "KeyY" => writes && !with_shift,
            "KeyZ" => writes,
            // The clipboard belongs neither to the model nor to the site.
            _ => writes && is_around,
        },
        // Pastes the clipboard.
        HeldModifiers::Shift if code == "Insert" => false,
        HeldModifiers::Shift | HeldModifiers::Nothing => {
            writes || !(matches!(code, "Delete" | "Backspace") || stroke.has_text())
        }
    };
    if !harmless {
        return vec![Sink::Shortcut];
    }
    // Navigation keys change the choice in a list or a group, and the value of an input filled without letters.
    let moves = is_around && !matches!(code, "Backspace" | "Delete") || matches!(code, "PageUp" | "PageDown");
    if moves && !writes { change_consequences(act, element) } else { Vec::new() }
}

/// Judges a character added to a field's content: a text that is typed key by key is one text. The caret's
/// position is unknown.
fn added_text_consequences(
    element: &Element,
    text: &str,
    to: Option<&Site>,
    memory: &PageMemory,
) -> Vec<Sink> {
    let holds = &element.holds;
    let mut sinks: Vec<Sink> = element.field.sensitive().map(Sink::Writes).into_iter().collect();
    let wholes = [format!("{holds}{text}"), format!("{text}{holds}")];
    sinks.extend(wholes.iter().find_map(|whole| memory.find_quote(whole, to)).map(Sink::Carries));
    sinks
}

/// Returns the consequences of Enter in an element: it submits the form, or activates the button.
pub(super) fn enter_consequences(act: &ActionContext<'_>, element: &Element) -> Vec<Sink> {
    if element.editing == EditingKind::None && activation(element) != Activation::Nothing {
        return activation_consequences(act, element);
    }
    if element.editing == EditingKind::Lines {
        let mut sinks = if element.is_pressed { activation_consequences(act, element) } else { Vec::new() };
        sinks.push(Sink::Enter);
        return sinks;
    }
    match &element.form {
        OwningForm::Unknown => vec![Sink::Enter],
        OwningForm::Form(form) => {
            let mut sinks: Vec<Sink> = form.sensitive().map(Sink::Submits).into_iter().collect();
            sinks.extend(foreign_form_target(act, form));
            sinks.extend(
                form.submits.iter().find_map(|name| effect_of(name, act.language)).map(Sink::AnnouncesEffect),
            );
            // Enter activates the first button. A missing or unlabelled one may equally belong to a chat.
            let is_mute = form.submits.first().is_none_or(|name| line(name, NAME).is_empty());
            if sinks.is_empty() && is_mute && !is_search(element) {
                sinks.push(Sink::Enter);
            }
            sinks
        }
        OwningForm::None => {
            let mut sinks: Vec<Sink> = act.loose_fields.map(Sink::Submits).into_iter().collect();
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
