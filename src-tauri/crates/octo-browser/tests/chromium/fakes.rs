//! Servers that listen like a browser: the test decides when they answer and which browser wrote their port file.

use async_tungstenite::{tokio::accept_async, tungstenite::Message};
use futures::StreamExt as _;
use octo_browser::{
    AccessMode, AttachmentState, Browser, BrowserEnvironment, BrowserTarget, ConnectError, HostSystem, Probe,
    find,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
};

/// A browser that asks the person: it reports no version, and accepts any connection.
struct PromptingServer {
    port: u16,
    /// One per connection: sent when its first command arrives; the command is answered once the sender is
    /// used.
    connections: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
}

impl PromptingServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, sender.clone()));
            }
        });
        Self { port, connections: receiver }
    }
}

async fn serve(mut stream: TcpStream, sender: mpsc::UnboundedSender<oneshot::Sender<()>>) {
    let mut request_head = [0; 17];
    let version = b"GET /json/version";
    while stream.peek(&mut request_head).await.is_ok_and(|read| read < request_head.len()) {}
    if request_head == *version {
        let _gone = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
        return;
    }
    let Ok(mut socket) = accept_async(stream).await else { return };
    let Some(Ok(Message::Text(command))) = socket.next().await else { return };
    let command: Value = serde_json::from_str(&command).expect("JSON");
    let (release, released) = oneshot::channel();
    sender.send(release).expect("the test listens");
    if released.await.is_err() {
        return;
    }
    let version = json!({ "protocolVersion": "1.3", "product": "Chrome/1", "revision": "", "userAgent": "", "jsVersion": "" });
    let reply = json!({ "id": command["id"], "result": version }).to_string();
    let _gone = socket.send(Message::Text(reply.into())).await;
    while let Some(Ok(_)) = socket.next().await {}
}

/// Writes the port file of a browser with this folder, as old as `age`.
fn write_port_file(folder: &Path, port: u16, id: &str, age: Duration) {
    fs::create_dir_all(folder).expect("a profile");
    let path = folder.join("DevToolsActivePort");
    fs::write(&path, format!("{port}\n/devtools/browser/{id}")).expect("written");
    let file = fs::File::options().write(true).open(&path).expect("it");
    file.set_modified(SystemTime::now() - age).expect("its time");
}

#[tokio::test]
async fn a_late_answer_to_an_allowed_connection_is_awaited() {
    let home = tempfile::tempdir().expect("a folder");
    let mut server = PromptingServer::start().await;
    let profile = home.path().join("profile");
    write_port_file(&profile, server.port, "a", Duration::ZERO);
    let browser = Browser::new(
        BrowserEnvironment::bare(HostSystem::Linux, home.path()),
        BrowserTarget::Folder(profile),
    );
    let connect = || {
        let browser = browser.clone();
        tokio::spawn(async move { browser.connect().await })
    };
    let attempt = connect();
    let connection = server.connections.recv().await.expect("its first command");
    assert!(matches!(*browser.state().borrow(), AttachmentState::WaitingForAllow { .. }));
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3_600)).await;
    tokio::time::resume();
    connection.send(()).expect("it waits");
    let connection = attempt.await.expect("the task ends").expect("connected");
    assert!(matches!(
        *browser.state().borrow(),
        AttachmentState::Connected { mode: AccessMode::Approval, .. }
    ));
    browser.disconnect();
    drop(connection);
    // A caller that does not want to wait gives up.
    let attempt = connect();
    let _unanswered = server.connections.recv().await.expect("its first command");
    browser.cancel();
    assert_eq!(attempt.await.expect("the task ends").map(drop), Err(ConnectError::Cancelled));
}

#[tokio::test]
async fn the_newer_of_two_port_files_wins() {
    let home = tempfile::tempdir().expect("a folder");
    let server = PromptingServer::start().await;
    let config = home.path().join(".config");
    for (chrome, chromium, expected) in [(3_600, 60, "of-chromium"), (60, 3_600, "of-chrome")] {
        write_port_file(&config.join("google-chrome"), server.port, "of-chrome", Duration::from_secs(chrome));
        write_port_file(&config.join("chromium"), server.port, "of-chromium", Duration::from_secs(chromium));
        let found = find(&BrowserEnvironment::bare(HostSystem::Linux, home.path()), None).await;
        let at_port: Vec<_> = found.iter().filter(|found| found.port == server.port).collect();
        let [found] = at_port.as_slice() else { panic!("asked once: {found:?}") };
        let Probe::Approval { socket } = &found.probe else { panic!("{found:?}") };
        assert!(socket.ends_with(&format!("/devtools/browser/{expected}")), "{socket}");
        let folder = if expected == "of-chromium" { "chromium" } else { "google-chrome" };
        assert_eq!(found.candidate.folder, config.join(folder));
    }
}
