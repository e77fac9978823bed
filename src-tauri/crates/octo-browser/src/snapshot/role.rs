//! Maps the browser's roles to their meaning in a snapshot.

use std::borrow::Cow;

/// The part that a node plays in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// Shows only its children.
    Through,
    /// Text.
    Text,
    /// A line break.
    Break,
    /// Hidden, including its descendants.
    Nothing,
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
pub(super) fn part_of(role: &str) -> (Part, Cow<'static, str>) {
    let (part, word) = match role {
        "StaticText" => (Part::Text, ""),
        "LineBreak" => (Part::Break, ""),
        "InlineTextBox" | "ListMarker" | "ScrollBar" | "scrollbar" | "Ruby" | "RubyAnnotation" => {
            (Part::Nothing, "")
        }
        "heading" => (Part::Heading, "heading"),
        "navigation" => (Part::Container, "nav"),
        "dialog" => (Part::Container, "dialog"),
        "alertdialog" => (Part::Container, "alertdialog"),
        "alert" => (Part::Container, "alert"),
        "status" => (Part::NamedContainer, "status"),
        "search" => (Part::Container, "search"),
        "form" => (Part::NamedContainer, "form"),
        "region" => (Part::NamedContainer, "region"),
        "complementary" => (Part::NamedContainer, "aside"),
        "main" => (Part::NamedContainer, "main"),
        "banner" => (Part::NamedContainer, "header"),
        "contentinfo" => (Part::NamedContainer, "footer"),
        "group" | "Details" => (Part::NamedContainer, "group"),
        "radiogroup" => (Part::NamedContainer, "radiogroup"),
        "toolbar" => (Part::NamedContainer, "toolbar"),
        "tabpanel" => (Part::NamedContainer, "tabpanel"),
        "article" => (Part::NamedContainer, "article"),
        "figure" => (Part::NamedContainer, "figure"),
        "tablist" => (Part::NamedContainer, "tablist"),
        "menu" => (Part::Container, "menu"),
        "menubar" => (Part::NamedContainer, "menubar"),
        "tree" => (Part::NamedContainer, "tree"),
        "listbox" => (Part::Container, "listbox"),
        "table" | "grid" | "treegrid" => (Part::Table, "table"),
        "row" => (Part::Row, "row"),
        "cell" | "gridcell" | "columnheader" | "rowheader" => (Part::Cell, "cell"),
        "list" => (Part::List, "list"),
        "listitem" | "term" | "definition" => (Part::Item, "item"),
        "paragraph" => (Part::Paragraph, "paragraph"),
        "blockquote" => (Part::Quote, "quote"),
        "Pre" | "code" => (Part::Code, "code"),
        "textbox" => (Part::Field, "textbox"),
        "searchbox" => (Part::Field, "searchbox"),
        "spinbutton" => (Part::Field, "spinbutton"),
        "slider" => (Part::Field, "slider"),
        "Date" => (Part::Field, "date"),
        "DateTime" => (Part::Field, "datetime"),
        "InputTime" => (Part::Field, "time"),
        "ColorWell" => (Part::Field, "color"),
        "combobox" | "ComboBoxMenuButton" | "ComboBoxGrouping" | "ComboBoxSelect" => {
            (Part::Field, "combobox")
        }
        "checkbox" => (Part::Control, "checkbox"),
        "radio" => (Part::Control, "radio"),
        "switch" => (Part::Control, "switch"),
        "button" | "ToggleButton" | "PopUpButton" => (Part::Control, "button"),
        "link" | "DocBackLink" | "doc-backlink" | "doc-noteref" => (Part::Control, "link"),
        "tab" => (Part::Control, "tab"),
        "option" => (Part::Control, "option"),
        "menuitem" => (Part::Control, "menuitem"),
        "menuitemcheckbox" => (Part::Control, "menuitemcheckbox"),
        "menuitemradio" => (Part::Control, "menuitemradio"),
        "treeitem" => (Part::Control, "treeitem"),
        "DisclosureTriangle" | "DisclosureTriangleGrouped" => (Part::Control, "summary"),
        "Video" => (Part::Control, "video"),
        "Audio" => (Part::Control, "audio"),
        "Canvas" => (Part::Control, "canvas"),
        "image" | "img" | "SvgRoot" | "graphics-symbol" | "ImageMap" => (Part::Picture, "img"),
        "meter" | "progressbar" | "ProgressIndicator" | "math" => (Part::Picture, ""),
        "Iframe" | "IframePresentational" => (Part::Frame, "iframe"),
        _ => (Part::Through, ""),
    };
    let word = if word.is_empty() && part == Part::Picture {
        Cow::Owned(role.to_lowercase())
    } else {
        Cow::Borrowed(word)
    };
    (part, word)
}
