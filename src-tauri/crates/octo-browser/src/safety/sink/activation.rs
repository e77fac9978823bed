//! The effect of activating an element, derived from facts that a page cannot disguise.

use super::super::{
    address::PageAddress,
    field::{EditingKind, Element, OwningForm},
    fold::fold,
};

/// The effect of activating an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    /// Only gives it the focus, or opens a list of choices.
    Nothing,
    /// Ticks a checkbox or makes a choice.
    Tick,
    /// Opens another page.
    Link,
    /// Submits a form.
    Submit,
    /// May have any effect.
    Button,
}

/// Returns the effect of activating an element.
pub(super) fn activation_of(element: &Element) -> Activation {
    let kind = element.field.kind.trim().to_ascii_lowercase();
    let tag = element.tag.trim().to_ascii_lowercase();
    match (tag.as_str(), kind.as_str()) {
        ("button", "reset" | "button") => Activation::Button,
        ("button", _) if !matches!(element.form, OwningForm::None) => Activation::Submit,
        ("input", "submit" | "image") => Activation::Submit,
        ("input", "button" | "reset") => Activation::Button,
        ("input", "checkbox" | "radio") | ("label", _) => Activation::Tick,
        // A click in an open list chooses the option.
        ("option", _) => Activation::Tick,
        ("input" | "textarea" | "select" | "optgroup", _) => Activation::Nothing,
        ("a" | "area", _) if opens_page(element) => Activation::Link,
        ("a" | "area" | "button", _) => Activation::Button,
        _ if element.editing != EditingKind::None && !element.reacts_to_click => Activation::Nothing,
        _ => Activation::Button,
    }
}

/// Returns whether a link leads to another page, rather than to code or within its own page.
fn opens_page(element: &Element) -> bool {
    let Some(href) = element.href.as_deref() else { return false };
    matches!(PageAddress::of(href), PageAddress::Web(_) | PageAddress::Near(_)) && !href.contains('#')
}

/// Names of buttons that submit nothing, in a form that asks for a password or a card.
const NON_SUBMITTING_NAMES: [&str; 46] = [
    "show",
    "hide",
    "show password",
    "hide password",
    "toggle password",
    "toggle password visibility",
    "cancel",
    "close",
    "back",
    "help",
    "clear",
    "reset",
    "more",
    "less",
    "show more",
    "menu",
    "open menu",
    "close menu",
    "refresh",
    "abbrechen",
    "schließen",
    "zurück",
    "passwort anzeigen",
    "annuler",
    "fermer",
    "retour",
    "afficher le mot de passe",
    "cancelar",
    "cerrar",
    "fechar",
    "mostrar contraseña",
    "mostrar senha",
    "annulla",
    "chiudi",
    "annuleren",
    "sluiten",
    "anuluj",
    "zamknij",
    "отмена",
    "закрыть",
    "показать пароль",
    "取消",
    "关闭",
    "显示密码",
    "キャンセル",
    "취소",
];

/// Returns whether a button with this name submits nothing. Compares the whole name, so nothing else can hide
/// in it.
pub(super) fn submits_nothing(name: &str) -> bool {
    let name = fold(name);
    let name = name.trim();
    NON_SUBMITTING_NAMES.iter().any(|label| fold(label) == name)
}
