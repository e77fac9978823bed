//! Actions and their effects, independent of names.

use super::{asked, asked_with, button, link, site, text_line};
use octo_browser::safety::{
    ActionContext, ActionTarget, ControlEffect, EditingKind, Element, FieldFacts, FormFacts, JudgedDialog,
    Judgement, Origin, OwningForm, PageAction, PageAddress, PageMemory, SensitiveData, Sink, TypingMode,
    judge,
};

fn field(kind: &str, autocomplete: &str, name: &str) -> FieldFacts {
    FieldFacts {
        kind: kind.into(),
        autocomplete: autocomplete.into(),
        name: name.into(),
        ..FieldFacts::default()
    }
}

fn form(fields: Vec<FieldFacts>, action: &str, submit_buttons: &[&str]) -> OwningForm {
    let submit_buttons = submit_buttons.iter().map(|name| (*name).to_owned()).collect();
    OwningForm::Form(FormFacts { fields, method: "post".into(), action: action.into(), submit_buttons })
}

fn submit(form: OwningForm) -> Element {
    Element { name: "Go".into(), tag: "button".into(), form, ..Element::default() }
}

#[test]
fn sensitive_fields_are_recognised() {
    use SensitiveData::{Code, Identity, Password, Payment};
    for (field, expected) in [
        (field("password", "", ""), Some(Password)),
        (field(" PASSWORD ", "off", ""), Some(Password)),
        (field("text", "current-password", ""), Some(Password)),
        (field("text", "", "Passwort"), Some(Password)),
        (field("text", "", "密码"), Some(Password)),
        (field("text", "section-x billing cc-number", ""), Some(Payment)),
        (field("tel", "CC-CSC", ""), Some(Payment)),
        (field("text", "", "Card number"), Some(Payment)),
        (field("text", "", "CVV"), Some(Payment)),
        (field("text", "", "IBAN"), Some(Payment)),
        (field("text", "", "カード番号"), Some(Payment)),
        (field("text", "", "Номер карты"), Some(Payment)),
        (field("text", "one-time-code", ""), Some(Code)),
        (field("text", "", "验证码"), Some(Code)),
        (field("text", "", "Social security number"), Some(Identity)),
        (field("text", "", "Urbanity"), None),
        (field("checkbox", "", "Show password"), None),
        (field("search", "", "Search"), None),
        (field("email", "email", "E-mail"), None),
        (field("text", "name", "Name"), None),
    ] {
        assert_eq!(field.sensitive(), expected, "{field:?}");
    }
}

#[test]
fn submitting_a_sensitive_form_asks() {
    let login = || vec![field("text", "username", "Name"), field("password", "", "")];
    let address = "https://a.example/login";
    for (element, expected) in [
        (submit(form(login(), address, &[])), vec![Sink::Submits(SensitiveData::Password)]),
        (submit(form(login(), "", &[])), vec![Sink::Submits(SensitiveData::Password)]),
        (
            submit(form(vec![field("text", "cc-number", "")], address, &[])),
            vec![Sink::Submits(SensitiveData::Payment)],
        ),
        (
            submit(form(login(), "https://evil.example/x", &[])),
            vec![
                Sink::Submits(SensitiveData::Password),
                Sink::SubmitsElsewhere(Some(site("https://evil.example"))),
            ],
        ),
        (
            submit(form(vec![], "http://a.example/x", &[])),
            vec![Sink::SubmitsElsewhere(Some(site("http://a.example")))],
        ),
        (submit(form(vec![], "mailto:x@evil.example", &[])), vec![Sink::SubmitsElsewhere(None)]),
        (submit(form(vec![field("text", "", "Name")], address, &[])), vec![]),
        // A script's button in the form may submit it too; a button that only shows the password does not.
        (
            Element { form: form(login(), address, &[]), ..button("Go") },
            vec![Sink::Submits(SensitiveData::Password)],
        ),
        (Element { form: form(login(), address, &[]), ..button("Show password") }, vec![]),
        (
            Element { form: form(login(), address, &[]), ..button("Show password and go") },
            vec![Sink::Submits(SensitiveData::Password)],
        ),
        // A control with a harmless name that submits counts as submitting.
        (
            Element { name: "Cancel".into(), ..submit(form(login(), address, &[])) },
            vec![Sink::Submits(SensitiveData::Password)],
        ),
        // The role says field; the tag does not.
        (
            Element { role: "textbox".into(), tag: "div".into(), ..button("Delete") },
            vec![Sink::AnnouncesEffect(ControlEffect::Delete)],
        ),
        (
            Element { role: "heading".into(), tag: "h1".into(), ..button("Pay") },
            vec![Sink::AnnouncesEffect(ControlEffect::Buy)],
        ),
    ] {
        assert_eq!(asked(None, &element, PageAction::Click), expected, "{element:?}");
    }
}

