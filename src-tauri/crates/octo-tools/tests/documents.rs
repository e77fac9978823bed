//! `file_reader` on documents, through the public tools and with real child processes: the program this package
//! builds.
#![expect(clippy::unwrap_used, reason = "tests")]

use octo_documents::DocumentReader;
use octo_protocol::{CallId, SessionId, TrashId, TrashTotals, TurnId};
use octo_shell::{LoginEnvironment, Shell, ShellConfig};
use octo_store::Store;
use octo_tools::{
    Approver, Http, SHIPPED_SCRIPTS, SearchEngine, SearchEngines, TodoList, ToolContext, ToolError, Toolset,
    TrashFile, TrashListing, Trashcan, TurnHistory, WebSearch,
};
use octo_workspace::{Blobs, FileScope, Files, Outputs, Scripts, TimeLimits, TimeMachine};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;
use zip::{ZipWriter, write::SimpleFileOptions};

struct NoPerson;

impl SearchEngines for NoPerson {
    fn engines(&self) -> futures::future::BoxFuture<'_, Vec<SearchEngine>> {
        Box::pin(async { Vec::new() })
    }
}

/// Reading documents removes nothing.
struct NoTrash;

type Answer<T> = futures::future::BoxFuture<'static, Result<T, ToolError>>;

fn none<T: Send + 'static>() -> Answer<T> {
    Box::pin(async { Err(ToolError::new("there is no trash here")) })
}

impl Trashcan for NoTrash {
    fn files(&self, _project: &Path, _limit: u32) -> Answer<TrashListing> {
        none()
    }
    fn at_path(&self, _path: &Path) -> Answer<Vec<TrashFile>> {
        none()
    }
    fn file(&self, _id: TrashId) -> Answer<Option<TrashFile>> {
        none()
    }
    fn find_named(&self, _name: &str, _limit: u32) -> Answer<Vec<TrashFile>> {
        none()
    }
    fn restore(&self, _id: TrashId, _to: &Path) -> Answer<()> {
        none()
    }
    fn count(&self, _days: u32) -> Answer<TrashTotals> {
        none()
    }
    fn empty(&self, _days: u32) -> Answer<TrashTotals> {
        none()
    }
}

struct DocumentTools {
    _keep: tempfile::TempDir,
    base: PathBuf,
    context: ToolContext,
}

impl DocumentTools {
    fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let base = keep.path().canonicalize().unwrap();
        let folder = base.join("project");
        fs::create_dir(&folder).unwrap();
        let readable = vec![base.join("outputs"), base.join("shell/logs")];
        let session = SessionId::new();
        let (store, blobs) = (Store::open(&base.join("home")).unwrap(), Blobs::new(base.join("blobs")));
        let machine = TimeMachine::new(store, blobs.clone(), &base.join("home"), TimeLimits::default());
        let context = ToolContext {
            browser: std::sync::Arc::new(octo_tools::NoBrowser),
            browser_permission: None,
            builtin: Arc::new(octo_tools::NoBuiltinCommands),
            skills: Arc::new(octo_tools::NoSkills),
            session,
            call: CallId::new(),
            cwd: folder.clone(),
            files: Files::new(FileScope { folder, readable, writable: vec![] }),
            blobs,
            outputs: Outputs::new(base.join("outputs")),
            documents: DocumentReader::new(env!("CARGO_BIN_EXE_octo-read-document"), &[]),
            scripts: Scripts::new(base.join("scripts")),
            http: Http::new(octo_llm::Network::default()),
            search: WebSearch::new(Arc::new(NoPerson)),
            shell: Shell::new(ShellConfig {
                session,
                scratch: base.join("shell"),
                temporary: octo_workspace::TemporaryFolder::at(base.join("tmp")),
                login: LoginEnvironment::from_variables([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
                secret_variables: vec![],
                news: Arc::new(|_| {}),
                time_limit: octo_shell::COMMAND_TIME_LIMIT,
                removals: octo_shell::Removals::System,
                supervision: octo_shell::Supervision::Session,
                closed_folders: octo_shell::ClosedFolders::default(),
                network: None,
            }),
            shell_folder: None,
            todos: TodoList::default(),
            tasks: TurnHistory::new(machine, session, TurnId::new()),
            rewritten: None,
            trash: Arc::new(NoTrash),
            confinement: None,
            running: None,
            live: Arc::new(|_| {}),
            cancel: CancellationToken::new(),
            approved_by: Approver::Policy,
        };
        Self { _keep: keep, base, context }
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.context.cwd.join(name), bytes).unwrap();
    }

    async fn read(&self, arguments: Value) -> Result<String, String> {
        let call =
            Toolset::standard().prepare("file_reader", &arguments.to_string()).map_err(|error| error.text)?;
        let output = call.call.run(self.context.clone()).await;
        output.map(|output| output.text).map_err(|error| error.text)
    }
}

fn word(paragraphs: usize) -> Vec<u8> {
    let text: String = (1..=paragraphs)
        .map(|number| format!("<w:p><w:r><w:t>Paragraph {number}</w:t></w:r></w:p>"))
        .collect();
    zip(&format!("<w:document>{text}</w:document>"))
}

fn zip(document: &str) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    writer.write_all(document.as_bytes()).unwrap();
    writer.finish().unwrap().into_inner()
}

