//! The `browser` tool: the person's own browser, in which they can watch.

use crate::{
    BrowserAction, BrowserPermission, BrowserRequest, DialogAnswer, Effects, ElementNumbers, PageInteraction,
    PageLines, RequestedScroll, RequestedWait, Tool, ToolContext, ToolError, ToolOutput,
};
use octo_protocol::ToolView;
use octo_workspace::resolve;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Default scroll distance, in pixels: most of a window's height.
const DEFAULT_SCROLL: f64 = 600.0;
/// Maximum wait for no specific condition, in milliseconds.
const MAX_WAIT: u64 = 10_000;
/// Default wait, in milliseconds.
const DEFAULT_WAIT: u64 = 1_000;

pub(crate) struct BrowserTool;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct BrowserInput {
    action: Action,
    /// For act; default click.
    kind: Option<Kind>,
    /// Element number.
    #[serde(rename = "ref")]
    #[schemars(range(min = 1))]
    target: Option<u32>,
    /// To type, find, wait for or scroll to; for a prompt; a script. Snapshot: targets or screen, only those.
    text: Option<String>,
    url: Option<String>,
    /// Default: the one in use.
    #[schemars(range(min = 1))]
    tab: Option<u32>,
    /// Where drag ends.
    #[schemars(range(min = 1))]
    to_ref: Option<u32>,
    /// Such as Enter, Control+A.
    key: Option<String>,
    /// Pixels: click_at, scroll.
    x: Option<f64>,
    y: Option<f64>,
    /// To select; paths to upload.
    values: Option<Vec<String>>,
    /// Part of a long snapshot or read, from 1.
    #[schemars(range(min = 1))]
    page: Option<u32>,
    /// For dialog.
    accept: Option<bool>,
    /// For wait.
    #[schemars(range(min = 0))]
    ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Status,
    Tabs,
    Open,
    Navigate,
    Back,
    Focus,
    Close,
    Snapshot,
    Find,
    Read,
    Act,
    Screenshot,
    ScreenshotRefs,
    Dialog,
    Download,
    Evaluate,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    #[default]
    Click,
    Dblclick,
    Type,
    Fill,
    Press,
    Hover,
    Drag,
    Select,
    Scroll,
    Wait,
    ClickAt,
    Upload,
}

impl Tool for BrowserTool {
    const NAME: &'static str = "browser";
    const DESCRIPTION: &'static str = "The person's own visible browser, with their logins; to just read a public page use web_fetch. snapshot gives numbered elements, act uses a number (ref); each reply shows what changed. New sites, and acts that pay, send or delete, are asked of the person.";
    type Input = BrowserInput;

    fn effects(&self, input: &BrowserInput, cwd: &Path) -> Effects {
        match input.to_request(cwd) {
            // Certain to fail before anything happens: the run reports why.
            Err(_) => Effects::none(),
            Ok(request) => {
                let reads = match &request.action {
                    BrowserAction::Page(PageInteraction::Upload(_, files)) => files.clone(),
                    _ => Vec::new(),
                };
                Effects { reads, ..Effects::in_browser(request) }
            }
        }
    }

    async fn preview(&self, input: &BrowserInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let request = input.to_request(&context.cwd)?;
        context.browser.preview(&request).await.map(ToolView::Browser)
    }

    async fn run(&self, input: BrowserInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let request = input.to_request(&context.cwd)?;
        // Only now: until the person has approved, the model must not learn whether a file exists.
        if let BrowserAction::Page(PageInteraction::Upload(_, files)) = &request.action
            && let Some(missing) = files.iter().find(|path| !path.is_file())
        {
            return Err(ToolError::new(format!("{} is no file. Nothing was uploaded.", missing.display())));
        }
        let permission = context.browser_permission.unwrap_or_else(BrowserPermission::none);
        context.browser.execute(request, permission, context.call, context.cancel).await
    }
}