#[test]
fn enter_submits_the_form() {
    let in_form = |form| Element { form, ..text_line("Name") };
    let address = "https://a.example/x";
    let enter = PageAction::Press { key: "Enter" };
    for (element, expected) in [
        (
            in_form(form(vec![field("password", "", "")], address, &[])),
            vec![Sink::Submits(SensitiveData::Password)],
        ),
        (in_form(form(vec![], address, &["Place order"])), vec![Sink::AnnouncesEffect(ControlEffect::Buy)]),
        (
            in_form(form(vec![], "https://b.example", &["Search"])),
            vec![Sink::SubmitsElsewhere(Some(site("https://b.example")))],
        ),
        (in_form(form(vec![], address, &["Search"])), vec![]),
        // A chat: its button is a picture, or missing.
        (in_form(form(vec![], address, &[" \n \u{200b}"])), vec![Sink::Enter]),
        (in_form(form(vec![], address, &["", "Help"])), vec![Sink::Enter]),
        (in_form(form(vec![], address, &[])), vec![Sink::Enter]),
        (Element { field: field("search", "", "Search"), ..in_form(form(vec![], address, &[""])) }, vec![]),
        (in_form(OwningForm::Unknown), vec![Sink::Enter]),
        (text_line("Message"), vec![Sink::Enter]),
        (Element { field: field("search", "", "Search"), ..text_line("Search") }, vec![]),
        (
            Element { tag: "div".into(), editing: EditingKind::Lines, ..text_line("Message") },
            vec![Sink::Enter],
        ),
        (button("Send"), vec![Sink::AnnouncesEffect(ControlEffect::Send)]),
        (button("Next"), vec![]),
    ] {
        for action in
            [enter, PageAction::Press { key: "NumpadEnter" }, PageAction::Press { key: "Control+Enter" }]
        {
            assert_eq!(asked(None, &element, action), expected, "{element:?}");
        }
        if element.editing != EditingKind::None {
            let typed = PageAction::Type { text: "hello\n", mode: TypingMode::KeyPresses };
            assert_eq!(asked(None, &element, typed), expected, "a typed line break is Enter: {element:?}");
            assert_eq!(
                asked(None, &element, PageAction::Type { text: "hello", mode: TypingMode::KeyPresses }),
                [],
                "{element:?}"
            );
        }
    }
    let lines = Element { tag: "textarea".into(), editing: EditingKind::Lines, ..text_line("Text") };
    assert_eq!(asked(None, &lines, PageAction::Press { key: "Shift+Enter" }), []);
    for key in ["Control+Shift+Enter", "Mod+Shift+Enter", "Alt+Shift+Enter", "shift+cmd+return"] {
        assert_eq!(
            asked(None, &lines, PageAction::Press { key }),
            [Sink::Enter],
            "{key} sends in many editors"
        );
    }
}

#[test]
fn keys_are_judged_by_their_effect() {
    for (element, key, asks) in [
        (button("Delete"), "Space", true),
        (button("Next"), "Tab", false),
        (button("Next"), "ArrowDown", false),
        (button("Next"), "Delete", true),
        (button("Next"), "#", true),
        (button("Next"), "Control+s", true),
        (text_line("Name"), "Delete", false),
        (text_line("Name"), "Control+a", false),
        (text_line("Name"), "Control+v", true),
        (text_line("Name"), "x", false),
        // Every key name, and every key that pastes.
        (text_line("Name"), "Mod+V", true),
        (text_line("Name"), "ControlOrMeta+v", true),
        (text_line("Name"), "CmdOrCtrl+Shift+V", true),
        (text_line("Name"), "Shift+Insert", true),
        (text_line("Name"), "Mod+A", false),
        (text_line("Name"), "Mod+Shift+Z", false),
        (text_line("Name"), "Option+ArrowLeft", false),
        (text_line("Name"), "Alt+s", true),
        (button("Next"), "bac\u{212a}space", true),
        (button("Next"), "Spacebar", false),
        (button("Delete"), " ", true),
        (button("Delete"), "Shift+Space", true),
        (text_line("Name"), "Hyper+x", true),
        (text_line("Name"), "", true),
    ] {
        assert_eq!(
            !asked(None, &element, PageAction::Press { key }).is_empty(),
            asks,
            "{key} in {}",
            element.tag
        );
    }
}

