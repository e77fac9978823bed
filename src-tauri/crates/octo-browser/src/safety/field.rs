//! Facts about elements and forms, as the browser gives them: what a page says of itself in roles and names, and
//! what cannot be dressed up (tags, types, targets).

use super::fold::fold;
use std::sync::LazyLock;

/// What a form asks for that must not get away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sensitive {
    /// A card, an account, an amount.
    Payment,
    /// A password.
    Password,
    /// A code for one time.
    Code,
    /// A number of a passport, a tax or social security office.
    Identity,
}

/// A visible field of a form. What is not known stays empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// Its `type` attribute.
    pub kind: String,
    /// Its `autocomplete` attribute.
    pub autocomplete: String,
    /// Its `name` and `id` attributes.
    pub attributes: String,
    /// Its accessible name, placeholder and label.
    pub name: String,
}

/// What names of fields for cards and accounts hold, without gaps and marks.
const PAYMENT: [&str; 40] = [
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
/// What names of password fields hold; a page can show what is typed and still mean a password.
const PASSWORD: [&str; 22] = [
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
/// What names of fields for one-time codes hold.
const CODE: [&str; 12] = [
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
/// What names of fields for numbers of a person hold.
const IDENTITY: [&str; 14] = [
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

/// How a name stands in what a field is called by.
#[derive(Clone, Copy)]
enum Standing {
    /// As a word of its own, as short Latin names do: `ssn` is not in `lessness`.
    Word,
    Anywhere,
}

/// Names as they are compared.
type Folded = Vec<(String, Standing)>;

/// All of them, folded once: a page has many fields.
static NAMES: LazyLock<[(Sensitive, Folded); 4]> = LazyLock::new(|| {
    let folded = |names: &[&str]| {
        let names = names.iter().map(|name| letters(name));
        let standing =
            |name: &str| if name.is_ascii() && name.len() < 6 { Standing::Word } else { Standing::Anywhere };
        names.map(|name| (name.clone(), standing(&name))).collect()
    };
    [
        (Sensitive::Payment, folded(&PAYMENT)),
        (Sensitive::Password, folded(&PASSWORD)),
        (Sensitive::Code, folded(&CODE)),
        (Sensitive::Identity, folded(&IDENTITY)),
    ]
});

impl Field {
    /// What it asks for that must not get away, if anything.
    pub fn sensitive(&self) -> Option<Sensitive> {
        let tokens: Vec<String> = self.autocomplete.split_whitespace().map(str::to_ascii_lowercase).collect();
        let any = |wanted: &dyn Fn(&str) -> bool| tokens.iter().any(|token| wanted(token));
        if any(&|token| token.starts_with("cc-") || token.starts_with("transaction-")) {
            return Some(Sensitive::Payment);
        }
        if self.kind.trim().eq_ignore_ascii_case("password")
            || any(&|token| matches!(token, "current-password" | "new-password"))
        {
            return Some(Sensitive::Password);
        }
        if any(&|token| token == "one-time-code") {
            return Some(Sensitive::Code);
        }
        // Boxes, choices and buttons of such names ask for nothing.
        let kind = self.kind.trim().to_ascii_lowercase();
        if matches!(
            kind.as_str(),
            "checkbox" | "radio" | "button" | "submit" | "reset" | "image" | "hidden" | "search"
        ) {
            return None;
        }
        let texts = [&self.attributes, &self.name].map(|text| letters(text));
        let words: Vec<String> = [&self.attributes, &self.name].iter().flat_map(|text| words(text)).collect();
        let holds = |names: &[(String, Standing)]| {
            names.iter().any(|(name, standing)| match standing {
                Standing::Word => words.contains(name),
                Standing::Anywhere => texts.iter().any(|text| text.contains(name.as_str())),
            })
        };
        NAMES.iter().find_map(|(sensitive, names)| holds(names).then_some(*sensitive))
    }
}

fn letters(text: &str) -> String {
    fold(text).chars().filter(|character| character.is_alphanumeric()).collect()
}

fn words(text: &str) -> Vec<String> {
    fold(text).split(|character: char| !character.is_alphanumeric()).map(str::to_owned).collect()
}

/// A form as far as it matters before something is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Its visible fields.
    pub fields: Vec<Field>,
    /// Its method as written.
    pub method: String,
    /// Where it sends, resolved against the page; empty for the page itself.
    pub action: String,
    /// The accessible names of the buttons that submit it.
    pub submits: Vec<String>,
}

impl Form {
    /// What its fields ask for that must not get away, the weightiest first.
    pub fn sensitive(&self) -> Option<Sensitive> {
        self.fields.iter().filter_map(Field::sensitive).min()
    }
}

/// What is known of the form an element belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InForm {
    /// It could not be found out.
    #[default]
    Unknown,
    /// None.
    None,
    /// This one.
    Form(Form),
}

/// Whether text can be written into an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Editing {
    /// It cannot.
    #[default]
    None,
    /// One line, in a real `input`.
    Line,
    /// Several lines: a real `textarea`, or content that can be edited.
    Lines,
}

/// An element, by what the browser knows of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its role; a page can choose it.
    pub role: String,
    /// Its accessible name; a page chooses it, and the person sees it.
    pub name: String,
    /// Other texts a control can be told by: title, alternative text, value, description, and for one without a
    /// name its hint.
    pub texts: Vec<String>,
    /// Its tag in small letters; a page cannot dress it up.
    pub tag: String,
    /// It as a field: its type, autocomplete and names.
    pub field: Field,
    /// Whether text can be written into it, found from the element and not from its role.
    pub editing: Editing,
    /// Whether a press on it does something although text can be written into it or around it: a button in an editor.
    pub is_pressed: bool,
    /// What is written in it, where text goes; nothing of a password.
    pub holds: String,
    /// Where it leads, resolved: an anchor's `href`.
    pub href: Option<String>,
    /// The name of the file it offers: an anchor's `download` attribute, which may be empty.
    pub download: Option<String>,
    /// Whether its own markup, or its form's, does something when it is changed.
    pub sends_on_change: bool,
    /// Its form.
    pub form: InForm,
}
