//! [`judge`]: does an action do something that cannot be taken back, or let something out? Then the person is asked,
//! with the element's real name; the model has no part in the wording.
//!
//! What a page says of its elements (roles, names, language) can only make an action look more dangerous. That an
//! action is harmless is concluded from what the browser knows (tags, types, targets) and from names that say
//! nothing in any known language. What is not known asks.

mod activation;
mod keys;

use super::{
    address::{Address, Forbidden},
    field::{Editing, Element, Form, InForm, Sensitive},
    leak::{Leak, leak},
    memory::{Memory, Quote},
    site::{Origin, Site},
    visible::line,
    words::{Deed, deed_of},
};
use activation::{Activation, activation, is_quiet};
use keys::{entered, pressed};
use url::Url;

/// The most characters of a name in a question.
const NAME: usize = 120;
/// A link of more words than this is a headline or a sentence, not a command.
const SENTENCE: usize = 8;

/// What acts on what.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// It could not be found out.
    Unknown,
    /// This element.
    Element(&'a Element),
}

/// Whether typing presses keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Every character is a key: a line break is Enter.
    Pressed,
    /// The text is put in at once.
    Inserted,
}

/// What is about to happen.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// The target is clicked, once or twice.
    Click,
    /// The pointer rests on it.
    Hover,
    /// The page is moved.
    Scroll,
    /// A key is pressed in it, as `Enter`, `Control+Enter`, `Delete`.
    Press {
        /// The key.
        key: &'a str,
    },
    /// Text is written into it.
    Type {
        /// The text, placeholders of secrets taken out.
        text: &'a str,
        /// How.
        keys: Keys,
    },
    /// Options of it are chosen.
    Select {
        /// What they say.
        options: &'a [String],
    },
    /// It is dragged onto another.
    Drag {
        /// That other.
        onto: Target<'a>,
    },
    /// Files of this machine are given to it.
    Upload {
        /// Their paths or names.
        files: &'a [String],
    },
    /// A file is fetched.
    Download {
        /// Its name as the page says it.
        name: &'a str,
    },
    /// A dialog of the page is accepted. Dismissing one needs no question.
    AcceptDialog {
        /// Its kind.
        kind: Dialog,
        /// What it says.
        message: &'a str,
        /// What is written into it.
        text: &'a str,
    },
    /// The tab is sent to an address that the model wrote.
    Navigate {
        /// The address.
        url: &'a str,
    },
    /// Code of the model runs in the page.
    Evaluate,
}

/// The kinds of dialogs a page can open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialog {
    /// It says something.
    Alert,
    /// It asks yes or no.
    Confirm,
    /// It asks for a text.
    Prompt,
    /// It asks whether the page may be left.
    BeforeUnload,
}

/// An action and what is known around it.
#[derive(Clone, Copy, Debug)]
pub struct Act<'a> {
    /// What the tab is at.
    pub page: &'a Address,
    /// The origin of the frame the target is in.
    pub frame: &'a Origin,
    /// The language the page says it is in (BCP 47).
    pub language: Option<&'a str>,
    /// What visible fields of the page outside of any form ask for.
    pub loose_fields: Option<Sensitive>,
    /// What is acted on; for keys, what has the focus.
    pub target: Target<'a>,
    /// What is done.
    pub action: Action<'a>,
}

/// Why the person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// A form or page that asks for something sensitive is sent.
    Submits(Sensitive),
    /// What a form holds goes to another site, or to one that is not known.
    SubmitsElsewhere(Option<Site>),
    /// The control's own words, or its address, say so.
    Says(Deed),
    /// Enter sends what is written, as far as can be known.
    Enter,
    /// A key that pages take for deleting or sending.
    Shortcut,
    /// A password, a card or a code is written by the model itself.
    Writes(Sensitive),
    /// Text read at one site is written at another.
    Carries(Quote),
    /// An address tells more than an address should.
    Leaks(Leak),
    /// Files leave this machine.
    Uploads(Vec<String>),
    /// A file comes to this machine.
    Downloads(String),
    /// A dialog is accepted.
    Accepts(Dialog),
    /// Another program is started.
    OpensProgram,
    /// Code of the model runs with all rights of the page.
    Evaluates,
    /// It is not known what is acted on.
    Unknown,
}

/// May an action happen?
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Judgement {
    /// It can be taken back, and nothing gets out.
    Harmless,
    /// The person is to be asked.
    Ask(SinkQuestion),
}

/// What the person is asked. Only [`judge`] makes one: every word is Octo's or the page's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkQuestion {
    sinks: Vec<Sink>,
    name: String,
    role: String,
    place: Option<Site>,
}

