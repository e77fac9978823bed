//! Facts about elements and forms as reported by the browser: page-controlled ones (roles, names) and ones a
//! page cannot disguise (tags, types, targets).

use super::fold::fold;
use std::sync::LazyLock;

/// A kind of sensitive data that a form asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SensitiveData {
    /// A card, account or amount.
    Payment,
    /// A password.
    Password,
    /// A one-time code.
    Code,
    /// A passport, tax or social security number.
    Identity,
}

/// A visible field of a form. Unknown values are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldFacts {
    /// Its `type` attribute.
    pub kind: String,
    /// Its `autocomplete` attribute.
    pub autocomplete: String,
    /// Its `name` and `id` attributes.
    pub attributes: String,
    /// Its accessible name, placeholder and label.
    pub name: String,
}

/// Substrings of names of card and account fields, without gaps and diacritics.
const PAYMENT_NAMES: [&str; 40] = [
    "cardnumber",
    "cardno",
    "ccnumber",
    "creditcard",
    "debitcard",
    "cvv",
    "cvc",
    "cvn",
    "securitycode",
    "cardholder",
    "iban",
    "swiftcode",
    "routingnumber",
    "accountnumber",
    "sortcode",
    "kartennummer",
    "kreditkarte",
    "prufziffer",
    "kontonummer",
    "numerodecarte",
    "cartebancaire",
    "cryptogramme",
    "numerodetarjeta",
    "tarjetadecredito",
    "numerodocartao",
    "cartaodecredito",
    "numerocarta",
    "numerodicarta",
    "cartadicredito",
    "kaartnummer",
    "numerkarty",
    "номеркарты",
    "номеркартки",
    "kartnumarasi",
    "卡号",
    "卡號",
    "信用卡",
    "カード番号",
    "카드번호",
    "बैंकखाता",
];
/// Substrings of names of password fields; a page can show typed text and still mean a password.
const PASSWORD_NAMES: [&str; 22] = [
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "kennwort",
    "motdepasse",
    "contrasena",
    "senha",
    "wachtwoord",
    "losenord",
    "haslo",
    "пароль",
    "parola",
    "sifre",
    "matkhau",
    "katasandi",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "รหัสผ่าน",
    "पासवर्ड",
];
/// Substrings of names of one-time code fields.
const CODE_NAMES: [&str; 12] = [
    "onetimecode",
    "otp",
    "totp",
    "2fa",
    "mfa",
    "verificationcode",
    "smscode",
    "验证码",
    "驗證碼",
    "認証コード",
    "인증번호",
    "кодподтверждения",
];
/// Substrings of names of personal identity number fields.
const IDENTITY_NAMES: [&str; 14] = [
    "socialsecurity",
    "ssn",
    "passportnumber",
    "taxid",
    "nationalid",
    "personnummer",
    "pesel",
    "steuernummer",
    "codicefiscale",
    "身份证",
    "身分證",
    "マイナンバー",
    "주민등록번호",
    "aadhaar",
];

/// How a name must occur in a field's labels.
#[derive(Clone, Copy)]
enum NameMatch {
    /// As a separate word, for short Latin names: `ssn` must not match `lessness`.
    Word,
    Anywhere,
}

/// Names in folded form, for comparison.
type FoldedNames = Vec<(String, NameMatch)>;

/// All names, folded once: a page has many fields.
static FOLDED_NAMES: LazyLock<[(SensitiveData, FoldedNames); 4]> = LazyLock::new(|| {
    let folded = |names: &[&str]| {
        let names = names.iter().map(|name| letters(name));
        let name_match = |name: &str| {
            if name.is_ascii() && name.len() < 6 { NameMatch::Word } else { NameMatch::Anywhere }
        };
        names.map(|name| (name.clone(), name_match(&name))).collect()
    };
    [
        (SensitiveData::Payment, folded(&PAYMENT_NAMES)),
        (SensitiveData::Password, folded(&PASSWORD_NAMES)),
        (SensitiveData::Code, folded(&CODE_NAMES)),
        (SensitiveData::Identity, folded(&IDENTITY_NAMES)),
    ]
});

