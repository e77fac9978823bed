//! Octo's memories across sessions: one Markdown file per topic, in one flat folder of the home.
//!
//! A file begins with `topic` and `description` between two `---` lines; the rest is the memory. A memory's age
//! is the file's modification time, which is updated when the memory is written or recalled. A hand-written
//! file is read leniently: without a head, its name is its topic.

use crate::{FrontMatter, Yaml, split_markdown};
use octo_protocol::MEMORY_BODY_MAX_CHARS;
use octo_workspace::{private_folder, write_private};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// Maximum files inspected; a folder with more is not one of memories.
const MAX_FILES: usize = 2_000;
/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 50_000;
/// Maximum characters of a topic, and of a description.
const MAX_LINE: usize = 200;
/// Maximum memories listed to a model.
const MAX_LISTED: usize = 20;
/// Characters of the body shown on a card.
const MAX_PREVIEW: usize = 200;

/// The folder of memories.
#[derive(Clone, Debug)]
pub struct Memories {
    folder: PathBuf,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its file name.
    pub file: String,
    /// Its topic.
    pub topic: String,
    /// Summary on one line; empty if missing.
    pub description: String,
    /// Its content.
    pub body: String,
    /// Last written or recalled, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The file's size in bytes.
    pub size: u64,
    /// Hash of the file's content.
    pub version: String,
}

impl Memory {
    /// Returns the beginning of the body, on one line.
    pub fn preview(&self) -> String {
        let first_line = one_line(&self.body);
        first_line.chars().take(MAX_PREVIEW).collect()
    }
}

/// Content of a memory to write.
#[derive(Clone, Copy, Debug)]
pub struct NewMemory<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// Summary on one line.
    pub description: &'a str,
    /// Its content.
    pub body: &'a str,
}

