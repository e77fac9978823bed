//! Attachments: pictures become pictures, everything else is named, and unreadable files are reported.

use super::rig::Rig;
use base64::Engine as _;
use octo_protocol::{
    ApiError, AttachFiles, AttachmentResult, Block, Event, GetPicture, Mode, PutBlob, TurnEnd,
};
use octo_testkit::{Reply, Script};
use std::{fs, path::Path};

/// Begins like every PNG, by which the file type is recognized.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and what follows";
/// As in the core.
const LARGEST_PICTURE: usize = 20 * 1024 * 1024;

async fn attach(rig: &Rig, paths: &[&Path]) -> AttachmentResult {
    let paths = paths.iter().map(|path| path.display().to_string()).collect();
    rig.octo.call(AttachFiles { paths }).await.expect("files can be attached")
}

fn named(path: &Path) -> Block {
    Block::File { path: path.display().to_string() }
}

fn keys(errors: &[ApiError]) -> Vec<&str> {
    errors.iter().map(|error| error.key.as_str()).collect()
}

#[tokio::test]
async fn pictures_are_kept_and_everything_else_is_named_in_order() {
    let rig = Rig::new(Script::new()).await;
    let work = rig.home.work();
    let file = |name: &str, bytes: &[u8]| {
        let path = work.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let text = file("a.txt", b"hello");
    // The type depends on the content, not on the name.
    let picture = file("no picture's name.dat", PNG);
    let (lie, svg) = (file("lie.png", b"hello"), file("b.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"));
    let empty = file("\u{4e2d}\u{6587}.md", b"");
    let attachments = attach(&rig, &[&text, &picture, &lie, &work, &svg, &empty]).await;
    let Block::Image { blob, media_type, name } = &attachments.blocks[1] else {
        panic!("{:?}", attachments.blocks[1])
    };
    assert_eq!((media_type.as_str(), name.as_str()), ("image/png", "no picture's name.dat"));
    assert_eq!(rig.octo.blob(blob).await.unwrap().bytes, PNG);
    let rest: Vec<&Block> =
        attachments.blocks.iter().filter(|block| !matches!(block, Block::Image { .. })).collect();
    assert_eq!(rest, [&named(&text), &named(&lie), &named(&work), &named(&svg), &named(&empty)]);
    assert_eq!((attachments.refused, attachments.remarks), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn what_cannot_be_attached_is_told_and_keeps_nothing_else_from_it() {
    let rig = Rig::new(Script::new()).await;
    let work = rig.home.work();
    let good = work.join("good.txt");
    fs::write(&good, "x").unwrap();
    let attachments = attach(
        &rig,
        &[&work.join("gone"), Path::new("relative.txt"), Path::new("/dev/zero"), &good, &good.join("below")],
    )
    .await;
    assert_eq!(attachments.blocks, [named(&good)]);
    assert_eq!(
        keys(&attachments.refused),
        ["attach.missing", "attach.missing", "attach.no_file", "attach.unreadable"]
    );
    assert!(attachments.refused[0].args["path"].ends_with("gone"));

    let paths = vec![good.as_path(); 203];
    let attachments = attach(&rig, &paths).await;
    assert_eq!((attachments.blocks.len(), keys(&attachments.refused)), (200, vec!["attach.too_many"]));
    assert_eq!(attachments.refused[0].args["left_out"], "3");
}

#[tokio::test]
async fn a_picture_is_shown_to_the_model_up_to_its_limit_and_named_beyond() {
    let rig = Rig::new(Script::new()).await;
    let picture = rig.home.work().join("large.png");
    let mut bytes = PNG.to_vec();
    bytes.resize(LARGEST_PICTURE, 0);
    fs::write(&picture, &bytes).unwrap();
    let attachments = attach(&rig, &[&picture]).await;
    assert!(matches!(attachments.blocks[..], [Block::Image { .. }]), "{attachments:?}");
    bytes.push(0);
    fs::write(&picture, &bytes).unwrap();
    let attachments = attach(&rig, &[&picture]).await;
    assert_eq!(attachments.blocks, [named(&picture)]);
    assert_eq!(keys(&attachments.remarks), ["attach.picture_as_file"]);
}

#[tokio::test]
async fn a_pasted_picture_is_kept_and_nothing_else_is_taken_for_one() {
    let rig = Rig::new(Script::new()).await;
    let put = async |base64: &str| {
        rig.octo.call(PutBlob { base64: base64.to_owned(), name: "p.png".to_owned() }).await
    };
    let kept = put("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=").await.unwrap();
    assert_eq!((kept.media_type.as_str(), kept.name.as_str()), ("image/gif", "p.png"));
    assert_eq!(put("aGVsbG8=").await.unwrap_err().key, "blob.no_picture");
    assert_eq!(put("not base64!").await.unwrap_err().key, "blob.unreadable");
    let too_large = "A".repeat((LARGEST_PICTURE / 3 + 2) * 4);
    assert_eq!(put(&too_large).await.unwrap_err().key, "blob.too_large");
}

/// A minimal one-page PDF.
const PDF: &[u8] = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n";

#[tokio::test]
async fn a_document_is_kept_as_it_was_and_named_where_a_provider_would_refuse_it() {
    let rig = Rig::new(Script::new()).await;
    let work = rig.home.work();
    let (plain, locked, large) = (work.join("plan"), work.join("locked.pdf"), work.join("large.pdf"));
    fs::write(&plain, PDF).unwrap();
    fs::write(&locked, [PDF, b"<</Encrypt 9 0 R>>"].concat()).unwrap();
    let mut bytes = PDF.to_vec();
    bytes.resize(4_500_001, b' ');
    fs::write(&large, bytes).unwrap();
    let attachments = attach(&rig, &[&plain, &locked, &large]).await;
    let remarks: Vec<_> =
        attachments.remarks.iter().map(|remark| (&*remark.key, &*remark.args["name"])).collect();
    assert_eq!(
        remarks,
        [("attach.locked_as_file", "locked.pdf"), ("attach.document_as_file", "large.pdf")],
        "the person is told that the model is not shown it"
    );
    let [Block::Document { blob, media_type, name, path }, rest @ ..] = &attachments.blocks[..] else {
        panic!("{:?}", attachments.blocks)
    };
    assert_eq!((media_type.as_str(), name.as_str()), ("application/pdf", "plan"));
    assert_eq!(path, &plain.display().to_string());
    assert_eq!(rest, [named(&locked), named(&large)]);
    fs::write(&plain, "something else").unwrap();
    assert_eq!(rig.octo.blob(blob).await.unwrap().bytes, PDF);
}

#[tokio::test]
async fn an_answer_shows_pictures_of_its_folder_and_nothing_else() {
    let mut rig = Rig::new(Script::new().text("Here it is: ![a chart](out/a%20chart.png)")).await;
    let work = rig.home.work();
    fs::create_dir(work.join("out")).unwrap();
    fs::write(work.join("out/a chart.png"), PNG).unwrap();
    fs::write(work.join("notes.png"), "no picture at all").unwrap();
    let mut large = PNG.to_vec();
    large.resize(8 * 1024 * 1024 + 1, 0);
    fs::write(work.join("large.png"), large).unwrap();
    let outside = work.parent().unwrap().join("private.png");
    fs::write(&outside, PNG).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, work.join("link.png")).unwrap();
    let session = rig.start(Mode::Ask, "Draw a chart.").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let ask = async |path: &str| rig.octo.call(GetPicture { session, path: path.to_owned() }).await;
    let shown = ask("out/a%20chart.png").await.unwrap();
    assert_eq!(shown.media, "image/png");
    assert_eq!(base64::engine::general_purpose::STANDARD.decode(shown.base64).unwrap(), PNG);
    let mut refused = vec![
        ("gone.png", "picture.missing"),
        ("out", "picture.missing"),
        ("https://example.org/a.png", "picture.missing"),
        ("//server/share/a.png", "picture.missing"),
        ("notes.png", "picture.other"),
        ("large.png", "picture.too_large"),
        ("../private.png", "picture.elsewhere"),
    ];
    #[cfg(unix)]
    refused.extend([("link.png", "picture.elsewhere"), ("/dev/zero", "picture.elsewhere")]);
    for (path, key) in refused {
        assert_eq!(ask(path).await.unwrap_err().key, key, "{path}");
    }
}

#[tokio::test]
async fn a_refused_attachment_does_not_end_the_conversation() {
    let wrong = Reply::error(400, "invalid_request_error", "could not process the picture");
    let mut rig = Rig::new(Script::new().reply(wrong).text("I see its name.").text("Still here.")).await;
    let picture = rig.home.work().join("broken.png");
    fs::write(&picture, PNG).unwrap();
    let mut blocks = attach(&rig, &[&picture]).await.blocks;
    blocks.push(Block::Text { text: "What is it?".into() });
    let session = rig.start_with(Mode::Ask, blocks).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(session, "and now?").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let is_stored: Vec<bool> =
        rig.server.requests().iter().map(|request| request.body.to_string().contains("base64")).collect();
    assert_eq!(is_stored, [true, false, false], "refused once, it is named from then on");
    let result = rig.seen.iter().any(
        |envelope| matches!(&envelope.event, Event::CommandAnswered { note } if note.key == "attach.refused"),
    );
    assert!(result, "the person is told");
}
