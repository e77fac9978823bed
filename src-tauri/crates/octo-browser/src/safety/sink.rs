//! [`judge`]: decides whether an action is irreversible or discloses something. If so, the person is asked,
//! with the element's real name; the model does not influence the wording.
//!
//! A page's claims about its elements (roles, names, language) can only make an action look more dangerous. An
//! action is judged harmless from the browser's knowledge (tags, types, targets) and from names that mean
//! nothing in any known language. Anything unknown leads to a question.

mod activation;
mod keys;

use super::{
    address::{ForbiddenReason, PageAddress},
    field::{EditingKind, Element, FormFacts, OwningForm, SensitiveData},
    leak::{AddressLeak, leak},
    memory::{PageMemory, SiteQuote},
    site::{Origin, Site},
    visible::line,
    words::{ControlEffect, effect_of},
};
use activation::{Activation, activation_of, submits_nothing};
use keys::{enter_consequences, key_consequences};
use url::Url;

/// Maximum length of a name in a question, in characters.
const MAX_NAME: usize = 120;
/// Maximum number of words of a command; a longer link is a headline or a sentence.
const MAX_COMMAND_WORDS: usize = 8;

/// The target of an action.
#[derive(Clone, Copy, Debug)]
pub enum ActionTarget<'a> {
    /// Could not be determined.
    Unknown,
    /// This element.
    Element(&'a Element),
}

/// The way in which text is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypingMode {
    /// Every character is a key press: a line break is Enter.
    KeyPresses,
    /// The text is inserted at once.
    Insertion,
}

/// An action about to happen.
#[derive(Clone, Copy, Debug)]
pub enum PageAction<'a> {
    /// The target is clicked, once or twice.
    Click,
    /// The pointer rests on the target.
    Hover,
    /// The page is scrolled.
    Scroll,
    /// A key is pressed in the target: `Enter`, `Control+Enter`, `Delete`.
    Press {
        /// The key.
        key: &'a str,
    },
    /// Text is written into the target.
    Type {
        /// The text, without secret placeholders.
        text: &'a str,
        /// The way in which it is typed.
        mode: TypingMode,
    },
    /// Options of the target are chosen.
    Select {
        /// The option labels.
        options: &'a [String],
    },
    /// The target is dragged onto another element.
    Drag {
        /// The drop target.
        drop_target: ActionTarget<'a>,
    },
    /// Local files are given to the target.
    Upload {
        /// Their paths or names.
        files: &'a [String],
    },
    /// A file is downloaded.
    Download {
        /// Its name, as given by the page.
        name: &'a str,
    },
    /// A page dialog is accepted. Dismissing one needs no question.
    AcceptDialog {
        /// Its kind.
        kind: JudgedDialog,
        /// Its message.
        message: &'a str,
        /// The text entered into it.
        text: &'a str,
    },
    /// The tab is navigated to an address that the model wrote.
    Navigate {
        /// The address.
        url: &'a str,
    },
    /// Code written by the model runs in the page.
    Evaluate,
}

/// The kinds of dialogs a page can open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JudgedDialog {
    /// Shows a message.
    Alert,
    /// Asks yes or no.
    Confirm,
    /// Asks for a text.
    Prompt,
    /// Asks whether the page may be left.
    BeforeUnload,
}

/// An action with its context.
#[derive(Clone, Copy, Debug)]
pub struct ActionContext<'a> {
    /// The tab's address.
    pub page: &'a PageAddress,
    /// The origin of the frame the target is in.
    pub frame: &'a Origin,
    /// The language that the page declares (BCP 47).
    pub language: Option<&'a str>,
    /// The kind of sensitive data that visible fields outside any form ask for.
    pub fields_outside_forms: Option<SensitiveData>,
    /// The target; for keys, the focused element.
    pub target: ActionTarget<'a>,
    /// The action.
    pub action: PageAction<'a>,
}

/// A reason to ask the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Submits a form or page that asks for sensitive data.
    Submits(SensitiveData),
    /// Sends a form's content to another site, or to an unknown one.
    SubmitsElsewhere(Option<Site>),
    /// The control's own words, or its address, announce the effect.
    AnnouncesEffect(ControlEffect),
    /// Enter probably sends the written text.
    Enter,
    /// A key that pages commonly use for deleting or sending.
    Shortcut,
    /// The model itself writes a password, card or code.
    Writes(SensitiveData),
    /// Text read at one site is written at another.
    Carries(SiteQuote),
    /// An address discloses more than it should.
    Leaks(AddressLeak),
    /// Files leave this machine.
    Uploads(Vec<String>),
    /// A file is saved to this machine.
    Downloads(String),
    /// A dialog is accepted.
    Accepts(JudgedDialog),
    /// Another program is started.
    OpensProgram,
    /// Code written by the model runs with all rights of the page.
    Evaluates,
    /// The target is unknown.
    Unknown,
}

/// The judgement of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Judgement {
    /// The action is reversible and discloses nothing.
    Harmless,
    /// The person must be asked.
    Ask(SinkQuestion),
}

