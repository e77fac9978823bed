//! Formats of git's output.

/// The fields of formats, without their modifiers. `%(raw)` prints the object of a reference, which may be a file, and
/// `%(signature)` starts a verifier.
#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "HEAD", "ahead-behind", "align", "author", "authordate", "authoremail", "authorname", "body", "color", "committer",
    "committerdate", "committeremail", "committername", "contents", "creator", "creatordate", "decorate", "deltabase",
    "describe", "else", "end", "if", "is-base", "numparent", "object", "objectname", "objectsize", "objecttype", "parent",
    "push", "refname", "subject", "symref", "tag", "tagger", "taggerdate", "taggeremail", "taggername", "then", "trailers",
    "tree", "type", "upstream", "version", "worktreepath",
];

/// Returns whether a format starts no program and prints no file: its fields are known, and it has no `%G…`, which
/// starts the verifier. The repository's settings may define other names than git's as such a format.
pub(super) fn is_harmless(format: &str) -> bool {
    const NAMES: &[&str] = &["oneline", "short", "medium", "full", "fuller", "reference", "email", "raw"];
    if NAMES.contains(&format) {
        return true;
    }
    let text = format.strip_prefix("format:").or_else(|| format.strip_prefix("tformat:")).unwrap_or(format);
    let mut placeholders = text.split('%');
    placeholders.next();
    text.contains('%')
        && !text.contains("signature")
        && placeholders.all(|placeholder| {
            let placeholder = placeholder.trim_start_matches(['+', '-', ' ']);
            match placeholder.strip_prefix('(') {
                Some(field) => field.split_once(')').is_some_and(|(field, _)| is_field(field)),
                None => !placeholder.starts_with('G'),
            }
        })
}

/// Returns whether a sort key is a known field.
pub(super) fn is_harmless_key(key: &str) -> bool {
    let key = key.strip_prefix('-').unwrap_or(key);
    let key = key.strip_prefix("version:").or_else(|| key.strip_prefix("v:")).unwrap_or(key);
    is_field(key) && !key.contains("signature")
}

/// Returns whether a field is known; `*` makes it that of a tag's object.
fn is_field(field: &str) -> bool {
    let field = field.strip_prefix('*').unwrap_or(field);
    let name = field.split([':', '=']).next().unwrap_or(field);
    FIELDS.contains(&name)
}