impl BrowserInput {
    /// Converts the input to a browser request. Errors say which value is missing and how to get it.
    fn to_request(&self, cwd: &Path) -> Result<BrowserRequest, ToolError> {
        let action = match self.action {
            Action::Status => BrowserAction::Status,
            Action::Tabs => BrowserAction::Tabs,
            Action::Open => BrowserAction::Open { url: self.url()? },
            Action::Navigate => BrowserAction::Navigate { url: self.url()? },
            Action::Back => BrowserAction::Back,
            Action::Focus | Action::Close => {
                let verb = if self.action == Action::Focus { "focus" } else { "close" };
                if self.tab.is_none() {
                    return Err(ToolError::new(format!(
                        "{verb} needs tab: its number, from action tabs. Nothing was done."
                    )));
                }
                if self.action == Action::Focus { BrowserAction::Focus } else { BrowserAction::Close }
            }
            Action::Snapshot => BrowserAction::Snapshot { lines: self.lines()?, part: self.part() },
            Action::Find => {
                BrowserAction::Find { text: self.text_for("find", "text: the words to look for")? }
            }
            Action::Read => BrowserAction::Read { target: self.target, part: self.part() },
            Action::Screenshot => {
                BrowserAction::Screenshot { target: self.target, numbered: ElementNumbers::No }
            }
            Action::ScreenshotRefs => {
                BrowserAction::Screenshot { target: self.target, numbered: ElementNumbers::Yes }
            }
            Action::Act => BrowserAction::Page(self.act(cwd)?),
            Action::Dialog => BrowserAction::Dialog(self.answer()?),
            Action::Download => BrowserAction::Download { target: self.element("download")? },
            Action::Evaluate => {
                BrowserAction::Evaluate { script: self.text_for("evaluate", "text: the script to run")? }
            }
        };
        Ok(BrowserRequest { tab: self.tab, action })
    }

    fn act(&self, cwd: &Path) -> Result<PageInteraction, ToolError> {
        Ok(match self.kind.unwrap_or_default() {
            Kind::Click if self.target.is_none() && self.x.is_some() => self.click_at()?,
            Kind::Click => PageInteraction::Click(self.element("click")?),
            Kind::Dblclick => PageInteraction::DoubleClick(self.element("dblclick")?),
            Kind::Type => {
                PageInteraction::Type(self.element("type")?, self.text_for("type", "text: what to type")?)
            }
            // An empty text clears the field.
            Kind::Fill => PageInteraction::Fill(self.element("fill")?, self.text.clone().unwrap_or_default()),
            Kind::Press => {
                let key = self.key.as_deref().or(self.text.as_deref()).map(str::trim).unwrap_or_default();
                if key.is_empty() {
                    return Err(missing_value("press", "key: such as Enter, Tab, Control+A"));
                }
                PageInteraction::Press(self.target, key.to_owned())
            }
            Kind::Hover => PageInteraction::Hover(self.element("hover")?),
            Kind::Drag => {
                let target =
                    self.to_ref.ok_or_else(|| missing_value("drag", "to_ref: the element to drop it on"))?;
                PageInteraction::Drag(self.element("drag")?, target)
            }
            Kind::Select => {
                let values = match (&self.values, &self.text) {
                    (Some(values), _) if !values.is_empty() => values.clone(),
                    (_, Some(text)) if !text.is_empty() => vec![text.clone()],
                    _ => return Err(missing_value("select", "values: the names of the options")),
                };
                PageInteraction::Select(self.element("select")?, values)
            }
            Kind::Scroll => PageInteraction::Scroll(self.scroll()),
            Kind::Wait => PageInteraction::Wait(match &self.text {
                Some(text) if !text.trim().is_empty() => RequestedWait::Text(text.clone()),
                _ => RequestedWait::Time(self.ms.unwrap_or(DEFAULT_WAIT).min(MAX_WAIT)),
            }),
            Kind::ClickAt => self.click_at()?,
            Kind::Upload => PageInteraction::Upload(self.element("upload")?, self.files(cwd)?),
        })
    }

