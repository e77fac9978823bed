use super::*;

/// Builds one entry in the format of version 2.
fn entry(name: &str, mode: u32, flags: u16, object: u8) -> Vec<u8> {
    let mut bytes = vec![0; 24];
    bytes.extend_from_slice(&mode.to_be_bytes());
    bytes.extend_from_slice(&[0; 12]);
    bytes.extend_from_slice(&[object; 20]);
    bytes.extend_from_slice(&(flags | u16::try_from(name.len()).unwrap()).to_be_bytes());
    bytes.extend_from_slice(name.as_bytes());
    bytes.push(0);
    while !bytes.len().is_multiple_of(8) {
        bytes.push(0);
    }
    bytes
}

fn index(version: u32, entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"DIRC".to_vec();
    bytes.extend_from_slice(&version.to_be_bytes());
    bytes.extend_from_slice(&u32::try_from(entries.len()).unwrap().to_be_bytes());
    entries.iter().for_each(|entry| bytes.extend_from_slice(entry));
    bytes.extend_from_slice(&[0; 20]);
    bytes
}

#[test]
fn an_index_gives_its_files_and_nothing_else() {
    let bytes = index(
        2,
        &[
            entry("a", 0o100_644, 0, 1),
            entry("conflict", 0o100_644, 0x1000, 2),
            entry("link", 0o120_000, 0, 3),
            entry("longer/name.rs", 0o100_755, 0, 4),
            entry("module", 0o160_000, 0, 5),
        ],
    );
    let files = read_index(&bytes).unwrap();
    let named: Vec<_> =
        files.iter().map(|(name, object)| (str::from_utf8(name).unwrap(), object[0])).collect();
    assert_eq!(named, [("a", 1), ("longer/name.rs", 4)]);
    // Truncated anywhere before its trailer, or of an unknown version, it is rejected.
    for len in 0..=bytes.len() - 24 {
        assert_eq!(read_index(&bytes[..len]), None, "{len}");
    }
    assert_eq!(read_index(&index(5, &[])), None);
    assert_eq!(read_index(b"XXXX"), None);
}

#[test]
fn objects_are_written_as_git_writes_them() {
    let object: GitObject = std::array::from_fn(|index| u8::try_from(index * 12).unwrap());
    assert_eq!(parse_hex(&hex(&object)), Some(object));
    for text in ["", "zz", &"g".repeat(40), &"é".repeat(20), &"a".repeat(41)] {
        assert_eq!(parse_hex(text), None, "{text}");
    }
}
