//! A proxy between Octo and a browser: it passes everything on, records Octo's commands, and answers some of
//! them in place of the browser, or not at all.

use super::*;
use std::{io::Read, sync::MutexGuard};

/// The fate of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandFate {
    /// It is passed to the browser.
    On,
    /// It fails, as with a browser that does not support it.
    Refused,
    /// It is never answered, as by a page that is not painted.
    Lost,
}

/// Decides by the command's name.
type FateRule = Arc<dyn Fn(&str) -> CommandFate + Send + Sync>;

/// A separate port to a browser.
pub struct BrowserProxy {
    profile: tempfile::TempDir,
    said: Arc<Mutex<Vec<String>>>,
}

impl BrowserProxy {
    pub fn start(browser: &Chromium, rule: impl Fn(&str) -> CommandFate + Send + Sync + 'static) -> Self {
        let (port, path) = browser.debugging_port();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let own_port = listener.local_addr().expect("its address").port();
        let profile = tempfile::tempdir().expect("a profile");
        std::fs::write(profile.path().join("DevToolsActivePort"), format!("{own_port}\n{path}"))
            .expect("written");
        let (commands, rule): (Arc<Mutex<Vec<String>>>, FateRule) = (Arc::default(), Arc::new(rule));
        let recorded = commands.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (commands, rule) = (recorded.clone(), rule.clone());
                thread::spawn(move || pass(&stream, port, &commands, &rule));
            }
        });
        Self { profile, said: commands }
    }

    pub async fn chosen_by(&self, rig: &Rig) {
        let choice = BrowserChoice::Folder { path: self.profile.path().display().to_string() };
        rig.octo.call(ChooseBrowser { choice }).await.expect("the browser is chosen");
    }

    /// Returns the commands sent so far, in order.
    pub fn recorded_commands(&self) -> Vec<String> {
        list(&self.said).clone()
    }

    /// Returns the number of times a command was sent so far.
    pub fn times_sent(&self, name: &str) -> usize {
        list(&self.said).iter().filter(|command| *command == name).count()
    }
}

fn list(commands: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    commands.lock().expect("the list")
}

/// Forwards one connection until it closes.
fn pass(from: &TcpStream, port: u16, commands: &Mutex<Vec<String>>, rule: &FateRule) -> Option<()> {
    let to = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let head = head_of(from)?;
    (&to).write_all(&head).ok()?;
    if !String::from_utf8_lossy(&head).to_ascii_lowercase().contains("upgrade: websocket") {
        let _over = std::io::copy(&mut &to, &mut &*from);
        return None;
    }
    (&*from).write_all(&head_of(&to)?).ok()?;
    let answers = Arc::new(Mutex::new(from.try_clone().ok()?));
    let (back, browser) = (answers.clone(), to.try_clone().ok()?);
    thread::spawn(move || {
        while let Some((frame, _)) = frame(&browser) {
            if back.lock().expect("the way back").write_all(&frame).is_err() {
                break;
            }
        }
        let _over = back.lock().expect("the way back").shutdown(std::net::Shutdown::Both);
    });
    while let Some((frame, text)) = frame(from) {
        let command: Value = serde_json::from_slice(&text).unwrap_or_default();
        let name = command["method"].as_str().unwrap_or_default();
        list(commands).push(name.to_owned());
        match rule(name) {
            CommandFate::On => (&to).write_all(&frame).ok()?,
            CommandFate::Lost => {}
            CommandFate::Refused => {
                let mut answer =
                    json!({ "id": command["id"], "error": { "code": -32_000, "message": "Not here" } });
                if let Some(session) = command.get("sessionId") {
                    answer["sessionId"] = session.clone();
                }
                let answer = answer.to_string();
                let mut frame = vec![0x81];
                match u8::try_from(answer.len()) {
                    Ok(length) if length < 126 => frame.push(length),
                    _ => {
                        frame.push(126);
                        frame.extend(u16::try_from(answer.len()).expect("a short answer").to_be_bytes());
                    }
                }
                frame.extend(answer.bytes());
                answers.lock().expect("the way back").write_all(&frame).ok()?;
            }
        }
    }
    let _over = to.shutdown(std::net::Shutdown::Both);
    None
}

/// Returns the head of a request or response, including its empty line.
fn head_of(mut stream: &TcpStream) -> Option<Vec<u8>> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(head)
}

/// Returns the next websocket frame, raw, and its payload.
fn frame(mut stream: &TcpStream) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut frame = vec![0; 2];
    stream.read_exact(&mut frame).ok()?;
    let (is_masked, short) = (frame[1] & 0x80 != 0, frame[1] & 0x7f);
    let mut more = |frame: &mut Vec<u8>, count: usize| {
        let from = frame.len();
        frame.resize(from + count, 0);
        stream.read_exact(&mut frame[from..]).ok()
    };
    let length = match short {
        126 => {
            more(&mut frame, 2)?;
            usize::from(u16::from_be_bytes(frame[2..4].try_into().ok()?))
        }
        127 => {
            more(&mut frame, 8)?;
            usize::try_from(u64::from_be_bytes(frame[2..10].try_into().ok()?)).ok()?
        }
        short => usize::from(short),
    };
    if is_masked {
        more(&mut frame, 4)?;
    }
    let start = frame.len();
    more(&mut frame, length)?;
    let mut text = frame[start..].to_vec();
    if is_masked {
        let mask = frame[start - 4..start].to_vec();
        text.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    }
    Some((frame, text))
}