impl SinkQuestion {
    /// Why, the weightiest first.
    pub fn sinks(&self) -> &[Sink] {
        &self.sinks
    }

    /// The element's name as the page says it, in one line; empty without one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The element's role as the page says it.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// The site it happens at: that of the frame, not only of the page around it.
    pub fn place(&self) -> Option<&Site> {
        self.place.as_ref()
    }
}

/// Judges an action. To be asked for every single one, right before it happens.
pub fn judge(act: &Act<'_>, memory: &Memory) -> Judgement {
    let sinks = sinks(act, memory);
    if sinks.is_empty() {
        return Judgement::Harmless;
    }
    let (name, role) = match act.target {
        Target::Element(element) => {
            let told = std::iter::once(&element.name).chain(&element.texts).map(|text| line(text, NAME));
            (told.into_iter().find(|text| !text.is_empty()).unwrap_or_default(), line(&element.role, NAME))
        }
        Target::Unknown => Default::default(),
    };
    let place = match act.frame {
        Origin::Site(site) => Some(site.clone()),
        Origin::Opaque => act.page.site().cloned(),
    };
    Judgement::Ask(SinkQuestion { sinks, name, role, place })
}

fn sinks(act: &Act<'_>, memory: &Memory) -> Vec<Sink> {
    let to = match act.frame {
        Origin::Site(site) => Some(site),
        Origin::Opaque => None,
    };
    match act.action {
        Action::Hover | Action::Scroll => Vec::new(),
        Action::Select { options } => selected(act, options),
        Action::Evaluate => vec![Sink::Evaluates],
        Action::Upload { files } => vec![Sink::Uploads(files.iter().map(|file| line(file, NAME)).collect())],
        Action::Download { name } => vec![Sink::Downloads(line(name, NAME))],
        Action::AcceptDialog { kind: Dialog::Alert, .. } => Vec::new(),
        Action::AcceptDialog { kind, message, text } => {
            let says = deed_of(message, act.language).map(Sink::Says);
            let carries = memory.quoted(text, to).map(Sink::Carries);
            [Some(Sink::Accepts(kind)), says, carries].into_iter().flatten().collect()
        }
        Action::Navigate { url } => match Url::parse(url) {
            Ok(url) => leak(&url, memory).map(Sink::Leaks).into_iter().collect(),
            Err(_) => vec![Sink::Unknown],
        },
        Action::Drag { onto } => [act.target, onto].iter().flat_map(|target| dropped(act, *target)).collect(),
        Action::Click => match act.target {
            Target::Element(element) => activated(act, element),
            Target::Unknown => vec![Sink::Unknown],
        },
        Action::Press { key } => pressed(act, key, to, memory),
        Action::Type { text, keys } => typed(act, text, keys, to, memory),
    }
}

/// What either end of a drag may set off. One that the page takes for no drag is a press on it.
fn dropped(act: &Act<'_>, target: Target<'_>) -> Vec<Sink> {
    let Target::Element(element) = target else { return vec![Sink::Unknown] };
    let mut sinks = activated(act, element);
    let says = says(act, element).map(Sink::Says);
    sinks.extend(says.filter(|says| !sinks.contains(says)).into_iter().collect::<Vec<_>>());
    sinks
}

/// A choice whose words say what it does, and one that is heard of by the page's own markup, as by a list that sends
/// its form.
fn selected(act: &Act<'_>, options: &[String]) -> Vec<Sink> {
    let Target::Element(element) = act.target else { return vec![Sink::Unknown] };
    let mut sinks = changed(act, element);
    let says = options.iter().filter_map(|option| deed_of(option, act.language)).min();
    sinks.extend(says.map(Sink::Says));
    sinks
}

/// What follows on a change of an element's value: at once on a choice, a tick or a date, and of a text as soon as it is
/// left, which no act that is weighed says.
fn changed(act: &Act<'_>, element: &Element) -> Vec<Sink> {
    if !element.sends_on_change {
        return Vec::new();
    }
    match &element.form {
        InForm::Form(form) => {
            form.sensitive().map(Sink::Submits).into_iter().chain(elsewhere(act, form)).collect()
        }
        InForm::None | InForm::Unknown => act.loose_fields.map(Sink::Submits).into_iter().collect(),
    }
}