/// The question for the person. Only [`judge`] makes one: every word is Octo's or the page's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkQuestion {
    sinks: Vec<Sink>,
    name: String,
    role: String,
    site: Option<Site>,
}

impl SinkQuestion {
    /// Returns the reasons, the most serious first.
    pub fn sinks(&self) -> &[Sink] {
        &self.sinks
    }

    /// Returns the element's name as given by the page, in one line; empty without one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the element's role as given by the page.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Returns the site of the action: that of the frame, not only of the page that contains it.
    pub fn site(&self) -> Option<&Site> {
        self.site.as_ref()
    }
}

/// Judges an action. Must be called immediately before each action.
pub fn judge(act: &ActionContext<'_>, memory: &PageMemory) -> Judgement {
    let sinks = consequences(act, memory);
    if sinks.is_empty() {
        return Judgement::Harmless;
    }
    let (name, role) = match act.target {
        ActionTarget::Element(element) => {
            let texts = std::iter::once(&element.name).chain(&element.texts).map(|text| line(text, MAX_NAME));
            (
                texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
                line(&element.role, MAX_NAME),
            )
        }
        ActionTarget::Unknown => Default::default(),
    };
    let site = match act.frame {
        Origin::Site(site) => Some(site.clone()),
        Origin::Opaque => act.page.site().cloned(),
    };
    Judgement::Ask(SinkQuestion { sinks, name, role, site })
}

fn consequences(act: &ActionContext<'_>, memory: &PageMemory) -> Vec<Sink> {
    let destination = match act.frame {
        Origin::Site(site) => Some(site),
        Origin::Opaque => None,
    };
    match act.action {
        PageAction::Hover | PageAction::Scroll => Vec::new(),
        PageAction::Select { options } => choice_consequences(act, options),
        PageAction::Evaluate => vec![Sink::Evaluates],
        PageAction::Upload { files } => {
            vec![Sink::Uploads(files.iter().map(|file| line(file, MAX_NAME)).collect())]
        }
        PageAction::Download { name } => vec![Sink::Downloads(line(name, MAX_NAME))],
        PageAction::AcceptDialog { kind: JudgedDialog::Alert, .. } => Vec::new(),
        PageAction::AcceptDialog { kind, message, text } => {
            let announced = effect_of(message, act.language).map(Sink::AnnouncesEffect);
            let carries = memory.find_quote(text, destination).map(Sink::Carries);
            [Some(Sink::Accepts(kind)), announced, carries].into_iter().flatten().collect()
        }
        PageAction::Navigate { url } => match Url::parse(url) {
            Ok(url) => leak(&url, memory).map(Sink::Leaks).into_iter().collect(),
            Err(_) => vec![Sink::Unknown],
        },
        PageAction::Drag { drop_target } => {
            [act.target, drop_target].iter().flat_map(|target| drag_consequences(act, *target)).collect()
        }
        PageAction::Click => match act.target {
            ActionTarget::Element(element) => activation_consequences(act, element),
            ActionTarget::Unknown => vec![Sink::Unknown],
        },
        PageAction::Press { key } => key_consequences(act, key, destination, memory),
        PageAction::Type { text, mode } => typing_consequences(act, text, mode, destination, memory),
    }
}

/// Returns the consequences of either end of a drag. If the page does not treat it as a drag, it is a click.
fn drag_consequences(act: &ActionContext<'_>, target: ActionTarget<'_>) -> Vec<Sink> {
    let ActionTarget::Element(element) = target else { return vec![Sink::Unknown] };
    let mut sinks = activation_consequences(act, element);
    let announced = announced_effect(act, element).map(Sink::AnnouncesEffect);
    sinks.extend(announced.filter(|announced| !sinks.contains(announced)).into_iter().collect::<Vec<_>>());
    sinks
}

/// Returns the consequences of a choice whose words announce an effect, or to which the page's markup reacts,
/// such as a list that submits its form.
fn choice_consequences(act: &ActionContext<'_>, options: &[String]) -> Vec<Sink> {
    let ActionTarget::Element(element) = act.target else { return vec![Sink::Unknown] };
    let mut sinks = change_consequences(act, element);
    let announced = options.iter().filter_map(|option| effect_of(option, act.language)).min();
    sinks.extend(announced.map(Sink::AnnouncesEffect));
    sinks
}

/// Returns the consequences of a changed value. A choice, a checkbox or a date takes effect at once, but a text
/// only when the field loses the focus, which is not judged itself.
fn change_consequences(act: &ActionContext<'_>, element: &Element) -> Vec<Sink> {
    if !element.reacts_to_change {
        return Vec::new();
    }
    match &element.form {
        OwningForm::Form(form) => {
            form.sensitive().map(Sink::Submits).into_iter().chain(foreign_form_target(act, form)).collect()
        }
        OwningForm::None | OwningForm::Unknown => {
            act.fields_outside_forms.map(Sink::Submits).into_iter().collect()
        }
    }
}

