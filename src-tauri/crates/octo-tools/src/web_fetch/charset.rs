//! Decodes the characters of a page.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Bytes of a page searched for its declared charset, as in the HTML standard.
const HEAD: usize = 1_024;

/// Decodes the text of a page. In order of precedence: a byte order mark, the server's charset, the page's
/// charset, UTF-8 if the bytes are valid, otherwise the charset of old western pages.
pub(super) fn decode(bytes: &[u8], content_type: &str, is_html: bool) -> String {
    let encoding = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| find_by_name(&content_type.to_ascii_lowercase()))
        .or_else(|| is_html.then(|| declared_in_page(bytes)).flatten())
        .unwrap_or_else(|| if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 });
    encoding.decode(bytes).0.into_owned()
}

/// Returns the encoding named after `charset=`.
fn find_by_name(text: &str) -> Option<&'static Encoding> {
    let (_, after) = text.split_once("charset")?;
    let label = after.trim_start().strip_prefix('=')?.trim_start();
    let label = label.trim_start_matches(['"', '\'']);
    let end = label.find(['"', '\'', ';', ' ', '>', '/']).unwrap_or(label.len());
    Encoding::for_label(label.get(..end)?.as_bytes())
}

fn declared_in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..HEAD).unwrap_or(bytes)).to_ascii_lowercase();
    head.split("<meta").skip(1).find_map(|tag| find_by_name(tag.split('>').next()?)).map(|encoding| {
        // A page whose declaration could be read is not in UTF-16, whatever it declares.
        if encoding.is_ascii_compatible() { encoding } else { UTF_8 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_found_by_mark_header_page_or_guess() {
        let gbk = encoding_rs::GBK.encode("中文").0.into_owned();
        let page = |meta: &str, body: &[u8]| {
            let mut page = format!("<html><head>{meta}</head>").into_bytes();
            page.extend_from_slice(body);
            page
        };
        let utf16: Vec<u8> =
            [0xFF, 0xFE].into_iter().chain("中文".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        for (bytes, header, is_html, expected) in [
            ("中文".as_bytes().to_vec(), "text/html; charset=utf-8", true, "中文"),
            (gbk.clone(), "text/html; charset=GBK", true, "中文"),
            (gbk.clone(), "text/html; charset=\"gb2312\"; x=y", true, "中文"),
            (page("<meta charset=gbk>", &gbk), "text/html", true, "中文"),
            (
                page(r#"<META http-equiv="Content-Type" content="text/html; charset=GB18030">"#, &gbk),
                "text/html",
                true,
                "中文",
            ),
            (page("<meta name=viewport><meta charset='gbk'/>", &gbk), "", true, "中文"),
            (utf16, "text/html; charset=gbk", true, "中文"),
            (b"\xEF\xBB\xBFa".to_vec(), "text/plain; charset=latin1", false, "a"),
            (b"caf\xE9".to_vec(), "text/html", true, "café"),
            ("café".as_bytes().to_vec(), "text/plain", false, "café"),
            (page("<meta charset=utf-16le>", "é".as_bytes()), "text/html", true, "é"),
            (page("<meta charset=no-such>", "é".as_bytes()), "text/html", true, "é"),
            // The server's charset takes precedence over the page's.
            (page("<meta charset=gbk>", "é".as_bytes()), "text/html; charset=utf-8", true, "é"),
        ] {
            let text = decode(&bytes, header, is_html);
            assert!(text.ends_with(expected), "{header}: {text}");
        }
    }
}
