use crate::testing::Bench;
use image::{DynamicImage, ImageFormat, RgbImage};
use octo_protocol::ToolView;
use serde_json::json;
use std::io::{Cursor, Write};

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn text_comes_with_its_line_numbers() {
    let bench = Bench::new();
    bench.put("a.txt", "one\ntwo\n");
    let output = bench.call("file_reader", json!({"path": "a.txt"})).unwrap();
    assert_eq!(output.text, "File: a.txt (2 lines)\n\n     1\tone\n     2\ttwo\n");
    let path = bench.folder.join("a.txt").to_string_lossy().into_owned();
    assert_eq!(
        output.view,
        ToolView::Text { path, first_line: 1, last_line: 2, total_lines: Some(2), text: "one\ntwo\n".into() }
    );
    bench.put("empty", "");
    assert_eq!(bench.text("file_reader", json!({"path": "empty"})), "File: empty (empty)\n");
    bench.put("no_end", "a\nb");
    assert!(bench.text("file_reader", json!({"path": "no_end"})).starts_with("File: no_end (2 lines)"));
    bench.put("crlf", "\u{feff}a\r\nb\r\n");
    assert_eq!(
        bench.text("file_reader", json!({"path": "crlf"})),
        "File: crlf (2 lines)\n\n     1\ta\n     2\tb\n"
    );
}

#[test]
fn ranges_return_the_requested_lines() {
    let bench = Bench::new();
    bench.put("ten", numbered(10));
    bench.put("hundred", numbered(100));
    let lines = |arguments| -> Vec<String> {
        let text = bench.text("file_reader", arguments);
        text.lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(number, _)| number.trim().to_owned())
            .collect()
    };
    assert_eq!(lines(json!({"path": "ten", "start_line": 3, "end_line": 5})), ["3", "4", "5"]);
    assert_eq!(lines(json!({"path": "ten", "start_line": 9})), ["9", "10"]);
    assert_eq!(lines(json!({"path": "ten", "end_line": "2"})), ["1", "2"]);
    assert_eq!(lines(json!({"path": "ten", "start_line": 2, "max_lines": 2})), ["2", "3"]);
    assert_eq!(lines(json!({"path": "ten", "start_line": 10, "end_line": 99})), ["10"]);
    let text = bench.text("file_reader", json!({"path": "hundred", "max_lines": 10}));
    assert!(
        text.starts_with("File: hundred (lines 1-10 of 100)")
            && text.ends_with("[More follows: start_line 11.]\n"),
        "{text}"
    );
    for (arguments, expected) in [
        (
            json!({"path": "ten", "start_line": 100, "end_line": 200}),
            "start_line 100 exceeds total lines (10)",
        ),
        (json!({"path": "ten", "start_line": 11}), "start_line 11 exceeds total lines (10)"),
        (json!({"path": "ten", "start_line": 8, "end_line": 5}), "start_line 8 > end_line 5"),
        (
            json!({"path": "ten", "max_lines": "many"}),
            "`max_lines` must be an integer from 0, got the string \"many\"",
        ),
        (json!({"path": "none"}), "does not exist"),
        (json!({"path": "../out/x"}), "outside what this call may read"),
        (json!({"path": ".env"}), "outside what this call may read"),
    ] {
        let error = bench.error("file_reader", arguments.clone());
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}

#[test]
fn long_text_is_cut_at_whole_lines_and_says_how_to_continue() {
    let bench = Bench::new();
    bench.put("wide", format!("{}\n", "x".repeat(900)).repeat(200));
    let text = bench.text("file_reader", json!({"path": "wide"}));
    assert!(text.len() < 62_000, "{}", text.len());
    let last_line =
        text.lines().rev().find_map(|line| line.split_once('\t')).unwrap().0.trim().parse::<u32>().unwrap();
    assert!(text.contains(&format!("Go on with start_line {}.", last_line + 1)), "{last_line}");

    bench.put("long", format!("{}\nshort\n", "é".repeat(5_000)));
    let text = bench.text("file_reader", json!({"path": "long"}));
    let first_line = text.lines().nth(2).unwrap();
    assert!(
        first_line.ends_with("é… [line cut: 10000 bytes]") && first_line.chars().count() < 1_050,
        "{first_line}"
    );
    assert!(text.contains("     2\tshort"));
    bench.put("exact", format!("{}\n", "é".repeat(1_000)));
    assert!(!bench.text("file_reader", json!({"path": "exact"})).contains("cut"));
}

