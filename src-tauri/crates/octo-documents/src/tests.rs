use crate::{DocumentError, Format, child};
use std::io::{Cursor, Write};
use zip::{ZipWriter, write::SimpleFileOptions};

fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read(format: Format, bytes: &[u8]) -> Result<String, DocumentError> {
    let mut text = Vec::new();
    child::read(format, Cursor::new(bytes), &mut text)?;
    Ok(String::from_utf8(text).unwrap())
}

/// Builds a minimal one-page PDF with these lines; its cross-references are correct.
fn pdf(lines: &[&str]) -> Vec<u8> {
    let operators: String = lines.iter().map(|line| format!("({line}) Tj T*\n")).collect();
    let stream = format!("BT /F1 12 Tf 14 TL 72 720 Td\n{operators}ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", index + 1).as_bytes());
    }
    let start = bytes.len();
    let table: String = offsets.iter().map(|offset| format!("{offset:010} 00000 n \n")).collect();
    let end = format!(
        "xref\n0 {0}\n0000000000 65535 f \n{table}trailer\n<< /Size {0} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    bytes.extend_from_slice(end.as_bytes());
    bytes
}

#[test]
fn a_pdf_page_by_page() {
    let text = read(Format::Pdf, &pdf(&["The quick brown fox", "jumps over the dog"])).unwrap();
    assert_eq!(text, "## Page 1\n\nThe quick brown fox\njumps over the dog\n");
    let scan = read(Format::Pdf, &pdf(&["x"])).unwrap_err();
    assert!(matches!(scan, DocumentError::NoText(_)), "{scan}");
    for broken in [&b"%PDF-1.4\n"[..], b"%PDF-1.7\n%\xe2\xe3 xref trailer", b"hello"] {
        assert!(matches!(read(Format::Pdf, broken), Err(DocumentError::Broken(_))));
    }
}

const WORD: &str = r#"<?xml version="1.0"?><w:document xmlns:w="w" xmlns:r="r" xmlns:mc="mc"><w:body>
<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>Report</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Ueberschrift2"/></w:pPr><w:r><w:t>Part &amp; whole</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Plain </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">bold </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>words</w:t></w:r><w:r><w:rPr><w:b w:val="0"/></w:rPr><w:t>, &#x4E2D;.</w:t></w:r><w:r><w:delText>gone</w:delText></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
<w:p><w:hyperlink r:id="rId9"><w:r><w:t>a link</w:t></w:r></w:hyperlink></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>one</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>one a</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>k|1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>v</w:t></w:r></w:p><w:p><w:r><w:t>w</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p/></w:tc><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>ner</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>
<w:p><mc:AlternateContent><mc:Choice><w:r><w:t>new</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>old</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>
</w:body></w:document>"#;

#[test]
fn a_word_document_as_markdown() {
    let bytes = zip(&[
        ("word/document.xml", WORD),
        (
            "word/styles.xml",
            r#"<w:styles><w:style w:styleId="Title"><w:name w:val="Title"/></w:style>
            <w:style w:styleId="Ueberschrift2"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>"#,
        ),
        (
            "word/numbering.xml",
            r#"<w:numbering><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
            <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
            <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num></w:numbering>"#,
        ),
        (
            "word/_rels/document.xml.rels",
            r#"<Relationships><Relationship Id="rId9" Type="t/hyperlink" Target="https://a.example/" TargetMode="External"/></Relationships>"#,
        ),
    ]);
    let expected = "\n# Report\n\n## Part & whole\n\nPlain **bold** **words**, 中.\n\n[a link](https://a.example/)\n\
        \n1. one\n  - one a\n\n| k\\|1 | v<br>w |\n| --- | --- |\n|  | in / ner |\n\nnew\n";
    assert_eq!(read(Format::Word, &bytes).unwrap(), expected);
}

#[test]
fn a_presentation_slide_by_slide() {
    let shape_xml = |kind: &str, text: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p>\
             <a:p><a:pPr lvl=\"1\"/><a:r><a:t>below</a:t></a:r></a:p></p:txBody></p:sp>"
        )
    };
    let first_slide = format!(
        "<p:sld>{}{}<p:sp><p:nvPr><p:ph type=\"sldNum\"/></p:nvPr><a:p><a:t>1</a:t></a:p></p:sp>\
         <a:tbl><a:tr><a:tc><a:p><a:t>x</a:t></a:p></a:tc><a:tc><a:p><a:t>y</a:t></a:p></a:tc></a:tr></a:tbl></p:sld>",
        "<p:sp><p:nvPr><p:ph type=\"title\"/></p:nvPr><a:p><a:t>First</a:t></a:p></p:sp>",
        shape_xml("<p:ph type=\"body\"/>", "point")
    );
    let notes_xml = format!("<p:notes>{}</p:notes>", shape_xml("<p:ph type=\"body\"/>", "say this"));
    let bytes = zip(&[
        (
            "ppt/presentation.xml",
            r#"<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/><p:sldId id="258" r:id="rId3"/></p:sldIdLst></p:presentation>"#,
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            r#"<Relationships><Relationship Id="rId1" Type="x/slide" Target="slides/slide1.xml"/>
            <Relationship Id="rId2" Type="x/slide" Target="/ppt/slides/slide2.xml"/>
            <Relationship Id="rId3" Type="x/slide" Target="slides/gone.xml"/></Relationships>"#,
        ),
        ("ppt/slides/slide2.xml", &first_slide),
        ("ppt/slides/slide1.xml", "<p:sld><p:sp><a:p><a:t>loose</a:t></a:p></p:sp></p:sld>"),
        (
            "ppt/slides/_rels/slide2.xml.rels",
            r#"<Relationships><Relationship Id="r" Type="x/notesSlide" Target="../notesSlides/notesSlide1.xml"/></Relationships>"#,
        ),
        ("ppt/notesSlides/notesSlide1.xml", &notes_xml),
    ]);
    let expected = "## Slide 1: First\n\n- point\n  - below\n| x | y |\n| --- | --- |\n\nNotes: say this\nbelow\n\
        \n## Slide 2\n\n- loose\n\n## Slide 3 (missing in the file)\n";
    assert_eq!(read(Format::Presentation, &bytes).unwrap(), expected);
}

