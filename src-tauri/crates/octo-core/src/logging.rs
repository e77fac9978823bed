//! Logs and crash reports in the home, for diagnosis. Nothing is ever sent.
//!
//! One JSON object per line, rotated daily, the newest seven files kept. Secrets have types that print as
//! `[redacted]`, and no message or file content is logged.

use std::{
    backtrace::Backtrace,
    fs,
    io::Write,
    panic,
    path::{Path, PathBuf},
};
use tracing_appender::{non_blocking::WorkerGuard, rolling};
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// How many daily files are kept.
const KEPT: usize = 7;

/// Starts logging into `<home>/logs`; dropping the guard writes out the buffer. If the home is not writable the
/// process runs without logs. `OCTO_LOG` sets the filter.
pub fn start(home: &Path) -> Option<WorkerGuard> {
    // Also creates the home itself, closed to others, if this is its first use.
    let folder = octo_workspace::private_folder(&home.join("logs")).ok()?;
    let file = rolling::Builder::new()
        .rotation(rolling::Rotation::DAILY)
        .filename_prefix("octo")
        .filename_suffix("log")
        .max_log_files(KEPT)
        .build(&folder)
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let filter = EnvFilter::try_from_env("OCTO_LOG").unwrap_or_else(|_| EnvFilter::new("info,hyper=warn"));
    let layer = fmt::layer().json().with_span_list(true).with_writer(writer);
    tracing_subscriber::registry().with(filter).with(layer).try_init().ok()?;
    report_panics(folder);
    Some(guard)
}

/// Writes a readable report of every panic next to the logs.
fn report_panics(folder: PathBuf) {
    let previous_hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let time = jiff::Zoned::now();
        let name = format!("panic-{}-{}.txt", time.strftime("%Y-%m-%d-%H%M%S"), std::process::id());
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        let report = format!(
            "Octo {} met a fault it did not expect.\nTime: {time}\nPlace: {location}\nThread: {}\n\n{info}\n\n{}\n",
            env!("CARGO_PKG_VERSION"),
            std::thread::current().name().unwrap_or("unnamed"),
            Backtrace::force_capture(),
        );
        if let Ok(mut file) = fs::File::create(folder.join(name)) {
            // The process is already failing: an unwritable report must not make it worse.
            let _unwritten = file.write_all(report.as_bytes());
        }
        tracing::error!(%location, "panic");
        previous_hook(info);
    }));
}