    fn click_at(&self) -> Result<PageInteraction, ToolError> {
        match (self.x, self.y) {
            (Some(x), Some(y)) if x.is_finite() && y.is_finite() && x >= 0.0 && y >= 0.0 => {
                Ok(PageInteraction::ClickAt(x, y))
            }
            _ => Err(missing_value("click_at", "x and y: pixels from the top left of a screenshot")),
        }
    }

    fn scroll(&self) -> RequestedScroll {
        if let Some(target) = self.target {
            return RequestedScroll::To(target);
        }
        let direction = self.text.as_deref().map(str::trim).unwrap_or_default();
        let scroll_by = |x: f64, y: f64| RequestedScroll::By(self.x.unwrap_or(x), self.y.unwrap_or(y));
        match direction.to_ascii_lowercase().as_str() {
            "" if self.x.is_some() && self.y.is_none() => scroll_by(0.0, 0.0),
            "" | "down" => scroll_by(0.0, DEFAULT_SCROLL),
            "up" => scroll_by(0.0, -DEFAULT_SCROLL),
            "right" => scroll_by(DEFAULT_SCROLL, 0.0),
            "left" => scroll_by(-DEFAULT_SCROLL, 0.0),
            _ => RequestedScroll::ToText(direction.to_owned()),
        }
    }

    fn files(&self, cwd: &Path) -> Result<Vec<PathBuf>, ToolError> {
        let files = self.values.iter().flatten().filter(|path| !path.trim().is_empty());
        let files = files.map(|path| resolve(path, cwd)).collect::<Result<Vec<_>, _>>()?;
        if files.is_empty() {
            Err(missing_value("upload", "values: the paths of the files"))
        } else {
            Ok(files)
        }
    }

    fn answer(&self) -> Result<DialogAnswer, ToolError> {
        match self.accept {
            Some(true) => Ok(DialogAnswer::Accept(self.text.clone())),
            Some(false) => Ok(DialogAnswer::Dismiss),
            None => {
                Err(missing_value("dialog", "accept: true for OK (with text for a prompt), false for Cancel"))
            }
        }
    }

    fn url(&self) -> Result<String, ToolError> {
        let url = self.url.as_deref().map(str::trim).unwrap_or_default();
        match url {
            "" => Err(missing_value("open or navigate", "url: a whole address, with https://")),
            // A common short form. The prefix decides nothing: the address is checked when it is opened.
            url if !url.contains(':') => Ok(format!("https://{url}")),
            url => Ok(url.to_owned()),
        }
    }

    fn element(&self, action: &str) -> Result<u32, ToolError> {
        self.target.ok_or_else(|| missing_value(action, "ref: an element's number, from action snapshot"))
    }

    fn text_for(&self, action: &str, description: &str) -> Result<String, ToolError> {
        self.text.clone().filter(|text| !text.is_empty()).ok_or_else(|| missing_value(action, description))
    }

    fn lines(&self) -> Result<PageLines, ToolError> {
        let choice = self.text.as_deref().map(str::trim).unwrap_or_default();
        match choice.to_ascii_lowercase().as_str() {
            "" | "all" => Ok(PageLines::All),
            "targets" => Ok(PageLines::Targets),
            "screen" => Ok(PageLines::OnScreen),
            _ => Err(ToolError::new(
                "text of a snapshot is targets or screen: only what can be acted on, or only what shows now. To look for words use action find. Nothing was done.",
            )),
        }
    }

    fn part(&self) -> u32 {
        self.page.unwrap_or(1).max(1)
    }
}

fn missing_value(action: &str, description: &str) -> ToolError {
    ToolError::new(format!("{action} needs {description}. Nothing was done."))
}

#[cfg(test)]
mod tests;