/// Builds a minimal workbook of one sheet.
fn workbook(sheet: &str) -> Vec<u8> {
    zip(&[
        (
            "[Content_Types].xml",
            r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>"#,
        ),
        (
            "_rels/.rels",
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
        ),
        (
            "xl/workbook.xml",
            r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Zahlen" sheetId="1" r:id="rId1"/></sheets></workbook>"#,
        ),
        (
            "xl/_rels/workbook.xml.rels",
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#,
        ),
        (
            "xl/styles.xml",
            r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#,
        ),
        (
            "xl/worksheets/sheet1.xml",
            &format!(
                r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{sheet}</sheetData></worksheet>"#
            ),
        ),
    ])
}

#[test]
fn a_spreadsheet_as_tables_with_its_blanks() {
    let bytes = workbook(
        r#"<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c><c r="C1" t="inlineStr"><is><t>a|b</t></is></c></row>
        <row r="2"><c r="A2"><v>1.5</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" s="1"><v>45000</v></c></row>
        <row r="4"><c r="B4" t="e"><v>#DIV/0!</v></c></row>"#,
    );
    let expected = "### Zahlen\n\n| name |  | a\\|b |\n| --- | --- | --- |\n| 1.5 | TRUE | 2023-03-15 |\n\
        |  |  |  |\n|  | #DIV/0! |  |\n";
    assert_eq!(read(Format::Sheet, &bytes).unwrap(), expected);
    assert_eq!(read(Format::Sheet, &workbook("")).unwrap(), "### Zahlen\n\n(empty)\n");
    assert!(read(Format::Sheet, b"PK\x03\x04 no").is_err());
}

#[test]
fn archives_are_listed_and_not_unpacked() {
    let text =
        read(Format::Zip, &zip(&[("hello.txt", "hello"), ("sub/a\nb.txt", ""), ("../up", "x")])).unwrap();
    let listed = "  hello.txt (5 bytes)\n  sub/a?b.txt (0 bytes)\n  ../up (1 bytes)\n\n3 entries, 6 bytes when unpacked.\n";
    assert_eq!(text, format!("ZIP contents (3 entries):\n\n{listed}"));

    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in [("hello.txt", "hello"), ("sub/bye.txt", "bye")] {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    let tar = builder.into_inner().unwrap();
    let listed = "  hello.txt (5 bytes)\n  sub/bye.txt (3 bytes)\n\n2 entries, 8 bytes when unpacked.\n";
    assert_eq!(read(Format::Tar, &tar).unwrap(), format!("TAR contents:\n\n{listed}"));
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    assert_eq!(read(Format::Gzip, &gzip(&tar)).unwrap(), format!("TAR.GZ contents:\n\n{listed}"));
    let listing = read(Format::Gzip, &gzip(b"just text")).unwrap();
    assert_eq!(listing, "GZIP: one compressed file of 9 bytes when unpacked.\n");
    assert!(read(Format::Gzip, b"\x1f\x8b\x08broken").is_err());
    assert!(read(Format::Zip, b"PK\x03\x04broken").is_err());
}

#[test]
fn custom_entities_do_not_expand() {
    let bomb = format!(
        "<!DOCTYPE d [<!ENTITY a \"{}\"><!ENTITY b \"&a;&a;&a;&a;\">]><w:document><w:p><w:r><w:t>x&b;y</w:t></w:r></w:p></w:document>",
        "lol".repeat(100)
    );
    assert_eq!(read(Format::Word, &zip(&[("word/document.xml", &bomb)])).unwrap(), "\nxy\n");
    let nested = format!("<w:document>{}<w:p><w:r><w:t>deep</w:t></w:r></w:p>", "<w:x>".repeat(200_000));
    assert_eq!(read(Format::Word, &zip(&[("word/document.xml", &nested)])).unwrap(), "\ndeep\n");
}

#[test]
fn an_unreadable_document_is_an_error_with_a_message() {
    assert!(matches!(read(Format::OldWord, b"x"), Err(DocumentError::NoReader(_))));
    assert!(matches!(read(Format::Word, &zip(&[("a", "b")])), Err(DocumentError::Broken(_))));
    assert!(matches!(read(Format::Word, b"PK\x03\x04"), Err(DocumentError::Broken(_))));
    let empty = zip(&[("ppt/presentation.xml", "<p:presentation/>")]);
    assert!(matches!(read(Format::Presentation, &empty), Err(DocumentError::NoText(_))));
    assert!(matches!(
        read(Format::Word, &zip(&[("word/document.xml", "<a <b")])),
        Err(DocumentError::Broken(_))
    ));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    /// Damage causes at most an error or a panic, which the child converts to one.
    #[test]
    fn damaged_archives_and_office_files_are_errors_or_text(at in 0_usize..2_000, byte: u8) {
        for (format, mut bytes) in [
            (Format::Word, zip(&[("word/document.xml", WORD)])),
            (Format::Zip, zip(&[("a", "b"), ("c/d", "e")])),
        ] {
            let index = at % bytes.len();
            bytes[index] = byte;
            let _ = read(format, &bytes);
        }
    }
}