fn typed(act: &Act<'_>, text: &str, keys: Keys, to: Option<&Site>, memory: &Memory) -> Vec<Sink> {
    let Target::Element(element) = act.target else { return vec![Sink::Unknown] };
    let mut sinks = Vec::new();
    if !text.is_empty() {
        sinks.extend(element.field.sensitive().map(Sink::Writes));
    }
    sinks.extend(memory.quoted(text, to).map(Sink::Carries));
    if keys == Keys::Pressed && text.contains(['\n', '\r']) {
        sinks.extend(entered(act, element));
    }
    if element.editing == Editing::None {
        // Outside of a field, characters are shortcuts, and none is known to be harmless.
        if !is_filled(element) {
            sinks.push(Sink::Shortcut);
        }
    }
    sinks.extend(changed(act, element));
    sinks
}

/// Inputs that are filled without letters: dates, colours, ranges, choices.
fn is_filled(element: &Element) -> bool {
    matches!(element.tag.as_str(), "input" | "select" | "textarea")
        && activation(element) == Activation::Nothing
}

/// What a click, or a key on a control, does.
fn activated(act: &Act<'_>, element: &Element) -> Vec<Sink> {
    let activation = activation(element);
    let mut sinks = Vec::new();
    if activation == Activation::Nothing {
        // A slider goes to where it is pressed.
        let slides = element.tag == "input" && element.field.kind.trim().eq_ignore_ascii_case("range");
        return if slides { changed(act, element) } else { sinks };
    }
    sinks.extend(element.download.as_deref().map(|name| Sink::Downloads(line(name, NAME))));
    if let Some(href) = &element.href
        && Address::of(href) == Address::Forbidden(Forbidden::OtherProgram)
    {
        sinks.push(Sink::OpensProgram);
    }
    if matches!(activation, Activation::Submit | Activation::Button) {
        match &element.form {
            InForm::Form(form) => {
                let sends = activation == Activation::Submit || !is_quiet(&element.name);
                sinks.extend(form.sensitive().filter(|_| sends).map(Sink::Submits));
                if activation == Activation::Submit {
                    sinks.extend(elsewhere(act, form));
                }
            }
            InForm::None | InForm::Unknown => {
                sinks.extend(act.loose_fields.filter(|_| !is_quiet(&element.name)).map(Sink::Submits));
            }
        }
    }
    if activation == Activation::Tick {
        sinks.extend(changed(act, element));
    }
    let says = says(act, element).filter(|deed| {
        // A box is ticked before it is sent, and what it confirms is confirmed by sending.
        activation != Activation::Tick || *deed != Deed::Confirm
    });
    sinks.extend(says.map(Sink::Says));
    sinks
}

/// What the element's words say it does.
fn says(act: &Act<'_>, element: &Element) -> Option<Deed> {
    let texts = std::iter::once(&element.name).chain(&element.texts);
    let is_link = activation(element) == Activation::Link;
    let spoken = texts
        .filter(|text| !(is_link && line(text, usize::MAX).split(' ').count() > SENTENCE))
        .filter_map(|text| deed_of(text, act.language))
        .min();
    let written = element.href.as_deref().filter(|_| is_link).and_then(says_address);
    spoken.or(written)
}

/// What the last parts of an address say that following it does, where that is worse than reading.
fn says_address(href: &str) -> Option<Deed> {
    let url = Url::parse(href).ok()?;
    let parts: Vec<&str> = url.path_segments()?.rev().filter(|part| !part.is_empty()).take(2).collect();
    let keys: Vec<String> =
        url.query_pairs().flat_map(|(key, value)| [key.into_owned(), value.into_owned()]).collect();
    let short = |text: &&str| text.split(['-', '_', ' ']).count() <= 2 && text.chars().count() <= 24;
    parts
        .into_iter()
        .chain(keys.iter().map(String::as_str))
        .filter(short)
        .filter_map(|part| deed_of(part, Some("en")))
        .find(|deed| {
            matches!(
                deed,
                Deed::Delete | Deed::Transfer | Deed::Confirm | Deed::Unsubscribe | Deed::CloseAccount
            )
        })
}

/// Where a form sends, if that is not the site of its frame.
fn elsewhere(act: &Act<'_>, form: &Form) -> Option<Sink> {
    if form.action.trim().is_empty() {
        return None;
    }
    match (Origin::read(&form.action), act.frame) {
        (Origin::Site(to), Origin::Site(here)) if to == *here => None,
        (Origin::Site(to), _) => Some(Sink::SubmitsElsewhere(Some(to))),
        (Origin::Opaque, _) if form.action.trim_start().to_ascii_lowercase().starts_with("javascript:") => {
            None
        }
        (Origin::Opaque, _) => Some(Sink::SubmitsElsewhere(None)),
    }
}
