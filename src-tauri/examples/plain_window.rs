//! A window with some lines of text and nothing else: a minimal Tauri application. `cargo xtask bench` starts
//! it next to Octo to separate the toolkit's cost from Octo's.

use tauri::{WebviewUrl, WebviewWindowBuilder, http::Response};

/// As much text as the middle of Octo's window shows.
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Plain</title>\
    <style>body{font:16px sans-serif;margin:0;padding:40px;text-align:center}</style>\
    <body><script>document.body.innerHTML='<p>A window with some lines of text.</p>'.repeat(20)</script>";

fn main() -> tauri::Result<()> {
    tauri::Builder::default()
        .register_uri_scheme_protocol("plain", |_, _| {
            let mut page = Response::new(PAGE.as_bytes().to_vec());
            page.headers_mut().insert("content-type", tauri::http::HeaderValue::from_static("text/html"));
            page
        })
        .setup(|app| {
            let page = WebviewUrl::CustomProtocol("plain://localhost/".parse()?);
            let window = WebviewWindowBuilder::new(app, "plain", page).title("Plain");
            window.inner_size(1180.0, 780.0).center().build()?;
            Ok(())
        })
        .run(tauri::generate_context!())
}
