use super::*;

fn page(html: &str) -> ExtractedPage {
    read(html, &Url::parse("https://a.example/docs/page.html").unwrap())
}

#[test]
fn the_main_content_is_what_the_page_says_it_is() {
    for (name, html) in [
        (
            "main",
            "<body><nav>Menu</nav><header>Top</header><main><h1>T</h1><p>Text</p></main><footer>End</footer>",
        ),
        ("role", "<body><div>Menu</div><div role=main><h1>T</h1><p>Text</p></div><div>End</div>"),
        ("article", "<body><div>Menu</div><article><header><h1>T</h1></header><p>Text</p></article>End"),
        (
            "body",
            "<body><nav>Menu</nav><header>Top</header><h1>T</h1><p>Text</p><aside>Side</aside><footer>End</footer>",
        ),
        ("empty main", "<body><main> </main><h1>T</h1><p>Text</p>"),
        (
            "noise",
            "<body><main><script>evil()</script><style>p{}</style><h1>T</h1><template>x</template>\
             <p hidden>H</p><p aria-hidden=true>H</p><p style='display: none'>H</p><!-- c --><p>Text</p>\
             <noscript>No</noscript><svg><text>S</text></svg><iframe src=x></iframe></main>",
        ),
    ] {
        assert_eq!(page(html).markdown, "# T\n\nText", "{name}");
    }
    let list = page("<body><article><p>One</p></article><article><p>Two</p></article>");
    assert_eq!(list.markdown, "One\n\nTwo", "several articles are a list of things");
}

#[test]
fn titles_descriptions_and_links() {
    let read = page(
        r##"<html><head><title> A
          title </title><meta name="Description" content="What &amp; why"><base href="/base/"></head><body><main>
          <a href="x.html">rel</a> <a href="//b.example/y">other</a> <a href="#part">part</a>
          <a href="javascript:alert(1)">bad</a> <img src="p.png" alt="pic"><img src="data:image/png;base64,AAAA" alt="inline">
          </main></body></html>"##,
    );
    assert_eq!(read.title.as_deref(), Some("A title"));
    assert_eq!(read.description.as_deref(), Some("What & why"));
    for part in [
        "[rel](https://a.example/base/x.html)",
        "[other](https://b.example/y)",
        "[part](https://a.example/base/#part)",
        "![pic](https://a.example/base/p.png)",
    ] {
        assert!(read.markdown.contains(part), "{part}: {}", read.markdown);
    }
    assert!(read.markdown.contains("bad") && !read.markdown.contains("javascript"));
    assert!(!read.markdown.contains("base64"));
    let social =
        page("<meta property='og:title' content='T'><meta property='og:description' content='D'><p>x");
    assert_eq!((social.title.as_deref(), social.description.as_deref()), (Some("T"), Some("D")));
    assert_eq!(page(""), ExtractedPage::default());
}

#[test]
fn markup_becomes_markdown() {
    let read = page(
        "<main><h2>H</h2><ul><li>a</li><li><b>b</b></li></ul><pre><code class='language-rust'>let x = 1;\n</code></pre>\
         <table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table><p>x &lt; y &amp; z</p></main>",
    );
    for part in ["## H", "a", "**b**", "```rust\nlet x = 1;\n```", "| k", "| 1", "x < y & z"] {
        assert!(read.markdown.contains(part), "{part}: {}", read.markdown);
    }
}

#[test]
fn a_page_nested_without_end_is_read_all_the_same() {
    let nested = format!("<main><p>Top</p>{}deepest{}</main>", "<div>".repeat(900), "</div>".repeat(900));
    let read = page(&nested);
    assert!(read.markdown.contains("Top") && !read.markdown.contains("deepest"));
    let deeper = format!("<p>Top</p>{}deepest", "<div>".repeat(200_000));
    assert_eq!(page(&deeper).markdown.split_whitespace().collect::<Vec<_>>(), ["Top", "deepest"]);
    let list = format!("<main>{}</main>", "<p>x<li>y<br>".repeat(3_000));
    assert!(count_open(&list) < 3, "what needs no end is not open");
    for tag in ["b", "span", "ul><li", "table><tr><td", "blockquote"] {
        let unclosed = format!("<p>Top</p>{}", format!("<{tag}>").repeat(5_000));
        assert!(page(&unclosed).markdown.contains("Top"), "{tag}");
    }
}