fn typing_consequences(
    act: &ActionContext<'_>,
    text: &str,
    mode: TypingMode,
    destination: Option<&Site>,
    memory: &PageMemory,
) -> Vec<Sink> {
    let ActionTarget::Element(element) = act.target else { return vec![Sink::Unknown] };
    let mut sinks = Vec::new();
    if !text.is_empty() {
        sinks.extend(element.field.sensitive().map(Sink::Writes));
    }
    sinks.extend(memory.find_quote(text, destination).map(Sink::Carries));
    if mode == TypingMode::KeyPresses && text.contains(['\n', '\r']) {
        sinks.extend(enter_consequences(act, element));
    }
    if element.editing == EditingKind::None {
        // Outside a field, characters are shortcuts, and none is known to be harmless.
        if !is_set_without_typing(element) {
            sinks.push(Sink::Shortcut);
        }
    }
    sinks.extend(change_consequences(act, element));
    sinks
}

/// Returns whether an input is set without typing: dates, colours, ranges, choices.
fn is_set_without_typing(element: &Element) -> bool {
    matches!(element.tag.as_str(), "input" | "select" | "textarea")
        && activation_of(element) == Activation::Nothing
}

/// Returns the consequences of a click, or of a key on a control.
fn activation_consequences(act: &ActionContext<'_>, element: &Element) -> Vec<Sink> {
    let activation = activation_of(element);
    let mut sinks = Vec::new();
    if activation == Activation::Nothing {
        // A slider moves to the clicked point.
        let is_slider = element.tag == "input" && element.field.kind.trim().eq_ignore_ascii_case("range");
        return if is_slider { change_consequences(act, element) } else { sinks };
    }
    sinks.extend(element.download.as_deref().map(|name| Sink::Downloads(line(name, MAX_NAME))));
    if let Some(href) = &element.href
        && PageAddress::of(href) == PageAddress::Forbidden(ForbiddenReason::OtherProgram)
    {
        sinks.push(Sink::OpensProgram);
    }
    if matches!(activation, Activation::Submit | Activation::Button) {
        match &element.form {
            OwningForm::Form(form) => {
                let may_submit = activation == Activation::Submit || !submits_nothing(&element.name);
                sinks.extend(form.sensitive().filter(|_| may_submit).map(Sink::Submits));
                if activation == Activation::Submit {
                    sinks.extend(foreign_form_target(act, form));
                }
            }
            OwningForm::None | OwningForm::Unknown => {
                sinks.extend(
                    act.fields_outside_forms.filter(|_| !submits_nothing(&element.name)).map(Sink::Submits),
                );
            }
        }
    }
    if activation == Activation::Tick {
        sinks.extend(change_consequences(act, element));
    }
    let announced = announced_effect(act, element).filter(|effect| {
        // A checkbox is ticked before submission; submitting is the confirmation.
        activation != Activation::Tick || *effect != ControlEffect::Confirm
    });
    sinks.extend(announced.map(Sink::AnnouncesEffect));
    sinks
}

/// Returns the effect that the element's words announce.
fn announced_effect(act: &ActionContext<'_>, element: &Element) -> Option<ControlEffect> {
    let texts = std::iter::once(&element.name).chain(&element.texts);
    let is_link = activation_of(element) == Activation::Link;
    let from_texts = texts
        .filter(|text| !(is_link && line(text, usize::MAX).split(' ').count() > MAX_COMMAND_WORDS))
        .filter_map(|text| effect_of(text, act.language))
        .min();
    let from_address = element.href.as_deref().filter(|_| is_link).and_then(effect_of_address);
    from_texts.or(from_address)
}

/// Returns the effect that the last parts of an address announce, if following it does more than read.
fn effect_of_address(href: &str) -> Option<ControlEffect> {
    let url = Url::parse(href).ok()?;
    let parts: Vec<&str> = url.path_segments()?.rev().filter(|part| !part.is_empty()).take(2).collect();
    let query_words: Vec<String> =
        url.query_pairs().flat_map(|(key, value)| [key.into_owned(), value.into_owned()]).collect();
    let is_short = |text: &&str| text.split(['-', '_', ' ']).count() <= 2 && text.chars().count() <= 24;
    parts
        .into_iter()
        .chain(query_words.iter().map(String::as_str))
        .filter(is_short)
        .filter_map(|part| effect_of(part, Some("en")))
        .find(|effect| {
            matches!(
                effect,
                ControlEffect::Delete
                    | ControlEffect::Transfer
                    | ControlEffect::Confirm
                    | ControlEffect::Unsubscribe
                    | ControlEffect::CloseAccount
            )
        })
}

/// Returns the form's target, if it is not the site of its frame.
fn foreign_form_target(act: &ActionContext<'_>, form: &FormFacts) -> Option<Sink> {
    if form.action.trim().is_empty() {
        return None;
    }
    match (Origin::parse(&form.action), act.frame) {
        (Origin::Site(destination), Origin::Site(here)) if destination == *here => None,
        (Origin::Site(destination), _) => Some(Sink::SubmitsElsewhere(Some(destination))),
        (Origin::Opaque, _) if form.action.trim_start().to_ascii_lowercase().starts_with("javascript:") => {
            None
        }
        (Origin::Opaque, _) => Some(Sink::SubmitsElsewhere(None)),
    }
}
