//! A small real HTTP server that answers `GET` by path: the endpoints of a model server other than its streams.

use parking_lot::Mutex;
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// A server on a loopback port chosen by the system. It ends with the test's process.
pub struct PageServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<PageRequest>>>,
}

/// A request the server received.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// The path, its query included.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: HashMap<String, String>,
}

impl PageServer {
    /// Starts a server with a JSON body for each path. Any other path is a 404; a path with an empty body
    /// redirects to itself.
    pub fn start(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let requests: Arc<Mutex<Vec<PageRequest>>> = Arc::default();
        let pages: HashMap<String, String> =
            pages.iter().map(|(path, body)| ((*path).to_owned(), (*body).to_owned())).collect();
        let server = Self { address, requests: requests.clone() };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, requests) = (pages.clone(), requests.clone());
                thread::spawn(move || answer(stream, &pages, &requests));
            }
        });
        server
    }

    /// Returns the address, `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests received so far.
    pub fn requests(&self) -> Vec<PageRequest> {
        self.requests.lock().clone()
    }
}

/// Answers one request and closes the connection. A client that disconnects does not fail the test.
fn answer(stream: TcpStream, pages: &HashMap<String, String>, requests: &Mutex<Vec<PageRequest>>) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let Some(path) = lines.next().and_then(|line| line.split(' ').nth(1).map(str::to_owned)) else { return };
    let headers = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        })
        .collect();
    requests.lock().push(PageRequest { path: path.clone(), headers });
    let route = path.split('?').next().unwrap_or_default();
    let head = match pages.get(route) {
        Some(body) if body.is_empty() => {
            format!("302 Found\r\nlocation: {path}\r\ncontent-length: 0\r\n\r\n")
        }
        Some(body) => {
            format!(
                "200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
        }
        None => "404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
    };
    let _ = (&stream)
        .write_all(format!("HTTP/1.1 {}", head.replacen("\r\n", "\r\nconnection: close\r\n", 1)).as_bytes());
}