/// Error of reading or writing a memory. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Not a valid name of a memory.
    #[error("\"{0}\" is no name of a memory: letters, digits, dots, dashes and .md at the end")]
    Name(String),
    /// The memory does not exist.
    #[error("there is no memory {0}")]
    Missing(String),
    /// A memory of that name already exists.
    #[error("there is a memory {0} already")]
    Exists(String),
    /// It was changed elsewhere in the meantime.
    #[error("{0} was changed meanwhile")]
    Changed(String),
    /// The body is too long.
    #[error("the body has {0} characters, and {MEMORY_BODY_MAX_CHARS} is the most")]
    TooLong(usize),
    /// It has no content.
    #[error("a memory needs a topic and a body")]
    Empty,
    /// The file cannot be read: too large, not text, or not a file.
    #[error("{0} is no text file of a memory")]
    Unreadable(String),
    /// Error of the disk.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl Memories {
    /// Opens the memories in `folder`, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns all of them, newest first. Omits unreadable ones.
    pub fn list(&self) -> Vec<Memory> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut memories: Vec<Memory> = entries
            .take(MAX_FILES)
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter_map(|file| self.get(&file).ok())
            .collect();
        memories.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.file.cmp(&b.file)));
        memories
    }

    /// Returns those that contain all words of `query`, ignoring case, newest first.
    pub fn search(&self, query: &str) -> Vec<Memory> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let mut memories = self.list();
        memories.retain(|memory| {
            let text = format!("{}\n{}\n{}\n{}", memory.file, memory.topic, memory.description, memory.body);
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        });
        memories
    }

    /// Returns one of them.
    pub fn get(&self, file: &str) -> Result<Memory, MemoryError> {
        let path = self.path(file)?;
        let unreadable = || MemoryError::Unreadable(file.to_owned());
        let about = match fs::symlink_metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(MemoryError::Missing(file.to_owned()));
            }
            Err(error) => return Err(error.into()),
        };
        // A link could lead anywhere, and a model sees the content.
        if !about.is_file() || about.len() > MAX_BYTES {
            return Err(unreadable());
        }
        let text = String::from_utf8(fs::read(&path)?).map_err(|_| unreadable())?;
        let parts = split_markdown(&text);
        let failure = |key: &str| {
            let value = parts.front.get(key).filter(|value| !value.is_null());
            value.and_then(Yaml::as_text).map(line_of).unwrap_or_default()
        };
        let (topic, description) = (failure("topic"), failure("description"));
        let stem = file.strip_suffix(".md").unwrap_or(file);
        Ok(Memory {
            topic: if topic.is_empty() { stem.to_owned() } else { topic },
            description,
            body: parts.body,
            at: about.modified().map_or(0, millis),
            size: about.len(),
            version: blake3::hash(text.as_bytes()).to_hex().to_string(),
            file: file.to_owned(),
        })
    }

    /// Writes a new memory. Its file is named after its topic.
    pub fn add(&self, memory: NewMemory<'_>) -> Result<Memory, MemoryError> {
        let file = file_name(memory.topic);
        if self.path(&file)?.symlink_metadata().is_ok() {
            return Err(MemoryError::Exists(file));
        }
        self.write(&file, memory)
    }

    /// Overwrites a memory, if its version is still `version`.
    pub fn change(&self, file: &str, memory: NewMemory<'_>, version: &str) -> Result<Memory, MemoryError> {
        if self.get(file)?.version != version {
            return Err(MemoryError::Changed(file.to_owned()));
        }
        self.write(file, memory)
    }

    /// Records that a memory was recalled, which makes it one of the newest.
    pub fn mark_recalled(&self, file: &str) -> Result<(), MemoryError> {
        let path = self.path(file)?;
        if !path.symlink_metadata().is_ok_and(|about| about.is_file()) {
            return Err(MemoryError::Missing(file.to_owned()));
        }
        let open = fs::File::options().append(true).open(path)?;
        open.set_modified(SystemTime::now())?;
        Ok(())
    }

    /// Returns the path of a memory's file, whether or not it exists.
    pub fn path(&self, file: &str) -> Result<PathBuf, MemoryError> {
        let stem = file.strip_suffix(".md").unwrap_or_default();
        let is_name = !stem.is_empty()
            && !stem.starts_with('.')
            && file.len() <= 120
            && stem.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if is_name { Ok(self.folder.join(file)) } else { Err(MemoryError::Name(file.to_owned())) }
    }

    /// Returns the newest memories, one line each, for a model to choose from.
    pub fn overview(&self) -> String {
        let memories = self.list();
        if memories.is_empty() {
            return "(nothing is remembered yet)".to_owned();
        }
        let mut lines: Vec<String> = memories
            .iter()
            .take(MAX_LISTED)
            .map(|memory| {
                let description = match memory.description.as_str() {
                    "" => String::new(),
                    description => format!(": {description}"),
                };
                format!("- {} | {}{description} | {}", memory.file, memory.topic, day(memory.at))
            })
            .collect();
        if let Some(more) = memories.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
            lines.push(format!("({more} older ones are not listed; `octo memory list --query` finds them)"));
        }
        lines.join("\n")
    }

    fn write(&self, file: &str, memory: NewMemory<'_>) -> Result<Memory, MemoryError> {
        let path = self.path(file)?;
        let (topic, description) = (line_of(memory.topic), line_of(memory.description));
        let body = memory.body.trim();
        if topic.is_empty() || body.is_empty() {
            return Err(MemoryError::Empty);
        }
        let length = body.chars().count();
        if length > MEMORY_BODY_MAX_CHARS {
            return Err(MemoryError::TooLong(length));
        }
        private_folder(&self.folder)?;
        let mut front_matter = FrontMatter::default();
        front_matter.set("topic", Yaml::text(topic));
        front_matter.set("description", Yaml::text(description));
        let text = front_matter.with_body(body);
        write_private(&path, text.as_bytes())?;
        self.get(file)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line_of(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let shortened: String = one_line(&clean).chars().take(MAX_LINE).collect();
    shortened.trim_end().to_owned()
}

/// Returns the file name for a topic. A hash distinguishes topics without Latin letters.
fn file_name(topic: &str) -> String {
    let topic = line_of(topic).to_lowercase();
    let mut slug = String::new();
    for c in topic.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug: String = slug.trim_end_matches('-').chars().take(60).collect();
    if topic.is_ascii() && !slug.is_empty() {
        return format!("{slug}.md");
    }
    let hash = blake3::hash(topic.as_bytes()).to_hex();
    let hash: String = hash.chars().take(8).collect();
    if slug.is_empty() { format!("topic-{hash}.md") } else { format!("{slug}-{hash}.md") }
}

fn millis(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}

fn day(time: i64) -> String {
    jiff::Timestamp::from_millisecond(time)
        .map(|time| time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d").to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn memories() -> (tempfile::TempDir, Memories) {
        let home = tempfile::tempdir().unwrap();
        let memories = Memories::new(home.path().join("memories"));
        (home, memories)
    }

    fn new<'a>(topic: &'a str, description: &'a str, body: &'a str) -> NewMemory<'a> {
        NewMemory { topic, description, body }
    }

    #[test]
    fn written_text_reads_back() {
        let (_home, memories) = memories();
        assert_eq!(memories.list(), []);
        assert_eq!(memories.overview(), "(nothing is remembered yet)");
        let made = memories.add(new("How we  deploy", "say: \"when\" \\ how", "# Steps\n\nOne.\n")).unwrap();
        assert_eq!(made.file, "how-we-deploy.md");
        assert_eq!(
            (made.topic.as_str(), made.description.as_str()),
            ("How we deploy", "say: \"when\" \\ how")
        );
        assert_eq!((made.body.as_str(), made.preview().as_str()), ("# Steps\n\nOne.", "# Steps One."));
        assert_eq!(memories.list(), std::slice::from_ref(&made));
        assert!(matches!(memories.add(new("how we deploy", "", "x")), Err(MemoryError::Exists(_))));

        let changed = memories.change(&made.file, new("Deploying", "d", "Two."), &made.version).unwrap();
        assert_eq!((changed.file.as_str(), changed.topic.as_str()), ("how-we-deploy.md", "Deploying"));
        let conflict = memories.change(&made.file, new("Deploying", "d", "Three."), &made.version);
        assert!(matches!(conflict, Err(MemoryError::Changed(_))), "an older version overwrites nothing");
        assert_eq!(memories.get(&made.file).unwrap().body, "Two.");
    }

    #[test]
    fn hand_written_files_are_read_leniently() {
        let (_home, memories) = memories();
        fs::create_dir_all(memories.folder()).unwrap();
        for (text, topic, description, body) in [
            ("just words", "t", "", "just words"),
            ("---\r\ntopic: A: b\r\nupdated_at: 2026-05-01\r\n---\r\nx\r\n", "A: b", "", "x"),
            ("\u{feff}---\ntopic: 'it''s'\ndescription: \"q\"\n---\nx", "it's", "q", "x"),
            ("---\ntopic: never closed\nx", "t", "", "---\ntopic: never closed\nx"),
            ("---\ntopic:\n---\n", "t", "", ""),
            ("", "t", "", ""),
        ] {
            fs::write(memories.folder().join("t.md"), text).unwrap();
            let memory = memories.get("t.md").unwrap();
            let read = (memory.topic.as_str(), memory.description.as_str(), memory.body.as_str());
            assert_eq!(read, (topic, description, body), "{text:?}");
        }
    }

    #[test]
    fn invalid_names_and_files_are_refused() {
        let (home, memories) = memories();
        fs::create_dir_all(memories.folder()).unwrap();
        for name in ["../evil.md", "a/b.md", ".hidden.md", "a.txt", ".md", "", "a b.md", "ä.md", "a\0.md"] {
            assert!(matches!(memories.get(name), Err(MemoryError::Name(_))), "{name:?}");
        }
        assert!(matches!(memories.get("gone.md"), Err(MemoryError::Missing(_))));
        assert!(matches!(memories.mark_recalled("gone.md"), Err(MemoryError::Missing(_))));
        fs::create_dir(memories.folder().join("folder.md")).unwrap();
        fs::write(memories.folder().join("large.md"), vec![b'x'; 60_000]).unwrap();
        fs::write(memories.folder().join("binary.md"), [0xff, 0xfe]).unwrap();
        #[cfg(unix)]
        {
            fs::write(home.path().join("secret"), "s").unwrap();
            std::os::unix::fs::symlink(home.path().join("secret"), memories.folder().join("link.md"))
                .unwrap();
        }
        let _unused = &home;
        for name in ["folder.md", "large.md", "binary.md", "link.md"] {
            let read = memories.get(name);
            assert!(
                matches!(read, Err(MemoryError::Unreadable(_) | MemoryError::Missing(_))),
                "{name}: {read:?}"
            );
        }
        assert_eq!(memories.list(), []);
    }

    #[test]
    fn empty_and_too_long_memories_are_refused() {
        let (_home, memories) = memories();
        let too_long = "é".repeat(MEMORY_BODY_MAX_CHARS + 1);
        assert!(
            matches!(memories.add(new("t", "", &too_long)), Err(MemoryError::TooLong(n)) if n == MEMORY_BODY_MAX_CHARS + 1)
        );
        assert!(matches!(memories.add(new("t", "", " \n")), Err(MemoryError::Empty)));
        assert!(matches!(memories.add(new(" ", "", "x")), Err(MemoryError::Empty)));
        assert!(memories.list().is_empty());
        let longest = "é".repeat(MEMORY_BODY_MAX_CHARS);
        assert_eq!(memories.add(new("t", "", &longest)).unwrap().body, longest);
    }

    #[test]
    fn the_last_recalled_comes_first_and_only_the_newest_are_listed() {
        let (_home, memories) = memories();
        let before = SystemTime::now() - std::time::Duration::from_secs(3_600);
        for number in 0..25 {
            let made = memories.add(new(&format!("topic {number:02}"), "d", "x")).unwrap();
            let file = fs::File::options().append(true).open(memories.path(&made.file).unwrap()).unwrap();
            file.set_modified(before + std::time::Duration::from_secs(number)).unwrap();
        }
        assert_eq!(memories.list()[0].file, "topic-24.md");
        memories.mark_recalled("topic-03.md").unwrap();
        assert_eq!(memories.list()[0].file, "topic-03.md");
        let overview = memories.overview();
        assert_eq!(overview.lines().count(), MAX_LISTED + 1);
        assert!(overview.starts_with("- topic-03.md | topic 03: d | "), "{overview}");
        assert!(overview.contains("(5 older ones"), "{overview}");
        assert_eq!(memories.search("TOPIC 1").len(), 10 + 1 + 1, "10 to 19, 01 and 21");
    }

    #[test]
    fn topics_in_any_script_have_files_of_their_own() {
        let (_home, memories) = memories();
        let files: Vec<String> = ["部署", "测试", "Déploiement", "Deploiement"]
            .into_iter()
            .map(|topic| memories.add(new(topic, "", "x")).unwrap().file)
            .collect();
        let distinct: std::collections::HashSet<&String> = files.iter().collect();
        assert_eq!(distinct.len(), 4, "{files:?}");
        assert!(files.iter().all(|file| file.is_ascii()), "{files:?}");
    }

    proptest! {
        #[test]
        fn any_topic_and_description_read_back(topic in "[^\\x00-\\x1f]{1,40}", description in ".{0,60}") {
            let (_home, memories) = memories();
            if let Ok(made) = memories.add(new(&topic, &description, "x")) {
                prop_assert_eq!(&made.topic, &line_of(&topic));
                prop_assert_eq!(&made.description, &line_of(&description));
            } else {
                prop_assert!(line_of(&topic).is_empty());
            }
        }

        #[test]
        fn no_file_breaks_the_reader(text in "(---\n)?(topic|description|x)?:?.{0,80}\n?(---)?.{0,20}") {
            let (_home, memories) = memories();
            fs::create_dir_all(memories.folder()).unwrap();
            fs::write(memories.folder().join("a.md"), &text).unwrap();
            prop_assert!(memories.get("a.md").is_ok());
        }
    }
}