#[test]
fn a_typed_key_is_judged_with_the_fields_text() {
    const LETTER: &str = "the meeting about the merger of both companies has been moved to the second";
    let mut memory = PageMemory::default();
    memory.record_text(&site("https://mail.example"), LETTER);
    memory.record_text(&site("https://mail.example"), "Your card is 4111 1111 1111 1111.");
    let press = |element: &Element, key| asked_with(&memory, None, element, PageAction::Press { key });
    for (field, expected) in [
        (field("password", "", ""), SensitiveData::Password),
        (field("text", "cc-number", ""), SensitiveData::Payment),
        (field("text", "one-time-code", ""), SensitiveData::Code),
    ] {
        let element = Element { field, ..text_line("") };
        for key in ["x", "4", "Shift+A", "Space", "é"] {
            assert_eq!(press(&element, key), [Sink::Writes(expected)], "{key} in {element:?}");
        }
        assert_eq!(press(&element, "Backspace"), [], "a key that deletes writes nothing");
    }
    let note_with = |value: &str| Element { content: value.into(), ..text_line("Note") };
    for (value, key) in [
        (LETTER.strip_suffix('d').expect("its last"), "d"),
        (LETTER.strip_prefix('t').expect("its first"), "t"),
        ("411111111111111", "1"),
        ("4111 1111 1111 111", "1"),
    ] {
        let sinks = press(&note_with(value), key);
        assert!(
            matches!(&sinks[..], [Sink::Carries(quote)] if quote.from == site("https://mail.example")),
            "{value} and {key}: {sinks:?}"
        );
    }
    assert_eq!(press(&note_with("the meeting"), "s"), []);
    assert_eq!(press(&note_with(""), "1"), []);
}

#[test]
fn a_button_in_an_editor_is_activated_and_the_editor_is_not() {
    let editor = |name: &str, reacts_to_click| Element {
        name: name.into(),
        tag: "div".into(),
        editing: EditingKind::Lines,
        reacts_to_click,
        form: OwningForm::None,
        ..Element::default()
    };
    for (element, action, expected) in [
        (editor("Delete", true), PageAction::Click, vec![Sink::AnnouncesEffect(ControlEffect::Delete)]),
        (editor("Pay now", true), PageAction::Click, vec![Sink::AnnouncesEffect(ControlEffect::Buy)]),
        (
            editor("Pay now", true),
            PageAction::Press { key: "Space" },
            vec![Sink::AnnouncesEffect(ControlEffect::Buy)],
        ),
        (
            editor("Pay now", true),
            PageAction::Press { key: "Enter" },
            vec![Sink::AnnouncesEffect(ControlEffect::Buy), Sink::Enter],
        ),
        (editor("Bold", true), PageAction::Click, vec![]),
        (editor("Pay the rent and delete this note", false), PageAction::Click, vec![]),
        (editor("Pay now", false), PageAction::Press { key: "Space" }, vec![]),
        (editor("Pay now", true), PageAction::Type { text: "hello", mode: TypingMode::Insertion }, vec![]),
    ] {
        assert_eq!(asked(None, &element, action), expected, "{element:?} {action:?}");
    }
}