#[test]
fn a_range_of_a_huge_file_is_streamed() {
    let bench = Bench::new();
    let mut file = std::io::BufWriter::new(std::fs::File::create(bench.folder.join("big.log")).unwrap());
    for n in 1..=700_000 {
        writeln!(file, "{n:08} nothing to see here").unwrap();
    }
    drop(file);
    let text =
        bench.text("file_reader", json!({"path": "big.log", "start_line": 100_001, "end_line": 100_002}));
    assert!(text.starts_with("File: big.log (lines 100001-100002 of many)"), "{text}");
    assert!(text.contains("100002\t00100002 nothing"));
    let text = bench.text("file_reader", json!({"path": "big.log", "start_line": 700_000}));
    assert!(text.contains("(lines 700000-700000 of 700000)") && !text.contains("More follows"), "{text}");
    bench.context.cancel.cancel();
    assert!(bench.error("file_reader", json!({"path": "big.log"})).contains("stopped"));
}

#[test]
fn bytes_that_are_not_utf8() {
    let bench = Bench::new();
    bench.put("latin1", b"caf\xe9\nok\n");
    let text = bench.text("file_reader", json!({"path": "latin1"}));
    assert!(
        text.contains("     1\tcaf\u{FFFD}\n     2\tok\n[1 of these lines are not valid UTF-8"),
        "{text}"
    );
    let utf16: Vec<u8> =
        [0xFE, 0xFF].into_iter().chain("grüße\n".encode_utf16().flat_map(u16::to_be_bytes)).collect();
    bench.put("utf16", utf16);
    assert!(bench.text("file_reader", json!({"path": "utf16"})).contains("     1\tgrüße\n"));
    bench.put("svg.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n");
    assert!(bench.text("file_reader", json!({"path": "svg.svg"})).contains("<svg"));
    for (name, bytes, description) in [
        ("x.bin", b"ab\0cd".to_vec(), "binary data"),
        ("x.7z", b"7z\xbc\xaf\x27\x1c\0\x04".to_vec(), "an archive"),
        ("x", b"\x7fELF\x02\x01\x01\0".to_vec(), "a program"),
    ] {
        bench.put(name, bytes);
        let error = bench.error("file_reader", json!({"path": name}));
        assert!(error.contains("Binary file detected") && error.contains(description), "{name}: {error}");
    }
}

#[test]
fn folders_are_listed_folders_first() {
    let bench = Bench::new();
    bench.put("dir/zzz/x", "");
    bench.put("dir/aaa.txt", "");
    let output = bench.call("read", json!({"path": "dir"})).unwrap();
    assert_eq!(output.text, "Folder: dir (1 folders, 1 files)\n\n  zzz/\n  aaa.txt");
    assert!(
        matches!(output.view, ToolView::Folder { entries, total: 2, .. } if entries == ["zzz/", "aaa.txt"])
    );
    for n in 0..600 {
        bench.put(&format!("many/{n}"), "");
    }
    let text = bench.text("file_reader", json!({"path": "many"}));
    assert!(text.ends_with("(500 of 600 entries; use glob to find others)"), "{text}");
}

fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let image = RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, (x ^ y) as u8]));
    let mut bytes = Vec::new();
    DynamicImage::ImageRgb8(image).write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

#[test]
fn pictures_become_image_blocks_that_fit() {
    let bench = Bench::new();
    let small_picture = picture(40, 20, ImageFormat::Png);
    bench.put("small.png", &small_picture);
    let output = bench.call("file_reader", json!({"path": "small.png"})).unwrap();
    assert_eq!(output.text, "Picture: small.png (image/png, 40x20)");
    assert_eq!(
        (output.images.len(), output.images[0].media_type.as_str(), output.images[0].name.as_str()),
        (1, "image/png", "small.png")
    );
    assert_eq!(
        bench.context.blobs.get(&output.images[0].blob).unwrap(),
        small_picture,
        "a picture that fits is not touched"
    );

    for (name, format, media_type) in
        [("big.png", ImageFormat::Png, "image/png"), ("big.jpg", ImageFormat::Jpeg, "image/jpeg")]
    {
        bench.put(name, picture(1_960, 50, format));
        let output = bench.call("file_reader", json!({"path": name})).unwrap();
        assert_eq!(output.images[0].media_type, media_type);
        let shown_picture =
            image::load_from_memory(&bench.context.blobs.get(&output.images[0].blob).unwrap()).unwrap();
        assert_eq!((shown_picture.width(), shown_picture.height()), (1_568, 40));
        assert!(output.text.ends_with("shown at 1568x40"), "{}", output.text);
    }
    bench.put("named.txt", &small_picture);
    assert_eq!(
        bench.call("file_reader", json!({"path": "named.txt"})).unwrap().images.len(),
        1,
        "bytes decide, not names"
    );
}

#[test]
fn a_broken_picture_never_reaches_a_model() {
    let bench = Bench::new();
    let complete = picture(100, 100, ImageFormat::Png);
    bench.put("cut.png", &complete[..complete.len() / 2]);
    assert!(bench.error("file_reader", json!({"path": "cut.png"})).contains("cannot be shown"));
}
