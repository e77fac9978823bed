//! What pressing an element sets off, found from what a page cannot dress up.

use super::super::{
    address::Address,
    field::{Editing, Element, InForm},
    fold::fold,
};

/// What pressing an element sets off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    /// It only gets the focus, or a list of choices opens.
    Nothing,
    /// A box is ticked or a choice made.
    Tick,
    /// Another page is opened.
    Link,
    /// A form is sent.
    Submit,
    /// Anything.
    Button,
}

pub(super) fn activation(element: &Element) -> Activation {
    let kind = element.field.kind.trim().to_ascii_lowercase();
    let tag = element.tag.trim().to_ascii_lowercase();
    match (tag.as_str(), kind.as_str()) {
        ("button", "reset" | "button") => Activation::Button,
        ("button", _) if !matches!(element.form, InForm::None) => Activation::Submit,
        ("input", "submit" | "image") => Activation::Submit,
        ("input", "button" | "reset") => Activation::Button,
        ("input", "checkbox" | "radio") | ("label", _) => Activation::Tick,
        // Pressed in a list that stands open, it is chosen.
        ("option", _) => Activation::Tick,
        ("input" | "textarea" | "select" | "optgroup", _) => Activation::Nothing,
        ("a" | "area", _) if leads(element) => Activation::Link,
        ("a" | "area" | "button", _) => Activation::Button,
        _ if element.editing != Editing::None && !element.is_pressed => Activation::Nothing,
        _ => Activation::Button,
    }
}

/// Whether it leads to a page, rather than to code or into its own page.
fn leads(element: &Element) -> bool {
    let Some(href) = element.href.as_deref() else { return false };
    matches!(Address::of(href), Address::Web(_) | Address::Near(_)) && !href.contains('#')
}

/// Names of buttons that send nothing, in a form that asks for a password or a card.
const QUIET: [&str; 46] = [
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

/// Whether a name is one of a button that sends nothing. The whole name, so nothing else hides in it.
pub(super) fn is_quiet(name: &str) -> bool {
    let name = fold(name);
    let name = name.trim();
    QUIET.iter().any(|quiet| fold(quiet) == name)
}