#[test]
fn a_field_that_submits_on_change_is_judged_as_submitting() {
    let card = || form(vec![field("text", "cc-number", "")], "", &[]);
    let input = |kind: &str, form, reacts_to_change| Element {
        tag: "input".into(),
        field: field(kind, "", "When"),
        editing: if kind == "text" { EditingKind::Line } else { EditingKind::None },
        form,
        reacts_to_change,
        ..button("When")
    };
    let set = |text| PageAction::Type { text, mode: TypingMode::Insertion };
    for (kind, action) in [
        ("checkbox", PageAction::Click),
        ("radio", PageAction::Click),
        ("radio", PageAction::Press { key: "Space" }),
        ("radio", PageAction::Press { key: "ArrowDown" }),
        ("range", PageAction::Click),
        ("range", PageAction::Press { key: "ArrowRight" }),
        ("range", set("7")),
        ("date", set("2026-11-22")),
        ("time", set("09:30")),
        ("color", set("#ff0000")),
        // A text field reports its change when it loses the focus, which is not an assessed act.
        ("text", set("Anna")),
    ] {
        for (form, sends, expected) in [
            (card(), true, vec![Sink::Submits(SensitiveData::Payment)]),
            (card(), false, vec![]),
            (
                form(vec![], "https://b.example", &[]),
                true,
                vec![Sink::SubmitsElsewhere(Some(site("https://b.example")))],
            ),
            (form(vec![], "", &[]), true, vec![]),
        ] {
            let element = input(kind, form, sends);
            assert_eq!(asked(None, &element, action), expected, "{kind} {action:?}");
        }
    }
    let label = Element { tag: "label".into(), ..input("", card(), true) };
    assert_eq!(asked(None, &label, PageAction::Click), [Sink::Submits(SensitiveData::Payment)]);
}

#[test]
fn every_other_action_has_its_rule() {
    let files = ["/home/a/cv.pdf".to_owned()];
    let confirm = |message| PageAction::AcceptDialog { kind: JudgedDialog::Confirm, message, text: "" };
    let offered =
        Element { download: Some("a\u{202e}fdp.exe".into()), ..link("Report", "https://a.example/r") };
    let tick =
        Element { tag: "input".into(), field: field("checkbox", "", ""), ..button("I agree to the terms") };
    for (element, action, expected) in [
        (button("x"), PageAction::Upload { files: &files }, vec![Sink::Uploads(files.to_vec())]),
        (button("x"), PageAction::Download { name: "a.pdf" }, vec![Sink::Downloads("a.pdf".into())]),
        (offered, PageAction::Click, vec![Sink::Downloads("afdp.exe".into())]),
        (button("x"), PageAction::Evaluate, vec![Sink::Evaluates]),
        (button("x"), confirm("Sure?"), vec![Sink::Accepts(JudgedDialog::Confirm)]),
        (
            button("x"),
            confirm("Delete all?"),
            vec![Sink::Accepts(JudgedDialog::Confirm), Sink::AnnouncesEffect(ControlEffect::Delete)],
        ),
        (
            button("x"),
            PageAction::AcceptDialog { kind: JudgedDialog::Alert, message: "Delete", text: "" },
            vec![],
        ),
        (button("Delete"), PageAction::Hover, vec![]),
        (button("Delete"), PageAction::Scroll, vec![]),
        (
            button("Card"),
            PageAction::Drag { drop_target: ActionTarget::Element(&button("Trash: delete")) },
            vec![Sink::AnnouncesEffect(ControlEffect::Delete)],
        ),
        (button("Card"), PageAction::Drag { drop_target: ActionTarget::Element(&button("Done")) }, vec![]),
        (button("Card"), PageAction::Drag { drop_target: ActionTarget::Unknown }, vec![Sink::Unknown]),
        (tick, PageAction::Click, vec![]),
        (text_line("Send message to"), PageAction::Click, vec![]),
        (
            Element { field: field("password", "", ""), ..text_line("") },
            PageAction::Type { text: "x", mode: TypingMode::Insertion },
            vec![Sink::Writes(SensitiveData::Password)],
        ),
        (button("x"), PageAction::Type { text: "e", mode: TypingMode::KeyPresses }, vec![Sink::Shortcut]),
        (link("Mail", "mailto:a@b.example"), PageAction::Click, vec![Sink::OpensProgram]),
    ] {
        assert_eq!(asked(None, &element, action), expected, "{element:?}");
    }
    let icon = Element { texts: vec!["#compose.btn-send".into()], ..button("") };
    assert_eq!(
        asked(None, &icon, PageAction::Click),
        [Sink::AnnouncesEffect(ControlEffect::Send)],
        "an unnamed button is judged by its hint"
    );
}

