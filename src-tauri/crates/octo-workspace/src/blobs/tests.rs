use super::*;

fn blobs() -> (tempfile::TempDir, Blobs) {
    let folder = octo_testkit::test_folder();
    let blobs = Blobs::new(folder.path().join("blobs"));
    (folder, blobs)
}

#[test]
fn content_is_stored_once_under_its_hash() {
    let (_keep, blobs) = blobs();
    let hash = blobs.put(b"hello").unwrap();
    assert_eq!(hash.0, blake3::hash(b"hello").to_hex().as_str());
    let path = blobs.path(&hash).unwrap();
    let first_time = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(blobs.put(b"hello").unwrap(), hash);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), first_time, "not written twice");
    assert_eq!(blobs.get(&hash).unwrap(), b"hello");
    assert_eq!(blobs.put(b"").and_then(|hash| blobs.get(&hash)).unwrap(), b"");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file stays");
}

#[test]
fn missing_damaged_and_invalid_blobs_are_reported() {
    let (_keep, blobs) = blobs();
    let hash = blobs.put(b"hello").unwrap();
    fs::write(blobs.path(&hash).unwrap(), b"hellx").unwrap();
    assert!(matches!(blobs.get(&hash), Err(BlobError::Damaged(_))));
    fs::write(blobs.path(&hash).unwrap(), b"hel").unwrap();
    blobs.put(b"hello").unwrap();
    assert_eq!(blobs.get(&hash).unwrap(), b"hello", "a cut blob is written again");
    fs::remove_file(blobs.path(&hash).unwrap()).unwrap();
    assert!(matches!(blobs.get(&hash), Err(BlobError::Missing(_))));
    for text in
        ["", "../../etc/passwd", "ABCDEF", &"g".repeat(64), &"A".repeat(64), &format!("..{}", "/".repeat(62))]
    {
        assert!(matches!(blobs.get(&BlobHash(text.to_owned())), Err(BlobError::NotAHash)), "{text:?}");
    }
}

#[test]
fn media_types_come_from_the_bytes() {
    assert_eq!(media_type(b"\x89PNG\r\n\x1a\n"), "image/png");
    assert_eq!(media_type(b"\xff\xd8\xff\xe0"), "image/jpeg");
    assert_eq!(media_type(b"nothing known"), "application/octet-stream");
}

#[test]
fn temporary_files_are_removed_after_the_grace_period() {
    let (keep, blobs) = blobs();
    let hash = blobs.put(b"whole").unwrap();
    let folder = blobs.path(&hash).unwrap().parent().unwrap().to_owned();
    for (name, age) in [(".blob-aB3dE9", GRACE), (".blob-aB3dE8", GRACE / 2), ("notes", GRACE)] {
        let file = fs::File::create(folder.join(name)).unwrap();
        file.set_modified(SystemTime::now() - age - Duration::from_secs(60)).unwrap();
    }
    assert_eq!(blobs.for_each(|_, _, _| {}).unwrap().blobs, 1);
    assert!(!folder.join(".blob-aB3dE9").exists());
    assert!(folder.join(".blob-aB3dE8").exists() && folder.join("notes").exists());
    assert_eq!(blobs.get(&hash).unwrap(), b"whole");
    drop(keep);
}