#[tokio::test]
async fn a_document_is_read_in_ranges_and_again_after_a_change() {
    let tools = DocumentTools::new();
    tools.put("a.docx", word(100));
    let text = tools.read(json!({"path": "a.docx", "max_lines": 3})).await.unwrap();
    assert_eq!(
        text,
        "File: a.docx [text of a Word document] (lines 1-3 of 199)\n\n     1\tParagraph 1\n     2\t\n     3\tParagraph 2\n\
         [More follows: start_line 4.]\n"
    );
    // Cached: the other ranges are available even without a reader.
    let mut second_read = tools;
    second_read.context.documents = DocumentReader::new("/nonexistent/reader", &[]);
    let text = second_read.read(json!({"path": "a.docx", "start_line": 199})).await.unwrap();
    assert!(text.contains("   199\tParagraph 100"), "{text}");
    second_read.put("a.docx", word(2));
    let error = second_read.read(json!({"path": "a.docx"})).await.unwrap_err();
    assert!(error.contains("the reader failed"), "what was kept is of another file now: {error}");
    second_read.context.documents = DocumentReader::new(env!("CARGO_BIN_EXE_octo-read-document"), &[]);
    assert!(second_read.read(json!({"path": "a.docx"})).await.unwrap().contains("(3 lines)"));
}

#[tokio::test]
async fn hostile_documents_end_their_child_and_nothing_else() {
    let tools = DocumentTools::new();
    // One text of 40 MB, compressed to some kilobytes: more than the limit.
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    writer.write_all(b"<w:document><w:p><w:r><w:t>").unwrap();
    let block = vec![b'a'; 1 << 20];
    for _ in 0..40 {
        writer.write_all(&block).unwrap();
    }
    writer.write_all(b"</w:t></w:r></w:p></w:document>").unwrap();
    tools.put("bomb.docx", writer.finish().unwrap().into_inner());
    for (name, bytes) in [
        ("broken.pdf", b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 1 0 R >>\nendobj".to_vec()),
        ("broken.docx", b"PK\x03\x04broken".to_vec()),
        ("broken.xls", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and nothing".to_vec()),
        ("deep.pdf", format!("%PDF-1.4\n1 0 obj\n{}", "[".repeat(2_000_000)).into_bytes()),
        ("broken.tgz", b"\x1f\x8b\x08broken".to_vec()),
    ] {
        tools.put(name, bytes);
    }
    let bomb = tools.read(json!({"path": "bomb.docx", "start_line": 1})).await.unwrap();
    assert!(bomb.contains("(The text ends here: it has more than 16 MB.)") && bomb.len() < 10_000);
    for name in ["broken.pdf", "broken.docx", "broken.xls", "deep.pdf", "broken.tgz"] {
        let error = tools.read(json!({"path": name})).await.unwrap_err();
        assert!(error.contains("Failed to extract text from") && error.contains(name), "{name}: {error}");
    }
    tools.put("fine.docx", word(1));
    assert!(tools.read(json!({"path": "fine.docx"})).await.unwrap().contains("Paragraph 1"));
}

#[tokio::test]
async fn a_child_that_does_not_end_is_ended() {
    let tools = DocumentTools::new();
    let started = Instant::now();
    let program = tools.base.join("sleeper");
    fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
    let reader =
        DocumentReader::new("/bin/sh", &[program.to_str().unwrap()]).with_timeout(Duration::from_millis(200));
    let read = |stop: bool| {
        reader.read(octo_documents::Format::Pdf, octo_documents::DocumentSource::Bytes(vec![]), &|| stop)
    };
    assert!(matches!(read(false), Err(octo_documents::DocumentError::Limit(_))));
    assert!(matches!(read(true), Err(octo_documents::DocumentError::Stopped)));
    assert!(started.elapsed() < Duration::from_secs(60));
    // A program that is no reader is not trusted, whatever it prints.
    let other_program = DocumentReader::new("/bin/echo", &[]);
    let text = other_program.read(
        octo_documents::Format::Pdf,
        octo_documents::DocumentSource::Bytes(vec![]),
        &|| false,
    );
    assert!(matches!(text, Err(octo_documents::DocumentError::Failed(_))), "{text:?}");
}

#[tokio::test]
async fn a_script_reads_what_octo_cannot_and_its_failure_says_how_to_repair_it() {
    let tools = DocumentTools::new();
    tools.put("old.doc", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 old words");
    let error = tools.read(json!({"path": "old.doc"})).await.unwrap_err();
    assert!(error.contains("There is no script read_word.py"), "{error}");
    tools.context.scripts.install(SHIPPED_SCRIPTS).unwrap();
    let script = tools.base.join("scripts/read_word.py");
    fs::write(&script, "# VERSION: 1\nimport sys\nprint('found nothing in', sys.argv[1])\nsys.exit(3)\n")
        .unwrap();
    let error = tools.read(json!({"path": "old.doc"})).await.unwrap_err();
    assert!(
        error.contains(&format!(
            "The script {} was tried then, and failed: it ended with 3",
            script.display()
        ))
    );
    assert!(error.contains("found nothing in") && error.contains("repair or extend it"), "{error}");
    // Repaired, as the message says.
    fs::write(&script, "import sys\nprint(open(sys.argv[1], 'rb').read()[8:].decode().strip())\n").unwrap();
    let text = tools.read(json!({"path": "old.doc"})).await.unwrap();
    assert_eq!(
        text,
        "File: old.doc [text of a Word document of the old format (.doc)] (1 lines)\n\n     1\told words\n"
    );
}

#[test]
fn shipped_scripts_carry_their_versions() {
    for script in SHIPPED_SCRIPTS {
        assert!(script.text.lines().take(40).any(|line| line.starts_with("# VERSION: ")), "{}", script.name);
        assert!(script.text.starts_with("#!/"), "{}", script.name);
    }
    assert_eq!(SHIPPED_SCRIPTS.len(), 5);
}