impl FieldFacts {
    /// Returns the kind of sensitive data it asks for, if any.
    pub fn sensitive(&self) -> Option<SensitiveData> {
        let tokens: Vec<String> = self.autocomplete.split_whitespace().map(str::to_ascii_lowercase).collect();
        let any_token = |matches: &dyn Fn(&str) -> bool| tokens.iter().any(|token| matches(token));
        if any_token(&|token| token.starts_with("cc-") || token.starts_with("transaction-")) {
            return Some(SensitiveData::Payment);
        }
        if self.kind.trim().eq_ignore_ascii_case("password")
            || any_token(&|token| matches!(token, "current-password" | "new-password"))
        {
            return Some(SensitiveData::Password);
        }
        if any_token(&|token| token == "one-time-code") {
            return Some(SensitiveData::Code);
        }
        // Checkboxes, radio buttons and buttons with such names ask for nothing.
        let kind = self.kind.trim().to_ascii_lowercase();
        if matches!(
            kind.as_str(),
            "checkbox" | "radio" | "button" | "submit" | "reset" | "image" | "hidden" | "search"
        ) {
            return None;
        }
        let texts = [&self.attributes, &self.name].map(|text| letters(text));
        let words: Vec<String> = [&self.attributes, &self.name].iter().flat_map(|text| words(text)).collect();
        let matches_names = |names: &[(String, NameMatch)]| {
            names.iter().any(|(name, match_kind)| match match_kind {
                NameMatch::Word => words.contains(name),
                NameMatch::Anywhere => texts.iter().any(|text| text.contains(name.as_str())),
            })
        };
        FOLDED_NAMES.iter().find_map(|(sensitive, names)| matches_names(names).then_some(*sensitive))
    }
}

fn letters(text: &str) -> String {
    fold(text).chars().filter(|character| character.is_alphanumeric()).collect()
}

fn words(text: &str) -> Vec<String> {
    fold(text).split(|character: char| !character.is_alphanumeric()).map(str::to_owned).collect()
}

/// The facts about a form that matter before it is submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormFacts {
    /// Its visible fields.
    pub fields: Vec<FieldFacts>,
    /// Its method, as written.
    pub method: String,
    /// Its target address, resolved against the page; empty for the page itself.
    pub action: String,
    /// The accessible names of the buttons that submit it.
    pub submit_buttons: Vec<String>,
}

impl FormFacts {
    /// Returns the kind of sensitive data its fields ask for, the most serious first.
    pub fn sensitive(&self) -> Option<SensitiveData> {
        self.fields.iter().filter_map(FieldFacts::sensitive).min()
    }
}

/// The form an element belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OwningForm {
    /// Could not be determined.
    #[default]
    Unknown,
    /// No form.
    None,
    /// This one.
    Form(FormFacts),
}

/// The kind of text editing an element supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditingKind {
    /// No text can be written into it.
    #[default]
    None,
    /// One line, in a real `input`.
    Line,
    /// Several lines: a real `textarea`, or editable content.
    Lines,
}

/// An element as the browser knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its role; page-controlled.
    pub role: String,
    /// Its accessible name; page-controlled, and visible to the person.
    pub name: String,
    /// Other texts that identify a control: title, alternative text, value, description, and the hint of an
    /// unnamed one.
    pub texts: Vec<String>,
    /// Its tag in lower case; a page cannot disguise it.
    pub tag: String,
    /// Its field attributes: type, autocomplete and names.
    pub field: FieldFacts,
    /// The kind of text editing it supports, derived from the element and not from its role.
    pub editing: EditingKind,
    /// True if a click has an effect although the element is editable or inside editable content, such as a button
    /// in an editor.
    pub reacts_to_click: bool,
    /// Its text content if it is editable; empty for a password.
    pub content: String,
    /// Its resolved link target: an anchor's `href`.
    pub href: Option<String>,
    /// The file name it offers: an anchor's `download` attribute, which may be empty.
    pub download: Option<String>,
    /// True if its own markup, or its form's, reacts to a change of its value.
    pub reacts_to_change: bool,
    /// Its form.
    pub form: OwningForm,
}
