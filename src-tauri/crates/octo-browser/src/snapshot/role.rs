//! Maps the browser's roles to their meaning in a snapshot.

use std::borrow::Cow;

/// The part that a node plays in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RolePart {
    /// Shows only its children.
    Transparent,
    /// Text.
    Text,
    /// A line break.
    Break,
    /// Hidden, including its descendants.
    Hidden,
    /// A heading.
    Heading,
    /// A line with its children below it.
    Container,
    /// A container, but only if it has a name.
    NamedContainer,
    Table,
    Row,
    Cell,
    List,
    Item,
    Paragraph,
    Quote,
    Code,
    /// A control with internal content that is not shown: fields, sliders, single choices.
    Field,
    /// A control that shows its content.
    Control,
    Picture,
    Frame,
}

/// Returns the part and the printed word of a role.
pub(super) fn part_of(role: &str) -> (RolePart, Cow<'static, str>) {
    let (part, word) = match role {
        "StaticText" => (RolePart::Text, ""),
        "LineBreak" => (RolePart::Break, ""),
        "InlineTextBox" | "ListMarker" | "ScrollBar" | "scrollbar" | "Ruby" | "RubyAnnotation" => {
            (RolePart::Hidden, "")
        }
        "heading" => (RolePart::Heading, "heading"),
        "navigation" => (RolePart::Container, "nav"),
        "dialog" => (RolePart::Container, "dialog"),
        "alertdialog" => (RolePart::Container, "alertdialog"),
        "alert" => (RolePart::Container, "alert"),
        "status" => (RolePart::NamedContainer, "status"),
        "search" => (RolePart::Container, "search"),
        "form" => (RolePart::NamedContainer, "form"),
        "region" => (RolePart::NamedContainer, "region"),
        "complementary" => (RolePart::NamedContainer, "aside"),
        "main" => (RolePart::NamedContainer, "main"),
        "banner" => (RolePart::NamedContainer, "header"),
        "contentinfo" => (RolePart::NamedContainer, "footer"),
        "group" | "Details" => (RolePart::NamedContainer, "group"),
        "radiogroup" => (RolePart::NamedContainer, "radiogroup"),
        "toolbar" => (RolePart::NamedContainer, "toolbar"),
        "tabpanel" => (RolePart::NamedContainer, "tabpanel"),
        "article" => (RolePart::NamedContainer, "article"),
        "figure" => (RolePart::NamedContainer, "figure"),
        "tablist" => (RolePart::NamedContainer, "tablist"),
        "menu" => (RolePart::Container, "menu"),
        "menubar" => (RolePart::NamedContainer, "menubar"),
        "tree" => (RolePart::NamedContainer, "tree"),
        "listbox" => (RolePart::Container, "listbox"),
        "table" | "grid" | "treegrid" => (RolePart::Table, "table"),
        "row" => (RolePart::Row, "row"),
        "cell" | "gridcell" | "columnheader" | "rowheader" => (RolePart::Cell, "cell"),
        "list" => (RolePart::List, "list"),
        "listitem" | "term" | "definition" => (RolePart::Item, "item"),
        "paragraph" => (RolePart::Paragraph, "paragraph"),
        "blockquote" => (RolePart::Quote, "quote"),
        "Pre" | "code" => (RolePart::Code, "code"),
        "textbox" => (RolePart::Field, "textbox"),
        "searchbox" => (RolePart::Field, "searchbox"),
        "spinbutton" => (RolePart::Field, "spinbutton"),
        "slider" => (RolePart::Field, "slider"),
        "Date" => (RolePart::Field, "date"),
        "DateTime" => (RolePart::Field, "datetime"),
        "InputTime" => (RolePart::Field, "time"),
        "ColorWell" => (RolePart::Field, "color"),
        "combobox" | "ComboBoxMenuButton" | "ComboBoxGrouping" | "ComboBoxSelect" => {
            (RolePart::Field, "combobox")
        }
        "checkbox" => (RolePart::Control, "checkbox"),
        "radio" => (RolePart::Control, "radio"),
        "switch" => (RolePart::Control, "switch"),
        "button" | "ToggleButton" | "PopUpButton" => (RolePart::Control, "button"),
        "link" | "DocBackLink" | "doc-backlink" | "doc-noteref" => (RolePart::Control, "link"),
        "tab" => (RolePart::Control, "tab"),
        "option" => (RolePart::Control, "option"),
        "menuitem" => (RolePart::Control, "menuitem"),
        "menuitemcheckbox" => (RolePart::Control, "menuitemcheckbox"),
        "menuitemradio" => (RolePart::Control, "menuitemradio"),
        "treeitem" => (RolePart::Control, "treeitem"),
        "DisclosureTriangle" | "DisclosureTriangleGrouped" => (RolePart::Control, "summary"),
        "Video" => (RolePart::Control, "video"),
        "Audio" => (RolePart::Control, "audio"),
        "Canvas" => (RolePart::Control, "canvas"),
        "image" | "img" | "SvgRoot" | "graphics-symbol" | "ImageMap" => (RolePart::Picture, "img"),
        "meter" | "progressbar" | "ProgressIndicator" | "math" => (RolePart::Picture, ""),
        "Iframe" | "IframePresentational" => (RolePart::Frame, "iframe"),
        _ => (RolePart::Transparent, ""),
    };
    let word = if word.is_empty() && part == RolePart::Picture {
        Cow::Owned(role.to_lowercase())
    } else {
        Cow::Borrowed(word)
    };
    (part, word)
}
