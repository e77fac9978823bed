//! Snapshots of captures recorded from a real browser (the pages are in the same folder), and of trees no
//! browser sends.
#![expect(clippy::expect_used, reason = "a test that cannot be set up has failed")]

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use octo_browser::snapshot::{
    CapturedFrame, CapturedSession, ChangeExtent, DocumentId, FindQuery, FrameDisplay, FrameOwner,
    LayoutReply, LineSelection, PageCapture, PagePart, PartError, RefError, Refs, RenderFilter, Snapshot,
    SnapshotArea, TreeReply, Viewport, WHOLE, estimate_tokens,
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

const PAGES: [&str; 9] =
    ["shop", "table", "table-scrolled", "docs", "form", "form-shown", "admin", "admin-menu", "hostile"];

/// A capture as recorded. It is parsed directly into the replies' types: through [`Value`], a long table takes
/// seconds in a test build.
#[derive(Deserialize)]
struct RecordedCapture {
    title: String,
    viewport: RecordedViewport,
    sessions: Vec<RecordedSession>,
    frames: Vec<RecordedFrame>,
}

#[derive(Deserialize)]
struct RecordedViewport {
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
struct RecordedSession {
    session: String,
    scale: f64,
    layout: LayoutReply,
}

#[derive(Deserialize)]
struct RecordedFrame {
    document: String,
    frame: String,
    session: usize,
    url: String,
    origin: String,
    tree: TreeReply,
    owner: Option<RecordedOwner>,
}

#[derive(Deserialize)]
struct RecordedOwner {
    frame: String,
    node: i64,
}

impl From<RecordedCapture> for PageCapture {
    fn from(recorded: RecordedCapture) -> Self {
        let session =
            |it: RecordedSession| CapturedSession { session: it.session, scale: it.scale, layout: it.layout };
        let frame = |it: RecordedFrame| CapturedFrame {
            document: DocumentId(it.document),
            frame: it.frame,
            session: it.session,
            url: it.url,
            origin: it.origin,
            tree: it.tree,
            owner: it.owner.map(|owner| FrameOwner {
                frame: owner.frame,
                node: owner.node,
                inset: (0.0, 0.0),
                display: FrameDisplay::Untransformed,
            }),
        };
        Self {
            title: recorded.title,
            viewport: Viewport { width: recorded.viewport.width, height: recorded.viewport.height },
            sessions: recorded.sessions.into_iter().map(session).collect(),
            frames: recorded.frames.into_iter().map(frame).collect(),
        }
    }
}

fn recorded_capture(name: &str) -> PageCapture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshot/captures/{name}.json.gz"));
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("the recording");
    GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    serde_json::from_str::<RecordedCapture>(&text).expect("a capture").into()
}

fn snapshot(name: &str) -> (Snapshot, Refs) {
    let mut refs = Refs::default();
    (Snapshot::new(&recorded_capture(name), &mut refs), refs)
}

fn full_text(name: &str) -> String {
    snapshot(name).0.render(WHOLE, RenderFilter::default()).text
}

/// Returns the bracketed numbers in a text.
fn refs_in(text: &str) -> Vec<u32> {
    text.split('[').skip(1).filter_map(|remaining| remaining.split_once(']')?.0.parse().ok()).collect()
}

/// Returns the ref of the first target on the page with this label.
fn number_of(text: &str, label: &str) -> u32 {
    let remaining = text.split_once(label).expect(label).1;
    *refs_in(remaining).first().expect("a ref")
}

#[test]
fn pages_render_as_they_look() {
    for page in ["shop", "form", "admin", "hostile"] {
        insta::with_settings!({ snapshot_path => "snapshot/texts", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(page, full_text(page));
        });
    }
}

#[test]
fn printed_references_resolve_and_survive_a_recapture() {
    for page in PAGES {
        let mut refs = Refs::default();
        let capture = recorded_capture(page);
        let rendered = Snapshot::new(&capture, &mut refs).render(WHOLE, RenderFilter::default());
        let second = Snapshot::new(&capture, &mut refs);
        assert_eq!(rendered, second.render(WHOLE, RenderFilter::default()), "{page}");
        for budget in [250, 1_000, 4_000, WHOLE] {
            for number in refs_in(&second.render(budget, RenderFilter::default()).text) {
                assert!(refs.lookup(number).is_ok_and(|node_ref| node_ref.node > 0), "{page}: {number}");
            }
        }
        assert_eq!(
            second.diff(&Snapshot::new(&capture, &mut refs), 500).change,
            ChangeExtent::Nothing,
            "{page}"
        );
    }
}

#[test]
fn the_budget_holds_and_omissions_are_counted() {
    for page in PAGES {
        let (snapshot, _) = snapshot(page);
        let full = snapshot.render(WHOLE, RenderFilter::default());
        assert!(full.omitted.is_empty());
        for budget in [250, 400, 1_000, 4_000] {
            for content in [LineSelection::All, LineSelection::Targets] {
                for area in [SnapshotArea::Page, SnapshotArea::Viewport] {
                    let part = snapshot.render(budget, RenderFilter { content, area });
                    assert!(part.tokens <= budget, "{page}: {} of {budget}", part.tokens);
                    assert_eq!(part.tokens, estimate_tokens(&part.text));
                    if (content, area) == (LineSelection::All, SnapshotArea::Page) {
                        let shown_lines = part.text.lines().count() - part.omitted.len();
                        let missing: usize = part.omitted.iter().map(|left| left.lines).sum();
                        assert_eq!(shown_lines + missing, full.text.lines().count(), "{page} at {budget}");
                    }
                }
            }
        }
    }
}

#[test]
fn no_text_contains_a_secret_even_if_the_page_shows_it() {
    let secrets = ["correct horse", "4111", "737", "482913", "battery staple"];
    let mut refs = Refs::default();
    let before = Snapshot::new(&recorded_capture("form"), &mut refs);
    let visible = Snapshot::new(&recorded_capture("form-shown"), &mut refs);
    for snapshot in [&before, &visible] {
        let texts = [
            snapshot.render(WHOLE, RenderFilter::default()).text,
            snapshot.diff(&before, 2_000).text,
            snapshot.read(&PagePart::Whole, 0, WHOLE).expect("the page").text,
            snapshot.find(&FindQuery { role: "textbox".to_owned(), ..FindQuery::default() }, 2_000).text,
        ];
        for (secret, text) in secrets.iter().flat_map(|secret| texts.iter().map(move |text| (secret, text))) {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(texts[0].contains("Ada Lovelace"));
    }
}

#[test]
fn invisible_content_is_omitted_or_marked() {
    let (snapshot, _) = snapshot("hostile");
    let texts = [full_text("hostile"), snapshot.read(&PagePart::Whole, 0, WHOLE).expect("the page").text];
    for text in texts {
        assert!(!text.contains("HIDDEN"), "{text}");
        for visible_text in [
            "Visible soup text.",
            "Visible gradient.",
            "Visible on picture.",
            "Visible scroll two.",
            "Visible on oklch.",
            "Visible press",
            "Visible outline.",
            "Visible fade.",
            "Visible filter.",
        ] {
            assert!(text.contains(visible_text), "{visible_text} in {text}");
        }
        assert!(text.chars().all(|char| !matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e007f}')));
    }
    for name in ["white", "blue", "fill", "oklch", "p3", "cut"] {
        let name = format!("(in the colour of its background) MARKED-{name}");
        assert!(full_text("hostile").contains(&name), "{name}");
    }
    assert!(full_text("hostile").contains("click \"Visible press\""), "its name is read on any background");
    assert!(!full_text("hostile").contains("background) Visible"));
    assert_eq!(snapshot.hidden_texts(), 19);
}

#[test]
fn a_long_table_is_folded_and_its_rows_are_searchable() {
    let (snapshot, refs) = snapshot("table");
    let text = snapshot.render(4_000, RenderFilter::default());
    assert!(text.tokens < 1_100, "{}", text.tokens);
    let omission = text.omitted.first().expect("rows are left out");
    assert!(refs.lookup(omission.container_ref.expect("a ref to read by")).is_ok());
    let found = snapshot.find(&FindQuery { text: "customer 277".to_owned(), ..FindQuery::default() }, 500);
    assert_eq!((found.matches, found.shown_count), (1, 1));
    assert!(found.text.starts_with("# Customers\n277 | Customer 277 | "), "{}", found.text);
    let buttons = snapshot.find(&FindQuery { text: "delete".to_owned(), role: "button".to_owned() }, 500);
    assert_eq!(buttons.matches, 300);
    let mut start = 0;
    let mut read = String::new();
    while let Some(page) = snapshot.read(&PagePart::Ref(omission.container_ref.expect("a ref")), start, 700) {
        assert!(estimate_tokens(&page.text) <= 700);
        read.push_str(&page.text);
        match page.next {
            Some(next) => start = next,
            None => break,
        }
    }
    assert_eq!(read.lines().filter(|line| line.contains("Customer ")).count(), 300);
}

#[test]
fn a_change_is_a_few_lines_and_keeps_references() {
    let mut refs = Refs::default();
    let before = Snapshot::new(&recorded_capture("admin"), &mut refs);
    let orders = number_of(&before.render(WHOLE, RenderFilter::default()).text, "\"Orders\"");
    let after = Snapshot::new(&recorded_capture("admin-menu"), &mut refs);
    let diff = after.diff(&before, 500);
    assert_eq!(diff.change, ChangeExtent::Lines);
    assert!(diff.text.contains("+ link \"General\""), "{}", diff.text);
    assert!(diff.text.lines().count() <= 3, "{}", diff.text);
    assert_eq!(number_of(&after.render(WHOLE, RenderFilter::default()).text, "\"Orders\""), orders);
    let reverse = before.diff(&after, 500);
    assert!(reverse.text.contains("- link \"General\""), "{}", reverse.text);
}

#[test]
fn a_stale_reference_says_why_and_is_refound_only_if_unique() {
    let mut refs = Refs::default();
    let first = Snapshot::new(&recorded_capture("shop"), &mut refs);
    let text = first.render(WHOLE, RenderFilter::default()).text;
    let (go, more) = (number_of(&text, "button \"Go\""), number_of(&text, "link \"More\""));
    assert_eq!(refs.lookup(99_999), Err(RefError::NeverGiven { number: 99_999 }));
    let mut reloaded = recorded_capture("shop");
    for frame in &mut reloaded.frames {
        frame.document.0.push_str("-again");
    }
    let second = Snapshot::new(&reloaded, &mut refs);
    assert!(matches!(refs.lookup(go), Err(RefError::DocumentGone { known: Some(_), .. })));
    let refound = refs.refind(go, &second).expect("one button of this name");
    assert!(refound > go && refs.lookup(refound).is_ok());
    assert!(refs.refind(more, &second).is_err(), "two links are named so");
    for frame in &mut reloaded.frames {
        frame.document.0.push('x');
        frame.origin = "https://elsewhere.example".to_owned();
    }
    let third = Snapshot::new(&reloaded, &mut refs);
    assert!(refs.refind(go, &third).is_err(), "another site's button is another button");
}

#[test]
fn a_text_of_hundreds_of_parts_is_read_to_its_end() {
    let mut refs = Refs::default();
    let snapshot = Snapshot::new(&recorded_capture("docs"), &mut refs);
    let full = snapshot.read(&PagePart::Whole, 0, WHOLE).expect("the page").text;
    let mut text = String::new();
    let mut parts = 0;
    loop {
        parts += 1;
        let part = snapshot.part(&PagePart::Whole, parts, 40).expect("a part");
        text.push_str(&part.text);
        if part.next.is_none() {
            break;
        }
    }
    assert_eq!(text, full);
    assert!(parts > 200, "{parts}");
    assert_eq!(snapshot.part(&PagePart::Whole, parts + 1, 40), Err(PartError::OutOfRange { parts }));
    assert_eq!(snapshot.part(&PagePart::Whole, usize::MAX, 40), Err(PartError::OutOfRange { parts }));
    assert_eq!(snapshot.part(&PagePart::Ref(u32::MAX), 1, 40), Err(PartError::NotThere));
}

#[test]
fn a_manual_renders_as_markdown() {
    let (snapshot, _) = snapshot("docs");
    let part = snapshot.read(&PagePart::Under("Part 3.2".to_owned()), 0, WHOLE).expect("the heading").text;
    insta::with_settings!({ snapshot_path => "snapshot/texts", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("docs-part", part);
    });
    assert!(snapshot.read(&PagePart::Under("No such heading".to_owned()), 0, WHOLE).is_none());
}

fn synthetic_capture(nodes: Vec<Value>, backends: &[i64], parents: &[i64]) -> PageCapture {
    let count = backends.len();
    let clickable: Vec<usize> = (0..count).step_by(3).collect();
    let mut capture = json!({
        "title": "t", "viewport": { "width": 800, "height": 600 },
        "sessions": [{ "session": "s", "scale": 1, "layout": { "strings": ["DIV", "block", "é"], "documents": [{
            "nodes": { "parentIndex": parents, "nodeType": vec![1; count], "nodeName": vec![0; count],
                "backendNodeId": backends, "isClickable": { "index": clickable } },
            "layout": { "nodeIndex": (0..count).collect::<Vec<_>>(), "styles": vec![[1]; count],
                "bounds": vec![[0, 0, 10, 10]; count] } }] } }],
        "frames": [
            { "document": "d", "frame": "f", "session": 0, "url": "https://a.example/", "origin": "https://a.example",
              "tree": { "nodes": [] } },
            { "document": "e", "frame": "g", "session": 7, "url": "", "origin": "", "tree": { "nodes": [] },
              "owner": { "frame": "g", "node": 1 } }]
    });
    // Moved, to avoid copying a hundred thousand of them.
    capture["frames"][0]["tree"]["nodes"] = Value::Array(nodes);
    serde_json::from_value::<RecordedCapture>(capture).expect("a capture").into()
}

#[test]
fn a_hundred_thousand_levels_do_not_recurse() {
    let count = 100_000;
    let nodes: Vec<Value> = (0..count)
        .map(|index| {
            json!({ "nodeId": index.to_string(), "role": { "value": "generic" }, "name": { "value": "" },
            "backendDOMNodeId": index + 1, "childIds": [(index + 1).to_string()] })
        })
        .collect();
    let backends: Vec<i64> = (1..=count).collect();
    let parents: Vec<i64> = (-1..count - 1).collect();
    let mut refs = Refs::default();
    let snapshot = Snapshot::new(&synthetic_capture(nodes, &backends, &parents), &mut refs);
    assert!(snapshot.render(4_000, RenderFilter::default()).tokens <= 4_000);
    assert!(snapshot.read(&PagePart::Whole, 0, 1_000).is_some());
}

proptest! {
    #[test]
    fn no_tree_breaks_a_snapshot(
        node_specs in prop::collection::vec((0_u32..14, prop::collection::vec(0_u32..16, 0..5), 0_i64..9, 0_usize..8, "[a-cé日|\\[\\]\u{200b}\u{202e} ]{0,40}"), 1..14),
        parents in prop::collection::vec(-3_i64..14, 0..14),
        budget in 0_usize..600,
    ) {
        const ROLES: [&str; 8] = ["generic", "button", "row", "cell", "heading", "StaticText", "list", "textbox"];
        let nodes: Vec<Value> = node_specs
            .iter()
            .map(|(id, children, backend, role, name)| json!({ "nodeId": id.to_string(), "backendDOMNodeId": backend,
                "role": { "value": ROLES[*role] }, "name": { "value": name }, "value": { "value": "secret-value" },
                "childIds": children.iter().map(ToString::to_string).collect::<Vec<_>>() }))
            .collect();
        let backends: Vec<i64> = (0..parents.len()).map(|index| i64::try_from(index).unwrap_or_default() % 7).collect();
        let mut refs = Refs::default();
        let capture = synthetic_capture(nodes, &backends, &parents);
        let first = Snapshot::new(&capture, &mut refs);
        let second = Snapshot::new(&capture, &mut refs);
        prop_assert_eq!(second.diff(&first, 300).change, ChangeExtent::Nothing);
        let text = second.render(budget, RenderFilter::default());
        prop_assert!(text.tokens <= budget.max(250));
        let unseen = text.text.contains(['\u{200b}', '\u{202e}']);
        prop_assert!(!unseen);
        let mut start = 0;
        while let Some(page) = second.read(&PagePart::Whole, start, 20) {
            match page.next {
                Some(next) => { prop_assert!(next > start); start = next }
                None => break,
            }
        }
        second.find(&FindQuery { text: "a".to_owned(), ..FindQuery::default() }, 100);
    }
}

#[test]
fn numbers_are_unique_and_keep_their_place() {
    let mut refs = Refs::default();
    let mut earlier = Vec::new();
    // Every process counts its nodes from the start: six copies of one page are six pages of equal nodes.
    for name in ["a", "b", "c", "d", "e", "f"] {
        let origin = format!("https://{name}.example");
        let mut capture = recorded_capture("form");
        let root = capture.frames.first_mut().expect("a page");
        root.document = DocumentId(name.to_owned());
        root.origin.clone_from(&origin);
        capture.frames.truncate(1);
        let numbers =
            refs_in(&Snapshot::new(&capture, &mut refs).render(WHOLE, RenderFilter::default()).text);
        assert!(numbers.len() > 5, "{numbers:?}");
        for number in &numbers {
            let node_ref = refs.lookup(*number).expect("a place");
            assert_eq!((node_ref.document.0.as_str(), node_ref.origin.as_str()), (name, origin.as_str()));
            assert!(!earlier.contains(number), "{number} was another page's");
        }
        for previous in &earlier {
            assert!(
                matches!(refs.lookup(*previous), Err(RefError::DocumentGone { .. })),
                "{previous} on page {name}"
            );
        }
        earlier.extend(numbers);
    }
}
