//! Splits an answer into posts that a chat service accepts.
//!
//! Octo's answers are Markdown. A service has a small markup of its own and a maximum length of a post. An
//! answer is split between its blocks (paragraphs, lists, blocks of code), and inside a block only if that
//! alone is too long.

use crate::text::{TextBlock, parse};

/// Maximum length of a post, in UTF-16 code units (Telegram: "1-4096 characters after entities parsing"). Octo
/// also counts its markup, so no post ever exceeds it.
const MAX_UNITS: usize = 4_096;
/// Maximum posts of one answer; the rest can be read in Octo.
const MAX_POSTS: usize = 5;

/// A message to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Post {
    /// Its text with the service's markup.
    pub rich: String,
    /// The same text without markup: a fallback if the service rejects the markup.
    pub plain: String,
    /// Buttons below it, one per row.
    pub buttons: Vec<Button>,
    /// Whether it arrives without a sound.
    pub silent: bool,
}

/// A button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// Its label.
    pub label: String,
    /// Data that the service returns when it is pressed. At most 64 bytes (Telegram's limit).
    pub data: String,
}

impl Post {
    /// Creates a post of text without any markup.
    pub fn plain(text: impl Into<String>) -> Self {
        let plain = text.into();
        Self { rich: crate::text::escape(&plain), plain, ..Self::default() }
    }
}

/// Splits an answer into posts, in order; `cut_note` is appended if there are too many. Empty for an answer without
/// text.
pub fn posts(markdown: &str, cut_note: &str) -> Vec<Post> {
    let mut list: Vec<Post> = Vec::new();
    for part in parse(markdown).iter().flat_map(|part| part.split(MAX_UNITS)) {
        let TextBlock { rich, plain } = part;
        match list.last_mut() {
            Some(last) if units(&last.rich) + 2 + units(&rich) <= MAX_UNITS => {
                last.rich.push_str("\n\n");
                last.rich.push_str(&rich);
                last.plain.push_str("\n\n");
                last.plain.push_str(&plain);
            }
            _ => list.push(Post { rich, plain, ..Post::default() }),
        }
    }
    if list.len() > MAX_POSTS {
        list.truncate(MAX_POSTS);
        list.push(Post::plain(cut_note));
    }
    list
}

/// Returns the length of a text as the service counts it.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rich(markdown: &str) -> Vec<String> {
        posts(markdown, "more in Octo").into_iter().map(|post| post.rich).collect()
    }

    #[test]
    fn markdown_becomes_the_services_markup() {
        for (markdown, expected) in [
            ("Plain & <b>simple</b>.", "Plain &amp; &lt;b&gt;simple&lt;/b&gt;."),
            ("**bold** *it* ~~gone~~ `a<b`", "<b>bold</b> <i>it</i> <s>gone</s> <code>a&lt;b</code>"),
            ("# Title\n\ntext", "<b>Title</b>\n\ntext"),
            ("- one\n- two\n  - deep", "• one\n• two\n    • deep"),
            ("3. three\n4. four", "3. three\n4. four"),
            ("> said", "<blockquote>said</blockquote>"),
            (
                "```rust\nfn a() -> &str {}\n```",
                "<pre><code class=\"language-rust\">fn a() -&gt; &amp;str {}</code></pre>",
            ),
            ("```\nls\n```", "<pre>ls</pre>"),
            (
                "[site](https://a.example/?a=1&b=\"2\")",
                "<a href=\"https://a.example/?a=1&amp;b=&quot;2&quot;\">site</a>",
            ),
            ("[file](/home/me/x.md)", "file (/home/me/x.md)"),
            ("![chart](chart.png)", "chart (chart.png)"),
            ("| a | b |\n|---|---|\n| 1 | 2 |", "<pre>a | b\n1 | 2</pre>"),
            ("- [x] done\n- [ ] open", "• ☑ done\n• ☐ open"),
            ("one\ntwo  \nthree", "one\ntwo\nthree"),
        ] {
            assert_eq!(rich(markdown), [expected], "{markdown}");
        }
        assert!(rich("  \n").is_empty());
    }

    #[test]
    fn a_long_answer_is_split_between_its_parts() {
        let paragraph = "word ".repeat(500);
        let rich_posts = rich(&[paragraph.as_str(); 3].join("\n\n"));
        assert_eq!(rich_posts.len(), 3);
        assert!(rich_posts.iter().all(|post| post.starts_with("word") && post.ends_with("word")));
        let truncated = posts(&[paragraph.as_str(); 9].join("\n\n"), "more in Octo");
        assert_eq!(truncated.len(), MAX_POSTS + 1);
        assert_eq!(truncated.last().map(|post| post.plain.as_str()), Some("more in Octo"));
    }

    #[test]
    fn a_long_block_of_code_stays_code_in_each_post() {
        let code = (0..700).map(|number| format!("let line_{number} = {number};\n")).collect::<String>();
        let rendered = rich(&format!("```rust\n{code}```"));
        assert!(rendered.len() > 1);
        for post in &rendered {
            assert!(post.starts_with("<pre>") && post.ends_with("</pre>"), "{post}");
            assert!(!post.contains("= \n"), "a line is whole");
        }
    }

    proptest! {
        /// For any model output: no post exceeds the limit, markup is closed in the correct order, and up to
        /// the maximum number of posts no word is lost.
        #[test]
        fn posts_are_well_formed_and_lose_no_text(markdown in "(?s)([a-z<>&*_`#|~\\[\\]()!> \n-]|😀|字){0,3000}") {
            let sent = posts(&markdown, "more");
            for post in &sent {
                prop_assert!(units(&post.rich) <= MAX_UNITS);
                prop_assert!(is_closed(&post.rich), "{}", post.rich);
            }
            if sent.len() <= MAX_POSTS {
                let letters = |text: &str| text.chars().filter(|c| c.is_ascii_lowercase() || *c == '字').count();
                let expected: usize = letters(&markdown);
                let actual: usize = sent.iter().map(|post| letters(&post.plain)).sum();
                // The language of a code block and the text of a link reference are not part of the answer's
                // text.
                if !markdown.contains(['`', '~', '[']) {
                    prop_assert_eq!(expected, actual, "{:?}", sent);
                }
            }
        }
    }

    fn is_closed(rich: &str) -> bool {
        let mut open = Vec::new();
        let mut remaining = rich;
        while let Some((_, after)) = remaining.split_once('<') {
            let Some((tag, following)) = after.split_once('>') else { return false };
            match tag.strip_prefix('/') {
                Some(name) if open.pop() != Some(name) => return false,
                Some(_) => {}
                None => open.push(tag.split(' ').next().unwrap_or_default()),
            }
            remaining = following;
        }
        open.is_empty()
    }
}
