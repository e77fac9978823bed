//! A session as one page: no script, no external content, pictures embedded.

use crate::{ExportWords, ExportedSession, format_time, pieces::ExportPiece};
use base64::{Engine, engine::general_purpose::STANDARD};
use octo_protocol::ExportKind;

/// The content security policy of the page: a browser loads, runs and sends nothing, whatever the texts
/// contain.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--quiet:#8881}\
body{font:15px/1.55 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}\
h1{font-size:1.4rem;margin:0 0 .5rem}h2{font-size:.8rem;font-weight:600;margin:0 0 .25rem;opacity:.75}\
dl{display:grid;grid-template-columns:auto 1fr;gap:.1rem .75rem;margin:0 0 1.5rem;font-size:.85rem}dt{opacity:.7}dd{margin:0}\
section{padding:.75rem 0;border-top:1px solid var(--line)}section.undone{opacity:.55}\
p{margin:0;white-space:pre-wrap}.asked p{padding:.5rem .75rem;background:var(--quiet);border-radius:8px}\
pre{margin:0;padding:.5rem .75rem;background:var(--quiet);border-radius:8px;white-space:pre-wrap;max-height:30rem;overflow:auto;font:12.5px/1.5 ui-monospace,monospace}\
img{max-width:100%;margin-top:.5rem;border-radius:6px}figure{margin:0}figcaption{font-size:.8rem;opacity:.7}";

/// Returns the session as one page.
pub(crate) fn to_html(
    title: &str,
    session: &ExportedSession,
    pieces: &[ExportPiece],
    words: &ExportWords,
) -> String {
    let title = if title.is_empty() { words.say("session.untitled") } else { title.to_owned() };
    let language = words.say("export.language");
    let mut page = format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{}</h1>\n<dl>",
        escaped(&language),
        escaped(&title),
        escaped(&title),
    );
    for (name, value) in session.session_details(words) {
        page.push_str(&format!("<dt>{}</dt><dd>{}</dd>", escaped(&name), escaped(&value)));
    }
    page.push_str("</dl>\n");
    for piece in pieces {
        page.push_str(&section(piece, session, words));
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn section(piece: &ExportPiece, session: &ExportedSession, words: &ExportWords) -> String {
    let class = match piece.kind {
        ExportKind::Asked => "asked",
        ExportKind::Answers => "answer",
        ExportKind::Reasoning => "thought",
        ExportKind::Calls => "call",
        ExportKind::Notices => "notice",
        ExportKind::Summaries => "summary",
        ExportKind::Pictures | ExportKind::Files => "attached",
    };
    let undone = if piece.undone { " undone" } else { "" };
    let mut heading = format!("{} · {}", piece.heading, format_time(piece.at));
    if piece.undone {
        heading.push_str(&format!(" · {}", words.say("export.undone")));
    }
    let mut section = format!("<section class=\"{class}{undone}\"><h2>{}</h2>", escaped(&heading));
    if !piece.text.is_empty() {
        let tag = match piece.kind {
            ExportKind::Calls | ExportKind::Notices | ExportKind::Files => "pre",
            ExportKind::Asked
            | ExportKind::Answers
            | ExportKind::Reasoning
            | ExportKind::Summaries
            | ExportKind::Pictures => "p",
        };
        section.push_str(&format!("<{tag}>{}</{tag}>", escaped(&piece.text)));
    }
    for (blob, name) in &piece.pictures {
        let caption = format!("<figcaption>{}</figcaption>", escaped(name));
        let picture = session.pictures.get(blob).and_then(|bytes| {
            let media = super::file::picture_type(bytes)?;
            Some(format!(
                "<img alt=\"{}\" src=\"data:{media};base64,{}\">",
                escaped(name),
                STANDARD.encode(bytes)
            ))
        });
        section.push_str(&format!("<figure>{}{caption}</figure>", picture.unwrap_or_default()));
    }
    section.push_str("</section>\n");
    section
}

/// Escapes a text for an element or an attribute. Control characters that no browser shows are removed.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => {}
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let text = "<script>alert(\"1\")</script>&amp;' onload=x\u{0}\u{1b}[1m";
        let safe = escaped(text);
        assert_eq!(safe, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;&#39; onload=x[1m");
    }
}
