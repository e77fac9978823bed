//! All destinations of a command's output.

use super::{
    LogFile, MODEL_OUTPUT_BYTES, VIEW_OUTPUT_BYTES,
    excerpt::Excerpt,
    live::LiveStream,
    screen::{Row, RowEnd, Screen},
};
use crate::LiveSink;
use std::{path::PathBuf, time::Instant};

/// The output of a command so far.
pub(crate) struct Transcript {
    screen: Screen,
    model: Excerpt,
    view: Excerpt,
    log: LogFile,
    live: LiveStream,
    last_output: Instant,
    /// The last line that is not empty.
    last_line: String,
}

/// The output since the last report.
#[derive(Debug)]
pub(crate) struct Excerpts {
    /// For the model.
    pub model: String,
    /// For the person.
    pub view: String,
    /// Whether `model` leaves part of it out.
    pub truncated: bool,
    /// The number of cleaned bytes.
    pub bytes: u64,
    /// The file with the whole output.
    pub log: Option<PathBuf>,
}

/// Whether a command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandStage {
    /// The command has ended.
    Ended,
    /// The command is running.
    Running,
}

impl Transcript {
    pub(crate) fn new(log: LogFile) -> Self {
        Self {
            screen: Screen::default(),
            model: Excerpt::new(MODEL_OUTPUT_BYTES),
            view: Excerpt::new(VIEW_OUTPUT_BYTES),
            log,
            live: LiveStream::default(),
            last_output: Instant::now(),
            last_line: String::new(),
        }
    }

    /// Adds output of the program.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.last_output = Instant::now();
        let Self { screen, model, view, log, live, last_line, .. } = self;
        screen.feed(bytes, |row, styled_from| {
            add(model, view, log, &row);
            remember(last_line, &row);
            live.row(&row, styled_from);
        });
    }

    /// Returns the time of the last output.
    pub(crate) fn last_output(&self) -> Instant {
        self.last_output
    }

    /// Returns the line in progress.
    pub(crate) fn partial(&self) -> String {
        self.screen.partial().plain
    }

    /// Returns the last line that is not empty; for a line in progress its present text, once the end was
    /// reported.
    pub(crate) fn last_line(&self) -> String {
        self.last_line.clone()
    }

    /// Returns the file with the whole output, and creates it if necessary.
    pub(crate) fn log(&mut self) -> Option<PathBuf> {
        self.log.file()
    }

    /// Sets the listener for live output from now on.
    pub(crate) fn watch(&mut self, live: Option<LiveSink>) {
        self.live.watch(live);
    }

    /// Returns the text that is due for the listener.
    pub(crate) fn take_live(&mut self) -> Option<(LiveSink, String)> {
        self.live.take(&self.screen)
    }

    /// Returns the output since the last report. The line in progress is included, and appears again in the
    /// next report with its additions.
    pub(crate) fn report(&mut self, stage: CommandStage) -> Excerpts {
        if stage == CommandStage::Ended {
            let row = self.screen.take_partial();
            add(&mut self.model, &mut self.view, &mut self.log, &row);
            remember(&mut self.last_line, &row);
            self.log.finish();
        }
        let mut model = std::mem::replace(&mut self.model, Excerpt::new(MODEL_OUTPUT_BYTES));
        let mut view = std::mem::replace(&mut self.view, Excerpt::new(VIEW_OUTPUT_BYTES));
        if stage == CommandStage::Running {
            let row = self.screen.partial();
            model.push(&row.plain);
            view.push(&row.styled);
        }
        let file = if stage == CommandStage::Running { self.log.file() } else { self.log.existing_file() };
        let location =
            file.as_ref().map(|path| format!("; all of it is in {}", path.display())).unwrap_or_default();
        let shown = model.show(|left_out| format!("[… {left_out} bytes left out{location} …]"));
        let card = view.show(|left_out| format!("[… {left_out} bytes left out …]"));
        Excerpts { bytes: model.total(), truncated: shown.cut, model: shown.text, view: card.text, log: file }
    }
}

fn remember(last_line: &mut String, row: &Row) {
    if !row.plain.trim().is_empty() {
        last_line.clone_from(&row.plain);
    }
}

fn add(model: &mut Excerpt, view: &mut Excerpt, log: &mut LogFile, row: &Row) {
    let end = if row.end == RowEnd::Line { "\n" } else { "" };
    for (text, excerpt) in [(&row.plain, model), (&row.styled, view)] {
        excerpt.push(text);
        excerpt.push(end);
    }
    log.write(&row.plain);
    log.write(end);
}