#[test]
fn a_drag_asks_like_a_click_on_either_end() {
    let card = || form(vec![field("text", "cc-number", "")], "https://a.example/pay", &[]);
    let harmless = button("Card");
    for (source, target, expected) in [
        (submit(card()), harmless.clone(), vec![Sink::Submits(SensitiveData::Payment)]),
        (harmless.clone(), submit(card()), vec![Sink::Submits(SensitiveData::Payment)]),
        (
            submit(form(vec![], "https://b.example", &[])),
            harmless.clone(),
            vec![Sink::SubmitsElsewhere(Some(site("https://b.example")))],
        ),
        (
            Element { download: Some("a.exe".into()), ..link("Report", "https://a.example/r") },
            harmless.clone(),
            vec![Sink::Downloads("a.exe".into())],
        ),
        (link("Mail", "mailto:a@b.example"), harmless.clone(), vec![Sink::OpensProgram]),
        (button("Delete"), harmless.clone(), vec![Sink::AnnouncesEffect(ControlEffect::Delete)]),
    ] {
        assert_eq!(
            asked(None, &source, PageAction::Drag { drop_target: ActionTarget::Element(&target) }),
            expected,
            "{source:?} onto {target:?}"
        );
    }
}

#[test]
fn a_choice_is_judged_by_its_words() {
    let list = |form, reacts_to_change| Element {
        tag: "select".into(),
        field: field("select-one", "", "Action"),
        form,
        reacts_to_change,
        ..button("Action")
    };
    let pay = form(vec![field("text", "cc-number", "")], "", &[]);
    for (element, option, expected) in [
        (list(OwningForm::None, false), "Mark as read", vec![]),
        (list(OwningForm::None, false), "Delete account", vec![Sink::AnnouncesEffect(ControlEffect::Delete)]),
        (list(pay.clone(), false), "December", vec![]),
        (list(pay, true), "December", vec![Sink::Submits(SensitiveData::Payment)]),
        (
            list(form(vec![], "https://b.example", &[]), true),
            "Blue",
            vec![Sink::SubmitsElsewhere(Some(site("https://b.example")))],
        ),
    ] {
        let options = [option.to_owned()];
        assert_eq!(asked(None, &element, PageAction::Select { options: &options }), expected, "{option}");
    }
    let option = Element { tag: "option".into(), ..button("Delete account") };
    assert_eq!(asked(None, &option, PageAction::Click), [Sink::AnnouncesEffect(ControlEffect::Delete)]);
}

#[test]
fn unknown_targets_ask() {
    let act = |action, fields_outside_forms| ActionContext {
        page: &PageAddress::Blank,
        frame: &Origin::Opaque,
        language: None,
        fields_outside_forms,
        target: ActionTarget::Unknown,
        action,
    };
    for action in [
        PageAction::Click,
        PageAction::Press { key: "Enter" },
        PageAction::Type { text: "x", mode: TypingMode::Insertion },
    ] {
        assert!(matches!(judge(&act(action, None), &PageMemory::default()), Judgement::Ask(_)), "{action:?}");
    }
    let element = button("Continue");
    let pay = ActionContext {
        target: ActionTarget::Element(&element),
        ..act(PageAction::Click, Some(SensitiveData::Payment))
    };
    let Judgement::Ask(question) = judge(&pay, &PageMemory::default()) else {
        panic!("a page that asks for a card")
    };
    assert_eq!((question.name(), question.role(), question.site()), ("Continue", "button", None));
    assert_eq!(question.sinks(), [Sink::Submits(SensitiveData::Payment)]);
}

#[test]
fn the_question_shows_the_name_and_the_frames_site() {
    let element = button("Se\u{200b}nd\n\u{202e}now");
    let act = ActionContext {
        page: &PageAddress::of("https://a.example"),
        frame: &Origin::parse("https://frame.example"),
        language: Some("en"),
        fields_outside_forms: None,
        target: ActionTarget::Element(&element),
        action: PageAction::Click,
    };
    let Judgement::Ask(question) = judge(&act, &PageMemory::default()) else { panic!("it sends") };
    assert_eq!(question.name(), "Send now");
    assert_eq!(question.site(), Some(&site("https://frame.example")));
}
